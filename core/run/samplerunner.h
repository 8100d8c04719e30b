// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/sample.h"
#include "core/run/hostpair.h"
#include "core/run/runcontroller.h"
#include "core/run/sampleresult.h"

namespace knobscope {

/// A try at one sample: what is to be stored, and, when it failed, the error that decides how the
/// run goes on.
struct Attempt {
    SampleRecord record;
    std::optional<Error> error;
};

/// Measures single samples on two open hosts: apply the cell's knobs and read them back, snapshot,
/// traffic, snapshot. Blocks; used from the controller's thread. Leaves the knobs as applied.
class SampleRunner {
public:
    struct Listener {
        std::function<void(const QList<KnobState>&)> knobsApplied;
    };

    SampleRunner(const Experiment& experiment, HostPair& hosts, const CancelToken& cancel,
                 Listener listener);

    /// Measures `cell`; the record has cell, times, state, knobs and everything measured. The
    /// caller sets block, order and attempt.
    Attempt measure(const Cell& cell);

private:
    Result<void> applyKnobs(const Cell& cell, SampleRecord& record);
    Result<void> checkKnobs(SampleRecord& record);
    Result<void> snapshots(protocol::Snapshot SideResult::*when);
    Result<void> transfer(const Cell& cell);
    void stopTraffic();

    const Experiment& m_experiment;
    HostPair& m_hosts;
    CancelToken m_cancel;
    Listener m_listener;
    SideResult m_sender;
    SideResult m_receiver;
};

/// Asks the receiver to listen and the sender to connect; the error names the host it came from.
[[nodiscard]] Result<void> prepareTraffic(const Experiment& experiment, const Cell& cell,
                                          HostPair& hosts);

} // namespace knobscope
