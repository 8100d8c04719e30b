// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/mergetraffic.h"

#include "agents/protocol/histogram.h"
#include "core/run/intervals.h"

#include <algorithm>

namespace knobscope {

namespace {

using protocol::TrafficResult;

/// All agents of a host see the same CPUs, each over its own time.
std::optional<protocol::CpuUse> mergedCpu(const std::vector<const TrafficResult*>& ends) {
    std::optional<protocol::CpuUse> host;
    protocol::CpuUse agents;
    for (const TrafficResult* end : ends) {
        if (!end->cpu)
            return std::nullopt; // the agents' time would be that of some
        if (!host || end->cpu->elapsed_s > host->elapsed_s)
            host = end->cpu;
        agents.agent_user_s += end->cpu->agent_user_s;
        agents.agent_system_s += end->cpu->agent_system_s;
        agents.agent_voluntary_switches += end->cpu->agent_voluntary_switches;
        agents.agent_involuntary_switches += end->cpu->agent_involuntary_switches;
    }
    if (host) {
        host->agent_user_s = agents.agent_user_s;
        host->agent_system_s = agents.agent_system_s;
        host->agent_voluntary_switches = agents.agent_voluntary_switches;
        host->agent_involuntary_switches = agents.agent_involuntary_switches;
    }
    return host;
}

} // namespace

std::optional<protocol::Latency> mergedLatency(const std::vector<const TrafficResult*>& ends) {
    if (ends.size() == 1)
        return ends.front()->latency;
    std::optional<protocol::Histogram> all;
    for (const TrafficResult* end : ends) {
        if (!end->latency)
            continue;
        if (!all)
            all.emplace();
        all->add(protocol::Histogram(*end->latency));
    }
    return all ? std::optional(all->toLatency()) : std::nullopt;
}

TrafficResult mergedTraffic(const std::vector<const TrafficResult*>& ends) {
    if (ends.size() == 1)
        return *ends.front();
    TrafficResult merged;
    std::vector<const std::vector<protocol::Interval>*> intervals;
    for (const TrafficResult* end : ends) {
        merged.elapsed_s = std::max(merged.elapsed_s, end->elapsed_s);
        merged.streams.insert(merged.streams.end(), end->streams.begin(), end->streams.end());
        intervals.push_back(&end->intervals);
        merged.receive_sizes.resize(
            std::max(merged.receive_sizes.size(), end->receive_sizes.size()));
        for (std::size_t i = 0; i < end->receive_sizes.size(); ++i)
            merged.receive_sizes[i] += end->receive_sizes[i];
        merged.strangers += end->strangers;
    }
    merged.intervals = summedIntervals(intervals);
    merged.latency = mergedLatency(ends);
    merged.cpu = mergedCpu(ends);
    return merged;
}

} // namespace knobscope
