// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"

#include <optional>
#include <vector>

namespace knobscope {

/// What several ends told, as if one had: all their streams, their intervals summed, the longest
/// measured time, response times and receive sizes in one distribution each. CPU time is that of
/// one host as the end told that watched it longest, with the time of all agents; it makes no sense
/// where the ends are on several hosts.
[[nodiscard]] protocol::TrafficResult
mergedTraffic(const std::vector<const protocol::TrafficResult*>& ends);

/// The response times of those ends that have some; absent when none has.
[[nodiscard]] std::optional<protocol::Latency>
mergedLatency(const std::vector<const protocol::TrafficResult*>& ends);

} // namespace knobscope
