// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/snapshot.h"

#include "agents/agent/kernel/counters.h"
#include "agents/agent/kernel/ethtool.h"
#include "agents/agent/kernel/rtlink.h"
#include "agents/agent/kernel/textfile.h"

#include <array>
#include <ctime>
#include <sys/stat.h>
#include <unistd.h>

namespace knobscope::agent {

namespace {

struct Source {
    const char* name;
    const char* path;
    Counters (*parse)(std::string_view);
};
constexpr std::array kSources{
    Source{"snmp", "/proc/net/snmp", parseSnmp},
    Source{"netstat", "/proc/net/netstat", parseSnmp},
    Source{"snmp6", "/proc/net/snmp6", parseSnmp6},
    Source{"softnet", "/proc/net/softnet_stat", parseSoftnet},
    Source{"interrupts", "/proc/interrupts", parseInterrupts},
};

void addInterface(const std::string& interface, protocol::Snapshot& snapshot) {
    try {
        if (Counters counters = readLink(interface).statistics; !counters.empty())
            snapshot.counters["interface"] = std::move(counters);
        if (auto counters = EthtoolIoctl(interface).statistics())
            snapshot.counters["ethtool"] = std::move(*counters);
    } catch (const std::exception&) {
        // The interface is gone or tells nothing: its sources are absent, which says so.
    }
}

} // namespace

protocol::Snapshot takeSnapshot(const std::string& interface) {
    protocol::Snapshot snapshot;
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    snapshot.time_ns = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
    for (const Source& source : kSources) {
        const auto text = readText(source.path);
        if (!text)
            continue;
        if (Counters counters = source.parse(*text); !counters.empty())
            snapshot.counters[source.name] = std::move(counters);
    }
    if (!interface.empty())
        addInterface(interface, snapshot);
    return snapshot;
}

std::string machineId() {
    // Without a boot id (a container that hides it) the namespace's own numbers must do.
    std::string id = readLine("/proc/sys/kernel/random/boot_id").value_or("no-boot-id");
    struct stat status {};
    if (::stat("/proc/self/ns/net", &status) == 0)
        id += ":" + std::to_string(status.st_ino);
    return id;
}

} // namespace knobscope::agent
