// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/sample.h"
#include "core/run/hostgroup.h"
#include "core/run/sampleresult.h"

namespace knobscope {

/// A try at one sample: what is to be stored, and, when it failed, the error that decides how the
/// run goes on.
struct Attempt {
    SampleRecord record;
    std::optional<Error> error;
};

/// Measures single samples on open hosts: apply the cell's knobs and read them back, snapshot,
/// traffic, snapshot; each step on all hosts at once. Blocks; used from the controller's thread.
/// Leaves the knobs as applied.
class SampleRunner {
public:
    struct Listener {
        std::function<void(const QList<KnobState>&)> knobsApplied;
    };

    SampleRunner(const Experiment& experiment, HostGroup& hosts, const CancelToken& cancel,
                 Listener listener);

    /// Measures `cell`; the record has cell, times, state, knobs and everything measured. The
    /// caller sets block, order and attempt.
    Attempt measure(const Cell& cell);

private:
    Result<void> applyKnobs(const Cell& cell, SampleRecord& record);
    Result<void> checkKnobs(SampleRecord& record);
    Result<void> snapshots(protocol::Snapshot HostCounters::*when);
    Result<void> transfer(const Cell& cell);

    const Experiment& m_experiment;
    HostGroup& m_hosts;
    CancelToken m_cancel;
    Listener m_listener;
    SampleResult m_result;
};

} // namespace knobscope
