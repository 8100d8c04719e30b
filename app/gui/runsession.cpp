// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/runsession.h"

#include "app/gui/consent.h"
#include "db/runrepository.h"

namespace knobscope {

RunSession::RunSession(const AppContext& context, QObject* parent)
    : QObject(parent), m_context(context) {
    qRegisterMetaType<Experiment>();
    qRegisterMetaType<QList<SampleRecord>>();
    m_thread.setObjectName("run");
}

RunSession::~RunSession() {
    if (m_controller != nullptr)
        m_controller->requestStop();
    m_thread.quit();
    m_thread.wait();
}

void RunSession::start(const Experiment& experiment, const QList<RefusedValue>& leftOut) {
    if (running())
        return;
    emit prepared(experiment, {});
    launch([experiment, leftOut](RunController& controller, RunRepository& runs) {
        controller.leaveOut(leftOut);
        return controller.execute(experiment, runs);
    });
}

void RunSession::resume(qint64 run) {
    if (running())
        return;
    m_run = run;
    launch([this, run](RunController& controller, RunRepository& runs) {
        const Result<StoredRun> stored = runs.loadRun(run);
        if (!stored) {
            RunOutcome outcome;
            outcome.run = run;
            outcome.status = ExitStatus::SamplesFailed;
            outcome.message = stored.error().text();
            return outcome;
        }
        if (!commandsAllowed(stored->experiment)) {
            RunOutcome outcome;
            outcome.run = run;
            outcome.status = ExitStatus::BadInput;
            outcome.message = tr("Its command lines have not been allowed to run on this computer. "
                                 "Open the experiment in the wizard to read them.");
            return outcome;
        }
        emit prepared(stored->experiment, stored->samples); // queued to the GUI thread's receivers
        return controller.resume(run, runs);
    });
}

void RunSession::launch(Work work) {
    m_stopping = false;
    m_controller = new RunController(m_context.hosts);
    m_controller->moveToThread(&m_thread);
    connect(&m_thread, &QThread::finished, m_controller, &QObject::deleteLater);
    connect(m_controller, &RunController::runStarted, this, [this](qint64 run, int cells) {
        m_run = run;
        emit runStarted(run, cells);
    });
    connect(m_controller, &RunController::phaseChanged, this, &RunSession::phaseChanged);
    connect(m_controller, &RunController::sampleStarted, this, &RunSession::sampleStarted);
    connect(m_controller, &RunController::intervalMeasured, this, &RunSession::intervalMeasured);
    connect(m_controller, &RunController::sampleFinished, this, &RunSession::sampleFinished);
    connect(m_controller, &RunController::progressed, this, &RunSession::progressed);
    connect(m_controller, &RunController::logged, this, &RunSession::logged);
    m_thread.start();
    QMetaObject::invokeMethod(
        m_controller,
        [this, controller = m_controller, path = m_context.database, work = std::move(work)] {
            RunOutcome outcome;
            const auto runs = RunRepository::open(path);
            if (runs) {
                outcome = work(*controller, **runs);
            } else {
                outcome.status = ExitStatus::SamplesFailed;
                outcome.message = runs.error().text();
            }
            QMetaObject::invokeMethod(this, [this, outcome] { end(outcome); });
        },
        Qt::QueuedConnection);
}

void RunSession::stop() {
    if (!running() || m_stopping)
        return;
    m_stopping = true;
    m_controller->requestStop();
    emit stopRequested();
}

void RunSession::end(const RunOutcome& outcome) {
    m_thread.quit();
    m_thread.wait(); // its last event has been handled: it ends at once
    m_controller = nullptr;
    m_stopping = false;
    m_run = 0;
    emit finished(outcome);
}

} // namespace knobscope
