// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/run.h"

namespace knobscope {

/// Where a run controller keeps what it measured; db implements it. Called from the controller's
/// thread only. When a call has returned well, its data survives kill -9 and power loss.
class RunStore {
public:
    virtual ~RunStore() = default;

    /// Stores experiment and cells; returns the run's id.
    virtual Result<qint64> createRun(const Experiment& experiment, const QList<Cell>& cells) = 0;
    virtual Result<void> addHostFacts(qint64 run, const HostFacts& facts) = 0;
    /// One transaction: sample, knob states, metrics, deltas, series. Returns the sample's id.
    virtual Result<qint64> addSample(qint64 run, const SampleRecord& sample) = 0;
    virtual Result<void> setRunState(qint64 run, RunState state, const QString& message) = 0;
    virtual Result<StoredRun> loadRun(qint64 run) = 0;
    /// Claims the run for this process, so that no two programs measure it at once. A claim ends
    /// with its process, however it dies. BadInput when another living process has it.
    virtual Result<void> claimRun(qint64 run) = 0;
};

} // namespace knobscope
