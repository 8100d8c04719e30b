// SPDX-License-Identifier: GPL-3.0-or-later
// CPUs of queues and interrupts: rps:, xps:, irq:.
#include "agents/agent/kernel/cpulist.h"
#include "agents/agent/kernel/knobfamily.h"
#include "agents/agent/kernel/textfile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace knobscope::agent {

namespace {

/// The files of one knob: one a queue, one an interrupt. All have the same kind of text.
struct Files {
    std::vector<std::string> paths;
    std::string what;                                 ///< "the 4 receive queues of eth0"
    std::string (*shown)(const std::string& text);    ///< a file's text as the knob's value
    std::string (*written)(const std::string& value); ///< the other way
};

std::string asIs(const std::string& text) {
    return text;
}

std::string normalList(const std::string& text) {
    const auto cpus = parseCpuList(text);
    return cpus ? cpuListText(*cpus) : text;
}

std::string listOfMask(const std::string& mask) {
    const auto cpus = parseCpuMask(mask);
    return cpus ? cpuListText(*cpus) : mask;
}

std::string maskOfList(const std::string& list) {
    return cpuMaskText(parseCpuList(list).value_or(CpuSet{}));
}

Files queueFiles(const KnobCall& call) {
    // rps:cpus is rx-N/rps_cpus, rps:flow_cnt is rx-N/rps_flow_cnt, xps:cpus is tx-N/xps_cpus.
    const bool sends = call.name().starts_with("xps");
    const std::string folder = interfaceFolder(call) + "/queues/";
    const std::string file = std::string(sends ? "xps_" : "rps_") + call.member;
    Files files;
    for (const std::string& queue : namesIn(folder)) {
        if (queue.starts_with(sends ? "tx-" : "rx-"))
            files.paths.push_back(folder + queue + "/" + file);
    }
    if (files.paths.empty())
        failUnsupported(call, sends ? "it has no transmit queues" : "it has no receive queues");
    files.what = "the " + std::to_string(files.paths.size()) +
                 (sends ? " transmit queues of " : " receive queues of ") + call.interface();
    const bool number = call.member == "flow_cnt";
    files.shown = number ? asIs : listOfMask;
    files.written = number ? asIs : maskOfList;
    return files;
}

std::string readEach(const KnobCall& call, const Files& files) {
    std::vector<std::string> values;
    for (const std::string& path : files.paths) {
        const auto text = readText(path);
        // The transmit queue of a device that has only one has no XPS.
        if (!text && !call.name().starts_with("irq:") && (errno == ENOENT || errno == EOPNOTSUPP))
            failUnsupported(call, std::strerror(errno));
        if (!text)
            failKnob(errnoText("cannot read " + path, errno));
        values.push_back(files.shown(std::string(trimmed(*text))));
    }
    return joinShared(values);
}

std::string refusal(const std::string& path, const std::string& value, int error) {
    if (path.ends_with("/smp_affinity_list") && (error == EIO || error == EPERM))
        return errnoText("the kernel itself manages the interrupt of " + path +
                             " and lets nobody move it",
                         error);
    return errnoText("the kernel refuses '" + value + "' for " + path, error);
}

/// Writes the values that differ. When one is refused, those before it are as they were again, so
/// that a knob that was rejected has not been moved.
void writeEach(const Files& files, const std::vector<std::string>& values) {
    std::vector<std::string> before;
    for (std::size_t i = 0; i < values.size(); ++i) {
        before.push_back(files.shown(std::string(trimmed(readText(files.paths[i]).value_or("")))));
        if (before.back() == values[i])
            continue;
        const int error = writeLine(files.paths[i], files.written(values[i]));
        if (error == 0)
            continue;
        for (std::size_t j = 0; j < i; ++j)
            (void)writeLine(files.paths[j], files.written(before[j]));
        failKnob(refusal(files.paths[i], values[i], error));
    }
}

std::vector<std::string> cpuLists(const KnobCall& call, const Files& files,
                                  const std::string& value, bool may_be_none) {
    std::vector<std::string> values = splitShared(value, files.paths.size(), files.what);
    for (std::string& list : values) {
        const auto cpus = parseCpuList(list);
        if (!cpus || (cpus->empty() && !may_be_none))
            failKnob(call.name() + " takes lists of CPUs such as 0-3,8" +
                     (may_be_none ? " or none" : "") + ", not '" + list + "'");
        list = cpuListText(*cpus);
    }
    return values;
}

Files interruptFiles(const KnobCall& call) {
    Files files;
    files.shown = normalList;
    files.written = asIs;
    const std::string folder = call.host.proc + "/irq/";
    if (call.member != "affinity") {
        if (!toNumber(call.member))
            failKnob(call.name() + " is no knob; it is irq:affinity, or irq:28 for interrupt 28");
        files.paths.push_back(folder + call.member + "/smp_affinity_list");
        files.what = "interrupt " + call.member;
        return files;
    }
    for (const std::string& number : interruptsOf(call))
        files.paths.push_back(folder + number + "/smp_affinity_list");
    files.what = "the " + std::to_string(files.paths.size()) + " interrupts of " + call.interface();
    return files;
}

} // namespace

