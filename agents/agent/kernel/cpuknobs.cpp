// SPDX-License-Identifier: GPL-3.0-or-later
// cpu:governor, cpu:turbo and cpu:latency, for all CPUs of the host.
#include "agents/agent/kernel/cpulist.h"
#include "agents/agent/kernel/knobfamily.h"
#include "agents/agent/kernel/textfile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace knobscope::agent {

namespace {

std::string cpuFolder(const KnobCall& call) {
    return call.host.sys + "/devices/system/cpu/";
}

/// One file for each set of CPUs that share a clock.
std::vector<std::string> governorFiles(const KnobCall& call) {
    const std::string folder = cpuFolder(call) + "cpufreq/";
    std::vector<std::string> files;
    for (const std::string& policy : namesIn(folder)) {
        if (policy.starts_with("policy"))
            files.push_back(folder + policy + "/scaling_governor");
    }
    if (files.empty())
        failKnob("this host has no CPU frequency governors (a virtual machine often has none)");
    return files;
}

std::string readGovernor(const KnobCall& call) {
    std::vector<std::string> values;
    for (const std::string& file : governorFiles(call)) {
        const auto line = readLine(file);
        if (!line)
            failKnob(errnoText("cannot read " + file, errno));
        values.push_back(*line);
    }
    return joinShared(values);
}

void writeGovernor(const KnobCall& call, const std::string& value) {
    const auto files = governorFiles(call);
    const auto values = splitShared(value, files.size(), "the frequency policies of this host");
    std::vector<std::string> before;
    for (std::size_t i = 0; i < files.size(); ++i) {
        before.push_back(readLine(files[i]).value_or(""));
        const int error = before.back() == values[i] ? 0 : writeLine(files[i], values[i]);
        if (error == 0)
            continue;
        for (std::size_t j = 0; j < i; ++j)
            (void)writeLine(files[j], before[j]); // all or none
        const std::string folder = files[i].substr(0, files[i].rfind('/'));
        const auto known = readLine(folder + "/scaling_available_governors");
        failKnob(errnoText("the kernel refuses '" + values[i] + "' for " + files[i], error) +
                 (known ? "; it has " + *known : ""));
    }
}

/// The file that turns turbo off or on, and whether it says so the other way round.
struct TurboFile {
    std::string path;
    bool inverted = false;
};

TurboFile turboFile(const KnobCall& call) {
    const std::string intel = cpuFolder(call) + "intel_pstate/no_turbo";
    const std::string boost = cpuFolder(call) + "cpufreq/boost";
    if (readLine(intel))
        return {intel, true};
    if (readLine(boost))
        return {boost, false};
    failKnob("this host does not let turbo be switched (neither intel_pstate/no_turbo nor "
             "cpufreq/boost; a virtual machine often has none)");
}

/// What the kernel says when nobody asks for a limit.
constexpr std::int32_t kNoLimit = 2'000'000'000;

std::string latencyFile(const KnobCall& call) {
    return call.host.dev + "/cpu_dma_latency";
}

std::string readLatency(const KnobCall& call) {
    const UniqueFd file(::open(latencyFile(call).c_str(), O_RDONLY | O_CLOEXEC));
    std::int32_t microseconds = 0;
    if (!file || ::read(file.get(), &microseconds, sizeof microseconds) != sizeof microseconds)
        failKnob(errnoText("cannot read " + latencyFile(call), errno));
    return microseconds >= kNoLimit ? "none" : std::to_string(microseconds);
}

void writeLatency(const KnobCall& call, const std::string& value) {
    if (trimmed(value) == "none") {
        call.host.latency.reset();
        return;
    }
    const auto microseconds = static_cast<std::int32_t>(wholeNumber(call, value, kNoLimit - 1));
    if (!call.host.latency)
        call.host.latency.reset(::open(latencyFile(call).c_str(), O_WRONLY | O_CLOEXEC));
    if (!call.host.latency)
        failKnob(errnoText("cannot open " + latencyFile(call), errno));
    if (::pwrite(call.host.latency.get(), &microseconds, sizeof microseconds, 0) !=
        sizeof microseconds)
        failKnob(errnoText("the kernel refuses '" + value + "' for " + latencyFile(call), errno));
}

} // namespace

std::string readCpuKnob(const KnobCall& call) {
    if (call.member == "governor")
        return readGovernor(call);
    if (call.member == "latency")
        return readLatency(call);
    const TurboFile file = turboFile(call);
    return switchText((readLine(file.path) != "0") != file.inverted);
}

void writeCpuKnob(const KnobCall& call, const std::string& value) {
    if (call.member == "governor")
        return writeGovernor(call, value);
    if (call.member == "latency")
        return writeLatency(call, value);
    const bool on = switchValue(call, value);
    const TurboFile file = turboFile(call);
    if (const int error = writeLine(file.path, on != file.inverted ? "1" : "0"))
        failKnob(errnoText("the kernel refuses '" + value + "' for " + file.path, error));
}

void restoreCpuKnob(const KnobCall& call, const std::string& original) {
    // Another program's limit stands by itself once this one's is gone.
    if (call.member == "latency")
        call.host.latency.reset();
    else
        writeCpuKnob(call, original);
}

std::string governorMover(const KnobCall& call) {
    return processRuns(call.host, "tuned") ? "tuned runs on this host" : "";
}

} // namespace knobscope::agent
