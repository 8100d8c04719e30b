// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"
#include "core/model/sample.h"

namespace knobscope {

/// Appends a metric, unless its value is not finite.
void addMetric(SampleRecord& sample, HostRef host, const QString& name, double value);

/// Sum over the streams of a result.
[[nodiscard]] quint64 sumOf(const protocol::TrafficResult& result,
                            std::uint64_t protocol::StreamResult::*field);
/// Mean over the streams that have the value; absent when none has.
[[nodiscard]] std::optional<double>
meanOf(const protocol::TrafficResult& result,
       std::optional<std::int64_t> protocol::StreamResult::*field);
[[nodiscard]] std::optional<double> meanOfTcpInfo(const protocol::TrafficResult& result,
                                                  const std::string& field);

/// Calls, bytes, buffers and TCP_INFO of the streams of a host, or of all hosts of a side.
void addStreamMetrics(SampleRecord& sample, HostRef host, const protocol::TrafficResult& result);
/// What the sending applications at these ends handed over, which may not have arrived. Each end
/// over its own time; nothing where none sends.
void addSent(SampleRecord& sample, HostRef host,
             const std::vector<const protocol::TrafficResult*>& ends);
/// How the sizes of receive calls at a side are spread.
void addReceiveSizes(SampleRecord& sample, Side side, const protocol::TrafficResult& result);

/// CPU use of one host, and what follows from its result to be told as flags. `amount`: bytes
/// delivered (streams) or transactions of the instances it takes part in, for the service demand.
void addHostMetrics(SampleRecord& sample, HostRef host, const protocol::TrafficResult& result,
                    bool stream, double amount);
/// CPU use of a side with several hosts, whose own metrics the sample has: of shares the mean, of
/// switches the sum, of the busiest CPU the busiest. Left out where one host does not tell. `cpus`:
/// what each told; `amount` of all together.
void addSideCpu(SampleRecord& sample, Side side,
                const std::vector<std::optional<protocol::CpuUse>>& cpus, bool stream,
                double amount);

/// J. Jain's index of the amounts that streams got: 1 when all have the same, 1/n when one has all.
/// (R. Jain, D. Chiu, W. Hawe: A Quantitative Measure of Fairness, DEC TR-301, 1984.) Absent for
/// fewer than two streams, or nothing moved.
[[nodiscard]] std::optional<double> fairness(const QList<double>& amounts);

} // namespace knobscope
