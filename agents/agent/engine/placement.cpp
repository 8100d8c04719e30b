// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/placement.h"

#include "agents/agent/error.h"
#include "agents/agent/kernel/textfile.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <memory>
#include <thread>
#include <vector>

namespace knobscope::agent {

namespace {

constexpr std::uint64_t kMaxCpus = 65536; // beyond what Linux can be built for

std::string onlineCpus() {
    return readLine("/sys/devices/system/cpu/online").value_or("unknown");
}

/// "0-3,8" as the kernel writes lists of CPUs.
std::vector<std::size_t> parseCpuList(std::string_view text) {
    std::vector<std::size_t> cpus;
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), part.size() + 1));
        const auto dash = part.find('-');
        const auto first = toNumber(part.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : toNumber(part.substr(dash + 1));
        if (!first || !last || *last >= kMaxCpus)
            return {};
        for (std::uint64_t cpu = *first; cpu <= *last; ++cpu)
            cpus.push_back(static_cast<std::size_t>(cpu));
    }
    return cpus;
}

/// A cpu_set_t of any size: hosts with more than 1024 CPUs exist.
int setAffinity(const std::vector<std::size_t>& cpus) {
    const std::size_t count = *std::max_element(cpus.begin(), cpus.end()) + 1;
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(count), [](cpu_set_t* old) { CPU_FREE(old); });
    if (!set)
        return ENOMEM;
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    CPU_ZERO_S(bytes, set.get());
    for (const std::size_t cpu : cpus)
        CPU_SET_S(cpu, bytes, set.get());
    return ::pthread_setaffinity_np(::pthread_self(), bytes, set.get());
}

void pinToCpu(int cpu) {
    const bool possible = cpu >= 0 && static_cast<std::uint64_t>(cpu) < kMaxCpus;
    const int error = possible ? setAffinity({static_cast<std::size_t>(cpu)}) : EINVAL;
    if (error != 0)
        failKnob(errnoText("cannot run on CPU " + std::to_string(cpu), error) +
                 "; this host has CPUs " + onlineCpus() + " online");
}

void pinToNode(int node) {
    const std::string what = "cannot run on NUMA node " + std::to_string(node);
    const auto list =
        readLine(("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist").c_str());
    if (!list)
        failKnob(what + ": this host has nodes " +
                 readLine("/sys/devices/system/node/online").value_or("unknown"));
    const auto cpus = parseCpuList(*list);
    if (cpus.empty())
        failKnob(what + ": it has no CPUs");
    if (const int error = setAffinity(cpus); error != 0)
        failKnob(errnoText(what, error));
}

void makeRealtime(int priority) {
    sched_param parameters{};
    parameters.sched_priority = priority;
    const int error = ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &parameters);
    if (error == EPERM)
        failKnob("real-time priority " + std::to_string(priority) + " needs root");
    if (error != 0)
        failKnob(
            errnoText("real-time priority " + std::to_string(priority) + " was refused", error));
}

} // namespace

void placeThread(const protocol::TrafficConfig& config) {
    if (config.cpu)
        pinToCpu(*config.cpu);
    else if (config.numa_node)
        pinToNode(*config.numa_node);
    if (config.realtime)
        makeRealtime(*config.realtime);
}

void checkPlacement(const protocol::TrafficConfig& config) {
    if (!config.cpu && !config.numa_node && !config.realtime)
        return;
    // Only trying tells, since cpusets, offline CPUs and limits count too; a thread that ends
    // leaves the caller as it is.
    std::exception_ptr failure;
    std::thread([&] {
        try {
            placeThread(config);
        } catch (...) {
            failure = std::current_exception();
        }
    }).join();
    if (failure)
        std::rethrow_exception(failure);
}

} // namespace knobscope::agent
