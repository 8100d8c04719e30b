// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"
#include "core/model/matrix.h"
#include "core/model/sample.h"

#include <map>

namespace knobscope {

/// What the two ends of one instance of the test told.
struct InstanceResult {
    protocol::TrafficResult sender;
    protocol::TrafficResult receiver;

    [[nodiscard]] const protocol::TrafficResult& at(Side side) const {
        return side == Side::Receiver ? receiver : sender;
    }
};

/// Counters of one host around the traffic.
struct HostCounters {
    protocol::Snapshot before;
    protocol::Snapshot after;
};

/// What all hosts told of a sample. As many instances as the experiment has, in their order.
struct SampleResult {
    std::vector<InstanceResult> instances;
    std::map<HostRef, HostCounters> counters;
};

/// Turns what the hosts told into the sample's metrics, counter deltas, series, streams and flags.
/// Definitions stand at metricInfo(); a figure that was not measured is left out. What is of one
/// host of a side that has several is called by its number; number 0 is of all of them.
void fillSample(SampleRecord& sample, const Experiment& experiment, const Cell& cell,
                const SampleResult& result);

} // namespace knobscope
