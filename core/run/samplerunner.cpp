// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/samplerunner.h"

#include "core/run/agentcalls.h"
#include "core/run/traffic.h"
#include "core/run/trafficsetup.h"

namespace knobscope {

namespace {

tl::unexpected<Error> failAt(const HostSession& host, Error error) {
    error.message = QStringLiteral("%1: %2").arg(host.label(), error.message);
    return tl::unexpected<Error>(std::move(error));
}

std::optional<QString> optionalText(const std::optional<std::string>& text) {
    return text ? std::optional<QString>(QString::fromStdString(*text)) : std::nullopt;
}

KnobState knobState(HostRef host, const protocol::KnobOutcome& outcome) {
    return KnobState{host,
                     QString::fromStdString(outcome.name),
                     QString::fromStdString(outcome.requested),
                     optionalText(outcome.accepted),
                     optionalText(outcome.original),
                     QString::fromStdString(outcome.status),
                     QString::fromStdString(outcome.error)};
}

/// Notes the outcome on the record. A rejected knob ends the sample: it would be measured with
/// another setting than it says.
Result<void> noteOutcome(SampleRecord& record, const HostSession& host, const KnobState& state,
                         const QString& note) {
    record.knobs.append(state);
    if (!note.isEmpty())
        record.flags.append(
            QStringLiteral("%1: %2: %3").arg(hostName(state.host), state.knob, note));
    if (state.status == QLatin1String("rejected") || !state.accepted)
        return fail(Error::Code::Knob,
                    QStringLiteral("%1: %2 does not take %3")
                        .arg(host.label(), state.knob, state.requested),
                    state.error);
    if (state.status == QLatin1String("adjusted"))
        record.flags.append(
            QStringLiteral("%1: %2 requested %3, host took %4")
                .arg(hostName(state.host), state.knob, state.requested, *state.accepted));
    return {};
}

/// Flags a knob that no longer is as it was read back before the traffic.
void compareKnob(SampleRecord& record, HostRef host, const protocol::KnobReading& reading) {
    const QString knob = QString::fromStdString(reading.name);
    for (const KnobState& state : std::as_const(record.knobs)) {
        if (state.host != host || state.knob != knob)
            continue;
        const auto now = optionalText(reading.value);
        if (now != state.accepted)
            record.flags.append(
                QStringLiteral("%1: somebody else changed %2 to %3 during the sample")
                    .arg(hostName(host), knob, now.value_or(QStringLiteral("something unknown"))));
    }
}

} // namespace

SampleRunner::SampleRunner(const Experiment& experiment, HostGroup& hosts,
                           const CancelToken& cancel, Listener listener)
    : m_experiment(experiment), m_hosts(hosts), m_cancel(cancel), m_listener(std::move(listener)) {}

Attempt SampleRunner::measure(const Cell& cell) {
    Attempt attempt;
    SampleRecord& record = attempt.record;
    record.cell = cell.index;
    record.started = QDateTime::currentDateTimeUtc();
    m_result = {};

    Result<void> done = applyKnobs(cell, record);
    if (done)
        done = snapshots(&HostCounters::before);
    if (done)
        done = transfer(cell);
    if (done)
        done = snapshots(&HostCounters::after);
    if (done)
        done = checkKnobs(record);
    record.ended = QDateTime::currentDateTimeUtc();
    if (!done) {
        attempt.error = done.error();
        record.state = SampleState::Failed;
        record.reason = done.error().text();
        return attempt;
    }
    fillSample(record, m_experiment, cell, m_result);
    record.state = record.flags.isEmpty() ? SampleState::Done : SampleState::Flagged;
    return attempt;
}

Result<void> SampleRunner::applyKnobs(const Cell& cell, SampleRecord& record) {
    std::vector<std::pair<HostRef, Pending<std::vector<protocol::KnobOutcome>>>> pending;
    for (const HostRef host : m_hosts.hosts()) {
        const auto settings = knobSettings(m_experiment, cell, host);
        if (!settings.empty())
            pending.emplace_back(host, agentcalls::applyKnobs(m_hosts.at(host), settings));
    }
    Result<void> worst;
    for (auto& [host, answer] : pending) {
        const auto outcomes = answer.get();
        if (!outcomes) {
            if (worst)
                worst = failAt(m_hosts.at(host), outcomes.error());
            continue;
        }
        for (const auto& outcome : *outcomes) {
            const auto noted = noteOutcome(record, m_hosts.at(host), knobState(host, outcome),
                                           QString::fromStdString(outcome.note));
            if (worst)
                worst = noted;
        }
    }
    if (worst && m_listener.knobsApplied)
        m_listener.knobsApplied(record.knobs);
    return worst;
}

/// Whether the knobs stood as they were set until the traffic had ended.
Result<void> SampleRunner::checkKnobs(SampleRecord& record) {
    std::vector<std::pair<HostRef, Pending<std::vector<protocol::KnobReading>>>> pending;
    for (const HostRef host : m_hosts.hosts()) {
        std::vector<protocol::KnobTarget> targets;
        for (const KnobState& state : record.knobs) {
            if (state.host == host)
                targets.push_back({state.knob.toStdString(),
                                   m_experiment.host(host).interface.toStdString(),
                                   knobCommands(m_experiment, state.knob)});
        }
        if (!targets.empty())
            pending.emplace_back(host, agentcalls::readKnobs(m_hosts.at(host), targets));
    }
    Result<void> worst;
    for (auto& [host, answer] : pending) {
        const auto readings = answer.get();
        if (!readings) {
            if (worst)
                worst = failAt(m_hosts.at(host), readings.error());
            continue;
        }
        for (const protocol::KnobReading& reading : *readings)
            compareKnob(record, host, reading);
    }
    return worst;
}

Result<void> SampleRunner::snapshots(protocol::Snapshot HostCounters::*when) {
    std::vector<std::pair<HostRef, Pending<protocol::Snapshot>>> pending;
    for (const HostRef host : m_hosts.hosts())
        pending.emplace_back(
            host, agentcalls::snapshot(m_hosts.at(host), m_experiment.host(host).interface));
    Result<void> worst;
    for (auto& [host, answer] : pending) {
        auto snapshot = answer.get();
        if (snapshot)
            m_result.counters[host].*when = std::move(*snapshot);
        else if (worst)
            worst = failAt(m_hosts.at(host), snapshot.error());
    }
    return worst;
}

Result<void> SampleRunner::transfer(const Cell& cell) {
    auto instances = transferTraffic(m_experiment, cell, m_hosts, m_cancel);
    if (!instances)
        return tl::unexpected<Error>(instances.error());
    m_result.instances = std::move(*instances);
    return {};
}

} // namespace knobscope
