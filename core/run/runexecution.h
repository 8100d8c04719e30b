// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/hostgroup.h"
#include "core/run/intervals.h"
#include "core/run/runcontroller.h"
#include "core/run/samplerunner.h"

#include <QElapsedTimer>
#include <QMap>

namespace knobscope {

/// One execution of a run, from connecting to putting the knobs back; RunController makes one for
/// each. Blocks in run(); reports through the controller's signals.
class RunExecution {
public:
    RunExecution(RunController& controller, const HostOptions& options, const CancelToken& cancel,
                 RunStore& store, StoredRun run, const QList<RefusedValue>& refused);

    RunOutcome run();

private:
    Result<void> connectHosts();
    Result<void> reconnectHosts();
    Result<void> storeFacts();
    Result<void> measureAll();
    Result<void> measureBlock(int block);
    Result<void> noteRefused(const Cell& cell, int block);
    Result<void> measureWithRetries(const Cell& cell, int block);
    Attempt attemptOnce(const Cell& cell, int block, int attempt);
    Result<void> recover(const Error& error);
    void restoreKnobs();
    void noteUndo(const QString& host, const std::vector<protocol::UndoReport>& reports);
    void noteUnknown(HostRef host, const Error& error);
    void noteRecovered();
    void watchIntervals();
    void reportProgress();
    RunOutcome conclude(const Result<void>& ended);
    int plannedSamples() const;
    int missingSamples() const;
    bool pause(double seconds) const;

    RunController& m_controller;
    HostOptions m_options;
    CancelToken m_cancel;
    RunStore& m_store;
    StoredRun m_run;
    QString m_mainMetric;
    std::optional<HostGroup> m_hosts;
    std::vector<std::shared_ptr<LiveSide>> m_live;
    QMap<int, QList<double>> m_values;      ///< main metric by cell
    QMap<std::pair<int, int>, int> m_tries; ///< attempts by block and cell; −1: measured
    QMap<int, QString> m_refused;           ///< cells that cannot be measured, and why
    QStringList m_notRestored;
    QStringList m_unverified; ///< hosts out of contact whose guardians restore by themselves
    bool m_measuring = false; ///< a sample has been begun
    int m_done = 0;
    int m_doneHere = 0; ///< in this execution, for the pace
    int m_order = 0;
    QElapsedTimer m_clock;
};

} // namespace knobscope
