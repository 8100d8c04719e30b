// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/experiment.h"
#include "core/model/matrix.h"
#include "core/model/sample.h"

namespace knobscope {

enum class RunState {
    Running,   ///< being measured, or its program died: then it can be resumed
    Finished,  ///< all samples measured
    Failed,    ///< ended by an error, or with failed samples left; message says why
    Cancelled, ///< stopped by the user
};
[[nodiscard]] QString runStateName(RunState state); ///< "running", "finished", ...
[[nodiscard]] std::optional<RunState> runStateFromName(const QString& name);

/// A line of the run list.
struct RunInfo {
    qint64 id = 0;
    QString name;
    RunState state = RunState::Running;
    QString message;
    QDateTime started;
    QDateTime ended;
    QString testKind;
    QString sender; ///< labels of the side's hosts: "host1, host2"
    QString receiver;
    QStringList knobs;
    int cells = 0;
    int samplesDone = 0;
    int samplesFailed = 0;
    int samplesPlanned = 0; ///< at least
    bool resumable = false;
};

/// What a host was when the run began.
struct HostFacts {
    HostRef host = Side::Sender; ///< one host; never a side that has several
    QString label;
    QMap<QString, QString> facts; ///< Environment::facts of the protocol
};

/// A whole run as stored.
struct StoredRun {
    RunInfo info;
    Experiment experiment;
    QList<Cell> cells;
    QList<HostFacts> hosts;
    QList<SampleRecord> samples; ///< in the order measured, failed attempts included
};

} // namespace knobscope

Q_DECLARE_METATYPE(knobscope::RunInfo)
Q_DECLARE_METATYPE(knobscope::StoredRun)
