// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/runexecution.h"

#include "core/model/metrics.h"
#include "core/model/plan.h"
#include "core/model/plural.h"
#include "core/run/agentcalls.h"
#include "core/run/hostchecks.h"

#include <QThread>

namespace knobscope {

namespace {
constexpr int kMeasured = -1;
constexpr int kReconnectTries = 3;
constexpr std::chrono::seconds kGuardianSlack{3};

Error cancelledError() {
    return {Error::Code::Cancelled, QStringLiteral("Stopped by the user")};
}

/// Errors after which the host must be reached anew before anything else can be measured.
bool needsReconnect(const Error& error) {
    return error.code == Error::Code::LinkLost || error.code == Error::Code::Timeout ||
           error.code == Error::Code::Protocol;
}

/// "host1 and host2", "host1, host2 and host3": every host once.
QString allLabels(const Experiment& experiment) {
    QStringList labels;
    for (const HostRef host : experiment.hostRefs())
        labels.append(experiment.host(host).label());
    labels.removeDuplicates();
    const QString last = labels.takeLast();
    return labels.isEmpty() ? last
                            : labels.join(QStringLiteral(", ")) + QStringLiteral(" and ") + last;
}

/// Errors that another attempt cannot mend.
bool isFinal(const Error& error) {
    return error.code == Error::Code::Knob || error.code == Error::Code::BadInput;
}
} // namespace

RunExecution::RunExecution(RunController& controller, const HostOptions& options,
                           const CancelToken& cancel, RunStore& store, StoredRun run,
                           const QList<RefusedValue>& refused)
    : m_controller(controller), m_options(options), m_cancel(cancel), m_store(store),
      m_run(std::move(run)), m_mainMetric(mainMetric(m_run.experiment.test.kind)),
      m_refused(refusedCells(m_run.experiment, m_run.cells, refused)) {
    for (const SampleRecord& sample : m_run.samples) {
        int& tries = m_tries[{sample.block, sample.cell}];
        if (sample.measured()) {
            tries = kMeasured;
            ++m_done;
            if (const auto value = sample.metric(m_mainMetric))
                m_values[sample.cell].append(*value);
        } else if (tries != kMeasured) {
            tries = std::max(tries, sample.attempt + 1);
        }
        m_order = std::max(m_order, sample.order + 1);
    }
    m_clock.start();
}

RunOutcome RunExecution::run() {
    Result<void> done = connectHosts();
    if (done)
        done = storeFacts();
    if (done) {
        emit m_controller.runStarted(m_run.info.id, static_cast<int>(m_run.cells.size()));
        reportProgress();
        done = measureAll();
    }
    if (m_hosts)
        restoreKnobs();
    return conclude(done);
}

Result<void> RunExecution::connectHosts() {
    const Experiment& experiment = m_run.experiment;
    emit m_controller.phaseChanged(QStringLiteral("Connecting to ") + allLabels(experiment));
    HostOptions options = m_options;
    options.run = QStringLiteral("%1 (run %2)").arg(experiment.name).arg(m_run.info.id);
    auto hosts = HostGroup::open(experiment, options, m_cancel);
    if (!hosts)
        return tl::unexpected<Error>(hosts.error());
    m_hosts.emplace(std::move(*hosts));
    noteRecovered();
    watchIntervals();
    // After lost contact the old agent's guardian still has the host until its lease is over.
    return m_hosts->claim(m_options.lease + kGuardianSlack, m_cancel);
}

Result<void> RunExecution::reconnectHosts() {
    restoreKnobs();
    m_hosts.reset();
    Error last;
    for (int i = 0; i < kReconnectTries; ++i) {
        if (m_cancel.cancelled())
            return tl::unexpected<Error>(cancelledError());
        const auto connected = connectHosts();
        if (connected) {
            m_unverified.clear();
            return {};
        }
        if (connected.error().code == Error::Code::Cancelled)
            return connected;
        last = connected.error();
        emit m_controller.logged(QStringLiteral("Not reachable again yet: %1").arg(last.text()));
        if (!pause(1))
            return tl::unexpected<Error>(cancelledError());
    }
    return tl::unexpected<Error>(last);
}

Result<void> RunExecution::storeFacts() {
    std::vector<std::pair<HostRef, Pending<protocol::Environment>>> pending;
    for (const HostRef host : m_hosts->hosts())
        pending.emplace_back(host, agentcalls::environment(m_hosts->at(host),
                                                           m_run.experiment.host(host).interface));
    for (auto& [host, answer] : pending) {
        const auto facts = answer.get();
        if (!facts)
            return fail(facts.error().code,
                        m_hosts->at(host).label() + QStringLiteral(": ") + facts.error().message,
                        facts.error().detail);
        (void)guardConnection(m_hosts->at(host), m_run.experiment, host, *facts);
        HostFacts stored{host, m_hosts->at(host).label(), {}};
        for (const auto& [name, value] : facts->facts)
            stored.facts.insert(QString::fromStdString(name), QString::fromStdString(value));
        if (auto added = m_store.addHostFacts(m_run.info.id, stored); !added)
            return added;
    }
    return {};
}

Result<void> RunExecution::measureAll() {
    const PlanSpec& plan = m_run.experiment.plan;
    for (int block = 0; block < plan.repeatsMax; ++block) {
        if (auto measured = measureBlock(block); !measured)
            return measured;
    }
    return {};
}

Result<void> RunExecution::measureBlock(int block) {
    const PlanSpec& plan = m_run.experiment.plan;
    const int cells = static_cast<int>(m_run.cells.size());
    // Which cells go on is settled before the block, so that a resumed run agrees.
    QList<int> wanted;
    for (int cell : blockOrder(plan, cells, block)) {
        if (block < plan.repeatsMin || wantsMore(plan, m_values.value(cell)))
            wanted.append(cell);
    }
    for (int cell : wanted) {
        if (m_tries.value({block, cell}) == kMeasured)
            continue;
        if (m_cancel.cancelled())
            return tl::unexpected<Error>(cancelledError());
        if (m_refused.contains(cell)) {
            if (auto noted = noteRefused(m_run.cells.at(cell), block); !noted)
                return noted;
            continue;
        }
        // Between samples only: a run that is stopped after its last lacks nothing.
        if (m_measuring && !pause(plan.pauseSeconds))
            return tl::unexpected<Error>(cancelledError());
        m_measuring = true;
        if (auto measured = measureWithRetries(m_run.cells.at(cell), block); !measured)
            return measured;
    }
    return {};
}

/// Once for each cell is enough to say why there is nothing.
Result<void> RunExecution::noteRefused(const Cell& cell, int block) {
    if (block > 0)
        return {};
    SampleRecord record;
    record.cell = cell.index;
    record.block = block;
    record.attempt = m_tries.value({block, cell.index});
    record.order = m_order++;
    record.state = SampleState::Failed;
    record.reason = m_refused.value(cell.index);
    record.started = record.ended = QDateTime::currentDateTimeUtc();
    const auto stored = m_store.addSample(m_run.info.id, record);
    if (!stored)
        return tl::unexpected<Error>(stored.error());
    record.id = *stored;
    m_tries[{block, cell.index}] = record.attempt + 1;
    m_run.samples.append(record);
    emit m_controller.sampleFinished(record);
    reportProgress();
    return {};
}

/// Success also when the sample failed but the run can go on without it.
Result<void> RunExecution::measureWithRetries(const Cell& cell, int block) {
    const int first = m_tries.value({block, cell.index});
    for (int i = 0; i <= m_run.experiment.plan.retries; ++i) {
        Attempt attempt = attemptOnce(cell, block, first + i);
        if (attempt.error && attempt.error->code == Error::Code::Cancelled)
            return tl::unexpected<Error>(*attempt.error);
        const auto stored = m_store.addSample(m_run.info.id, attempt.record);
        if (!stored)
            return tl::unexpected<Error>(stored.error());
        attempt.record.id = *stored;
        m_run.samples.append(attempt.record);
        if (!attempt.error) {
            m_tries[{block, cell.index}] = kMeasured;
            ++m_done;
            ++m_doneHere;
            if (const auto value = attempt.record.metric(m_mainMetric))
                m_values[cell.index].append(*value);
        } else {
            m_tries[{block, cell.index}] = first + i + 1;
        }
        emit m_controller.sampleFinished(attempt.record);
        reportProgress();
        if (!attempt.error)
            return {};
        if (auto recovered = recover(*attempt.error); !recovered)
            return recovered;
        if (isFinal(*attempt.error))
            return {};
    }
    return {};
}

Attempt RunExecution::attemptOnce(const Cell& cell, int block, int attempt) {
    SampleStart start{cell.index, block, attempt, cellLabel(m_run.experiment, cell), {}};
    SampleRunner::Listener listener;
    bool told = false;
    listener.knobsApplied = [&](const QList<KnobState>& knobs) {
        start.knobs = knobs;
        told = true;
        emit m_controller.sampleStarted(start);
    };
    for (const auto& side : m_live)
        side->begin();
    SampleRunner runner(m_run.experiment, *m_hosts, m_cancel, std::move(listener));
    Attempt result = runner.measure(cell);
    if (!told)
        emit m_controller.sampleStarted(start);
    result.record.block = block;
    result.record.attempt = attempt;
    result.record.order = m_order++;
    return result;
}

/// After a failed attempt: makes sure that all hosts can be used again.
Result<void> RunExecution::recover(const Error& error) {
    emit m_controller.logged(QStringLiteral("Sample failed: %1").arg(error.text()));
    if (!m_hosts->anyLost() && !needsReconnect(error))
        return {};
    return reconnectHosts();
}

void RunExecution::watchIntervals() {
    m_live.clear();
    for (const Side side : {Side::Sender, Side::Receiver}) {
        const auto ends = m_hosts->ends(side);
        const auto live = std::make_shared<LiveSide>(side, ends.size());
        m_live.push_back(live);
        for (std::size_t agent = 0; agent < ends.size(); ++agent) {
            // The handler runs on the session's I/O thread; the controller outlives the session.
            ends[agent]->setNotificationHandler(
                [this, live, agent](const std::string& method, const Json& params) {
                    if (method != protocol::notification::kInterval)
                        return;
                    if (const auto sum = live->add(agent, params.get<protocol::Interval>()))
                        emit m_controller.intervalMeasured(*sum);
                });
        }
    }
}

void RunExecution::reportProgress() {
    RunProgress progress;
    progress.done = m_done;
    progress.planned = std::max(plannedSamples(), m_done);
    progress.elapsedSeconds = static_cast<double>(m_clock.elapsed()) / 1000;
    const TestSpec& test = m_run.experiment.test;
    const double each =
        m_doneHere > 0 ? progress.elapsedSeconds / m_doneHere
                       : test.seconds + test.warmupSeconds + m_run.experiment.plan.pauseSeconds;
    progress.remainingSeconds = each * (progress.planned - progress.done);
    emit m_controller.progressed(progress);
}

int RunExecution::plannedSamples() const {
    const PlanSpec& plan = m_run.experiment.plan;
    int planned = 0;
    for (const Cell& cell : m_run.cells) {
        if (m_refused.contains(cell.index))
            continue;
        const auto values = m_values.value(cell.index);
        planned += wantsMore(plan, values) ? plan.repeatsMax : static_cast<int>(values.size());
    }
    return planned;
}

int RunExecution::missingSamples() const {
    int missing = 0;
    for (const Cell& cell : m_run.cells) {
        const auto n = static_cast<int>(m_values.value(cell.index).size());
        missing += std::max(0, m_run.experiment.plan.repeatsMin - n);
    }
    return missing;
}

bool RunExecution::pause(double seconds) const {
    QElapsedTimer timer;
    timer.start();
    while (static_cast<double>(timer.elapsed()) < seconds * 1000) {
        if (m_cancel.cancelled())
            return false;
        QThread::msleep(10);
    }
    return !m_cancel.cancelled();
}

RunOutcome RunExecution::conclude(const Result<void>& ended) {
    RunOutcome outcome;
    outcome.run = m_run.info.id;
    RunState state = RunState::Finished;
    if (!ended) {
        outcome.message = ended.error().text();
        state = RunState::Failed;
        switch (ended.error().code) {
        case Error::Code::Storage: // measured, but not kept
            outcome.status = ExitStatus::SamplesFailed;
            break;
        case Error::Code::Cancelled:
            outcome.status = ExitStatus::Cancelled;
            state = RunState::Cancelled;
            break;
        case Error::Code::BadInput:
            outcome.status = ExitStatus::BadInput;
            break;
        default:
            outcome.status = ExitStatus::HostUnusable;
        }
    } else if (const int missing = missingSamples(); missing > 0) {
        outcome.status = ExitStatus::SamplesFailed;
        outcome.message = QStringLiteral("%1 could not be measured")
                              .arg(counted(missing, QStringLiteral("sample")));
        state = RunState::Failed;
    }
    // What was resumed for its last word only has all its samples, whatever became of the hosts.
    if (!ended && missingSamples() == 0 && plannedSamples() <= m_done)
        state = RunState::Finished;
    for (const QString& host : m_unverified)
        outcome.message += QStringLiteral("; ") + host;
    outcome.notRestored = m_notRestored;
    if (!m_notRestored.isEmpty()) {
        outcome.status = ExitStatus::KnobNotRestored;
        outcome.message += (outcome.message.isEmpty() ? QString() : QStringLiteral("; ")) +
                           QStringLiteral("%1 could not be put back")
                               .arg(counted(m_notRestored.size(), QStringLiteral("knob")));
    }
    if (const auto stored = m_store.setRunState(m_run.info.id, state, outcome.message); !stored) {
        outcome.message = stored.error().text();
        if (outcome.status == ExitStatus::AllWell)
            outcome.status = ExitStatus::SamplesFailed;
    }
    emit m_controller.finished(outcome);
    return outcome;
}

} // namespace knobscope