std::vector<std::string> interruptsOf(const KnobCall& call) {
    const std::string device = interfaceFolder(call) + "/device";
    char bus[256];
    const ssize_t length = ::readlink((device + "/subsystem").c_str(), bus, sizeof bus);
    const std::string_view subsystem(bus, length > 0 ? static_cast<std::size_t>(length) : 0);
    // A virtio device has its interrupts where the device is that carries it.
    std::vector<std::string> numbers =
        namesIn(device + (subsystem.ends_with("/virtio") ? "/../msi_irqs" : "/msi_irqs"));
    if (numbers.empty()) {
        if (const auto line = readLine(device + "/irq"); line && *line != "0")
            numbers.push_back(*line);
    }
    if (numbers.empty())
        failUnsupported(call, "it has no interrupts of its own");
    // Those that no driver has asked for have no folder of a name below them.
    std::erase_if(numbers, [&](const std::string& number) {
        const std::string folder = call.host.proc + "/irq/" + number + "/";
        const auto names = namesIn(folder);
        return std::none_of(names.begin(), names.end(), [&](const std::string& name) {
            struct stat info {};
            return ::stat((folder + name).c_str(), &info) == 0 && S_ISDIR(info.st_mode);
        });
    });
    if (numbers.empty())
        failKnob("no interrupt of " + call.interface() + " is in use; is the interface up?");
    return numbers;
}

std::string readQueueKnob(const KnobCall& call) {
    return readEach(call, queueFiles(call));
}

void writeQueueKnob(const KnobCall& call, const std::string& value) {
    const Files files = queueFiles(call);
    if (call.member != "flow_cnt")
        return writeEach(files, cpuLists(call, files, value, true));
    std::vector<std::string> values = splitShared(value, files.paths.size(), files.what);
    for (std::string& number : values)
        number = std::to_string(wholeNumber(call, number));
    writeEach(files, values);
}

std::string readIrqAffinity(const KnobCall& call) {
    return readEach(call, interruptFiles(call));
}

void writeIrqAffinity(const KnobCall& call, const std::string& value) {
    const Files files = interruptFiles(call);
    writeEach(files, cpuLists(call, files, value, false));
}

bool sameShared(const std::string& a, const std::string& b) {
    const auto one = words(a);
    const auto other = words(b);
    const std::size_t count = std::max(one.size(), other.size());
    if (one.empty() || other.empty())
        return one.empty() && other.empty();
    if ((one.size() != count && one.size() != 1) || (other.size() != count && other.size() != 1))
        return false;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string left = normalList(std::string(one[one.size() == 1 ? 0 : i]));
        if (left != normalList(std::string(other[other.size() == 1 ? 0 : i])))
            return false;
    }
    return true;
}

std::string affinityMover(const KnobCall& call) {
    return processRuns(call.host, "irqbalance") ? "irqbalance runs on this host" : "";
}

} // namespace knobscope::agent
