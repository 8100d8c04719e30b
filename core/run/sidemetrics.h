// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"
#include "core/model/sample.h"

namespace knobscope {

/// Appends a metric, unless its value is not finite.
void addMetric(SampleRecord& sample, Side side, const QString& name, double value);

/// Sum over the streams of one host.
[[nodiscard]] quint64 sumOf(const protocol::TrafficResult& result,
                            std::uint64_t protocol::StreamResult::*field);
/// Mean over the streams that have the value; absent when none has.
[[nodiscard]] std::optional<double>
meanOf(const protocol::TrafficResult& result,
       std::optional<std::int64_t> protocol::StreamResult::*field);

/// The metrics of one host: calls, bytes, buffers, TCP_INFO, CPU, and the flags that follow from
/// them. `amount`: bytes delivered (streams) or transactions of the whole sample, for the service
/// demand.
void addSideMetrics(SampleRecord& sample, Side side, const protocol::TrafficResult& result,
                    bool stream, double amount);

/// J. Jain's index of the amounts that streams got: 1 when all have the same, 1/n when one has all.
/// (R. Jain, D. Chiu, W. Hawe: A Quantitative Measure of Fairness, DEC TR-301, 1984.) Absent for
/// fewer than two streams, or nothing moved.
[[nodiscard]] std::optional<double> fairness(const QList<double>& amounts);

} // namespace knobscope
