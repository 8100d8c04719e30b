// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/environment.h"

#include "agents/agent/error.h"
#include "agents/agent/kernel/knobfamily.h"
#include "agents/agent/kernel/rtlink.h"
#include "agents/agent/kernel/sysctl.h"
#include "agents/agent/kernel/textfile.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <cstring>
#endif

namespace knobscope::agent {

namespace {

constexpr std::array kKeySysctls{
    "net.core.busy_poll",
    "net.core.busy_read",
    "net.core.default_qdisc",
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.core.netdev_max_backlog",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.somaxconn",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_available_congestion_control",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
};

/// The hypervisor's name for itself, "none" on a bare machine, nothing where it cannot be told.
std::optional<std::string> virtualization() {
    if (auto type = readLine("/sys/hypervisor/type"))
        return type;
#if defined(__x86_64__) || defined(__i386__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned kHypervisorBit = 1U << 31;
    constexpr unsigned kHypervisorLeaf = 0x40000000;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return std::nullopt;
    if (!(c & kHypervisorBit))
        return "none";
    __cpuid(kHypervisorLeaf, a, b, c, d);
    char signature[13] = {};
    std::memcpy(signature, &b, 4);
    std::memcpy(signature + 4, &c, 4);
    std::memcpy(signature + 8, &d, 4);
    constexpr std::array<std::pair<std::string_view, const char*>, 7> kNames{{
        {"KVMKVMKVM", "kvm"},
        {"Microsoft Hv", "hyperv"},
        {"VMwareVMware", "vmware"},
        {"XenVMMXenVMM", "xen"},
        {"TCGTCGTCGTCG", "qemu"},
        {"VBoxVBoxVBox", "virtualbox"},
        {"bhyve bhyve ", "bhyve"},
    }};
    for (const auto& [known, name] : kNames)
        if (known == signature)
            return name;
    const std::string text = folded(signature);
    return text.empty() ? "unknown hypervisor" : text;
#else
    return readLine("/proc/device-tree/hypervisor/compatible");
#endif
}

/// One governor, or all that are in use.
std::optional<std::string> governors() {
    std::set<std::string> names;
    const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
    for (long cpu = 0; cpu < cpus; ++cpu)
        if (auto name = readLine("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                                 "/cpufreq/scaling_governor"))
            names.insert(std::move(*name));
    std::string all;
    for (const std::string& name : names)
        all += (all.empty() ? "" : ", ") + name;
    return all.empty() ? std::nullopt : std::optional(all);
}

std::optional<std::string> cpuModel() {
    const auto text = readText("/proc/cpuinfo");
    for (const char* field : {"model name", "cpu model", "Model", "Hardware"})
        if (auto model = text ? parseField(*text, field) : std::nullopt)
            return model;
    auto board = readLine("/proc/device-tree/model");
    if (board && board->back() == '\0') // device tree texts carry their terminator
        board->pop_back();
    return board;
}

/// Programs that move knobs by themselves, and that a person should know of.
constexpr std::array kMovers{"irqbalance", "tuned", "power-profiles-daemon", "thermald"};

/// One of the entries of /proc/PID/environ.
std::optional<std::string> variableOf(const std::string& process, std::string_view name) {
    const auto text = readText("/proc/" + process + "/environ");
    std::string_view rest = text ? std::string_view(*text) : std::string_view();
    while (!rest.empty()) {
        const std::string_view entry = rest.substr(0, rest.find('\0'));
        if (entry.starts_with(name) && entry.substr(name.size()).starts_with('='))
            return std::string(entry.substr(name.size() + 1));
        rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    }
    return std::nullopt;
}

/// SSH_CONNECTION of this process, or of one that has started it: sudo drops the variable.
std::optional<std::string> sshConnection() {
    if (const char* own = std::getenv("SSH_CONNECTION"))
        return own;
    constexpr int kGenerations = 8;
    std::string process = "self";
    for (int i = 0; i < kGenerations; ++i) {
        if (auto value = variableOf(process, "SSH_CONNECTION"))
            return value;
        const auto status = readText("/proc/" + process + "/status");
        const auto parent = status ? parseField(*status, "PPid") : std::nullopt;
        if (!parent || *parent == "0")
            break;
        process = *parent;
    }
    return std::nullopt;
}

/// The interface that carries the SSH connection through which this agent is driven.
std::optional<std::string> sshInterface() {
    const auto connection = sshConnection();
    const auto parts = words(connection ? std::string_view(*connection) : std::string_view());
    if (parts.size() != 4)
        return std::nullopt;
    const std::string address(parts[2]); // client, its port, server, its port
    if (const auto zone = address.find('%'); zone != std::string::npos)
        return address.substr(zone + 1);
    try {
        return linkOfAddress(address.starts_with("::ffff:") ? address.substr(7) : address);
    } catch (const AgentError&) {
        return std::nullopt;
    }
}

} // namespace

std::set<std::string> runningOf(const KnobHost& host, std::span<const char* const> names) {
    constexpr std::size_t kLongestName = 15; // what the kernel keeps of it
    std::set<std::string> running;
    for (const std::string& process : namesIn(host.proc)) {
        if (!toNumber(process))
            continue;
        const auto comm = readLine(host.proc + "/" + process + "/comm");
        for (const std::string_view name : names) {
            if (comm && *comm == name.substr(0, kLongestName))
                running.emplace(name);
        }
    }
    return running;
}

bool processRuns(const KnobHost& host, const char* name) {
    return !runningOf(host, {&name, 1}).empty();
}

void putFact(Facts& facts, const std::string& name, std::optional<std::string> value) {
    if (value && !value->empty())
        facts[name] = std::move(*value);
}

std::optional<std::string> parseOsName(std::string_view text) {
    constexpr std::string_view kKey = "PRETTY_NAME=";
    std::string_view line;
    while (nextLine(text, line)) {
        line = trimmed(line);
        if (!line.starts_with(kKey))
            continue;
        std::string_view value = trimmed(line.substr(kKey.size()));
        if (value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
            value.back() == value.front())
            value = value.substr(1, value.size() - 2);
        if (!value.empty())
            return std::string(value);
    }
    return std::nullopt;
}

std::optional<std::string> parseField(std::string_view text, std::string_view name) {
    std::string_view line;
    while (nextLine(text, line)) {
        const auto colon = line.find(':');
        if (colon == std::string_view::npos || trimmed(line.substr(0, colon)) != name)
            continue;
        if (std::string value = folded(line.substr(colon + 1)); !value.empty())
            return value;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> parseListLength(std::string_view text) {
    std::uint64_t count = 0;
    text = trimmed(text);
    while (!text.empty()) {
        const auto comma = text.find(',');
        const std::string_view part = text.substr(0, comma);
        const auto dash = part.find('-');
        const auto first = toNumber(part.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : toNumber(part.substr(dash + 1));
        if (!first || !last || *last < *first || *last - *first > 65535)
            return std::nullopt;
        count += *last - *first + 1;
        text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    }
    return count == 0 ? std::nullopt : std::optional(count);
}

void addHostFacts(Facts& facts) {
    utsname system{};
    if (::uname(&system) == 0) {
        putFact(facts, "kernel", system.release);
        putFact(facts, "kernel.version", system.version);
        putFact(facts, "arch", system.machine);
        putFact(facts, "hostname", system.nodename);
    }
    if (const auto text = readText("/etc/os-release"))
        putFact(facts, "os", parseOsName(*text));
    putFact(facts, "cpu.model", cpuModel());
    if (const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN); cpus > 0)
        facts["cpu.count"] = std::to_string(cpus);
    putFact(facts, "cpu.governor", governors());
    if (const auto nodes = readLine("/sys/devices/system/node/online"))
        if (const auto count = parseListLength(*nodes))
            facts["numa.nodes"] = std::to_string(*count);
    if (const auto text = readText("/proc/meminfo"))
        if (const auto total = parseField(*text, "MemTotal"))
            facts["memory.total_kb"] = total->substr(0, total->find(' '));
    putFact(facts, "virtualization", virtualization());
    putFact(facts, "clocksource",
            readLine("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
    const std::set<std::string> running = runningOf(KnobHost{}, kMovers);
    for (const char* name : kMovers)
        facts[std::string("processes.") + name] =
            running.contains(name) ? "running" : "not running";
    putFact(facts, "ssh.interface", sshInterface());
    for (const char* name : kKeySysctls) {
        try {
            putFact(facts, std::string("sysctl.") + name, readSysctl(name));
        } catch (const AgentError&) {
            // Absent in this kernel or namespace.
        }
    }
}

} // namespace knobscope::agent
