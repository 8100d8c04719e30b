// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/runcontroller.h"

#include "core/model/experimentfile.h"
#include "core/run/runexecution.h"

namespace knobscope {

namespace {
ExitStatus statusOf(const Error& error) {
    switch (error.code) {
    case Error::Code::BadInput:
        return ExitStatus::BadInput;
    case Error::Code::Cancelled:
        return ExitStatus::Cancelled;
    case Error::Code::HostUnusable:
        return ExitStatus::HostUnusable;
    default:
        return ExitStatus::SamplesFailed;
    }
}
} // namespace

RunController::RunController(HostOptions options, QObject* parent)
    : QObject(parent), m_options(std::move(options)) {
    qRegisterMetaType<SampleRecord>();
    qRegisterMetaType<RunProgress>();
    qRegisterMetaType<RunOutcome>();
    qRegisterMetaType<SampleStart>();
    qRegisterMetaType<LiveInterval>();
}

RunController::~RunController() = default;

void RunController::requestStop() {
    m_cancel.cancel();
}

RunOutcome RunController::execute(const Experiment& experiment, RunStore& store) {
    if (const auto good = checkExperiment(experiment); !good)
        return refuse(0, good.error());
    StoredRun run;
    run.experiment = experiment;
    run.cells = expandMatrix(experiment);
    const auto id = store.createRun(experiment, run.cells);
    if (!id)
        return refuse(0, id.error());
    run.info.id = *id;
    if (const auto claimed = store.claimRun(*id); !claimed) {
        // Else it would look like a run that was interrupted.
        (void)store.setRunState(*id, RunState::Failed, claimed.error().text());
        return refuse(*id, claimed.error());
    }
    return RunExecution(*this, m_options, m_cancel, store, std::move(run), m_refused).run();
}

RunOutcome RunController::resume(qint64 id, RunStore& store) {
    if (const auto claimed = store.claimRun(id); !claimed)
        return refuse(id, claimed.error());
    auto run = store.loadRun(id);
    if (!run)
        return refuse(id, run.error());
    if (run->info.state == RunState::Finished)
        return refuse(
            id, Error{Error::Code::BadInput,
                      QStringLiteral("Run %1 is finished: nothing is left to measure").arg(id)});
    if (const auto marked = store.setRunState(id, RunState::Running, {}); !marked)
        return refuse(id, marked.error());
    return RunExecution(*this, m_options, m_cancel, store, std::move(*run), m_refused).run();
}

/// Ends before any host was asked.
RunOutcome RunController::refuse(qint64 run, const Error& error) {
    RunOutcome outcome;
    outcome.run = run;
    outcome.status = statusOf(error);
    outcome.message = error.text();
    emit finished(outcome);
    return outcome;
}

} // namespace knobscope
