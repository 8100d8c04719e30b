// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"
#include "core/model/matrix.h"
#include "core/model/sample.h"
#include "core/run/runcontroller.h"

namespace knobscope {

/// What one host told of a sample.
struct SideResult {
    protocol::Snapshot before;
    protocol::Snapshot after;
    protocol::TrafficResult traffic;
};

/// Turns what both hosts told into the sample's metrics, counter deltas, series and flags.
/// Definitions stand at metricInfo(); a figure that was not measured is left out.
void fillSample(SampleRecord& sample, const Experiment& experiment, const Cell& cell,
                const SideResult& sender, const SideResult& receiver);

/// after − before of each counter that both snapshots have. A 32-bit counter that wrapped once is
/// recognised: it fell, both values fit into 32 bits, and the step modulo 2^32 is below 2^31.
/// Any other fall is kept as it is, for gauges such as TcpCurrEstab do fall.
void addDeltas(SampleRecord& sample, Side side, const protocol::Snapshot& before,
               const protocol::Snapshot& after);

/// Per-interval amounts out of cumulative ones. `received`: of the bytes that this side received
/// rather than sent.
[[nodiscard]] QList<SeriesPoint> seriesOf(const std::vector<protocol::Interval>& intervals,
                                          bool received);

/// What moved between two cumulative notifications of one side; `last` becomes `now`. A new sample
/// counts from 0 again. Absent when no time has passed.
[[nodiscard]] std::optional<LiveInterval> liveInterval(Side side, const protocol::Interval& now,
                                                       protocol::Interval& last);

} // namespace knobscope
