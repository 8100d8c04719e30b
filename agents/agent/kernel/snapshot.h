// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"

#include <string>
#include <vector>

namespace knobscope::agent {

/// Reads all counters of the host and of the interface (empty: none). A source that is not there
/// is left out; never throws for one. Takes well under 2 ms on a small host.
[[nodiscard]] protocol::Snapshot takeSnapshot(const std::string& interface);

/// Collects the environment sheet. Facts that the host does not tell are left out.
[[nodiscard]] protocol::Environment readEnvironment(const std::string& interface);

/// CPU seconds by kind since boot, whole host and per CPU (/proc/stat), and the agent's own.
struct CpuReading {
    struct Times {
        double user = 0, nice = 0, system = 0, irq = 0, softirq = 0, steal = 0, idle = 0;
        [[nodiscard]] double busy() const { return user + nice + system + irq + softirq + steal; }
        [[nodiscard]] double total() const { return busy() + idle; }
    };
    double monotonic_s = 0;
    Times all;
    std::vector<Times> each;
    double agent_user = 0;
    double agent_system = 0;
    std::uint64_t context_switches = 0; ///< of the host
    std::uint64_t agent_voluntary_switches = 0;
    std::uint64_t agent_involuntary_switches = 0;
};
[[nodiscard]] CpuReading readCpu();
[[nodiscard]] protocol::CpuUse cpuUse(const CpuReading& before, const CpuReading& after);

/// The same for two agents under one kernel and in one network namespace (boot id and the inode
/// of /proc/self/ns/net); differs otherwise.
[[nodiscard]] std::string machineId();

} // namespace knobscope::agent
