// SPDX-License-Identifier: GPL-3.0-or-later
// What a person can type to give a knob a value, for all families.
#include "agents/agent/kernel/cpulist.h"
#include "agents/agent/kernel/knobs.h"
#include "agents/agent/kernel/rss.h"
#include "agents/agent/kernel/textfile.h"

#include <algorithm>
#include <array>

namespace knobscope::agent {

namespace {

/// As one word of the shell.
std::string quoted(const std::string& text) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,+-=@%";
    if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos)
        return text;
    std::string result = "'";
    for (const char c : text)
        result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

std::string echo(const std::string& value, const std::string& path) {
    return "echo " + quoted(value) + " > " + quoted(path);
}

using Builder = std::string (*)(const KnobCall& call, const std::string& value);

std::string sysctlCommand(const KnobCall& call, const std::string& value) {
    return "sysctl -w " + quoted(call.member + "=" + value);
}

std::string linkCommand(const KnobCall& call, const std::string& value) {
    const std::string device = quoted(call.interface());
    if (call.member != "speed")
        return "ip link set dev " + device + " " + call.member + " " + value;
    const std::string start = "ethtool -s " + device + " autoneg ";
    if (const auto open = value.find('('); open != std::string::npos) {
        std::string modes;
        for (const std::string_view mode :
             words(std::string_view(value).substr(open + 1, value.size() - open - 2)))
            modes += " " + std::string(mode) + " on";
        return start + "on advertise" + modes;
    }
    const auto all = words(value);
    if (all.empty() || all.front() == "auto")
        return start + "on" + (all.size() > 1 ? " speed " + std::string(all[1]) : "");
    return start + "off speed " + std::string(all.front()) + " duplex " +
           std::string(all.size() > 1 ? all[1] : "full");
}

/// A group with some members on has them listed: "on (tx-tcp-segmentation)".
std::string featureCommand(const KnobCall& call, const std::string& value) {
    std::string command = "ethtool -K " + quoted(call.interface()) + " " + call.member;
    const auto open = value.find('(');
    if (open == std::string::npos)
        return command + " " + value;
    command += " off";
    for (const std::string_view name :
         words(std::string_view(value).substr(open + 1, value.size() - open - 2)))
        command += " " + std::string(name) + " on";
    return command;
}

std::string privateCommand(const KnobCall& call, const std::string& value) {
    return "ethtool --set-priv-flags " + quoted(call.interface()) + " " + quoted(call.member) +
           " " + value;
}

std::string ethtoolCommand(const KnobCall& call, const std::string& value) {
    constexpr std::array<std::pair<std::string_view, const char*>, 6> kOptions{
        {{"coalesce", "-C"},
         {"ring", "-G"},
         {"channels", "-L"},
         {"pause", "-A"},
         {"eee", "--set-eee"},
         {"fec", "--set-fec"}}};
    std::string command = "ethtool";
    for (const auto& [prefix, option] : kOptions) {
        if (call.name().starts_with(std::string(prefix) + ":"))
            command += std::string(" ") + option;
    }
    const std::string setting = call.name() == "eee:enabled" ? "eee"
                                : call.name() == "fec:mode"  ? "encoding"
                                                             : call.member;
    return command + " " + quoted(call.interface()) + " " + setting + " " + value;
}

/// ethtool has no way to give a table entry by entry; the shares of the queues are what it can.
std::string rssCommand(const KnobCall& call, const std::string& value) {
    const std::string command = "ethtool -X " + quoted(call.interface()) + " ";
    if (call.member != "table")
        return command + (call.member == "key" ? "hkey " : "hfunc ") + value;
    const auto entries = parseRssTable(value, words(value).size());
    if (value.find_first_not_of("0123456789 ") != std::string::npos || !entries)
        return command + value;
    std::vector<std::size_t> shares(*std::max_element(entries->begin(), entries->end()) + 1);
    for (const std::uint32_t queue : *entries)
        ++shares[queue];
    std::string weights = "weight";
    for (const std::size_t share : shares)
        weights += " " + std::to_string(share);
    return command + weights;
}

std::string qdiscCommand(const KnobCall& call, const std::string& value) {
    const std::string device = quoted(call.interface());
    if (value.starts_with("default"))
        return "tc qdisc del dev " + device + " root";
    return "tc qdisc replace dev " + device + " root " + value;
}

/// One value for all files, or one a file.
template<typename PathOf>
std::string echoEach(const std::string& value, const std::string& pattern, PathOf pathOf) {
    const auto values = words(value);
    if (values.size() == 1)
        return "for f in " + pattern + "; do " + "echo " + quoted(std::string(values.front())) +
               " > $f; done";
    std::string command;
    for (std::size_t i = 0; i < values.size(); ++i)
        command +=
            (i == 0 ? "echo " : "; echo ") + quoted(std::string(values[i])) + " > " + pathOf(i);
    return command;
}

std::string queueCommand(const KnobCall& call, const std::string& value) {
    const bool sends = call.name().starts_with("xps");
    const std::string start =
        "/sys/class/net/" + quoted(call.interface()) + "/queues/" + (sends ? "tx-" : "rx-");
    const std::string file = std::string(sends ? "/xps_" : "/rps_") + call.member;
    std::string masks;
    for (const std::string_view list : words(value)) {
        const auto cpus = parseCpuList(list);
        masks += (masks.empty() ? "" : " ") +
                 (call.member == "cpus" && cpus ? cpuMaskText(*cpus) : std::string(list));
    }
    return echoEach(masks, start + "*" + file,
                    [&](std::size_t i) { return start + std::to_string(i) + file; });
}

std::string irqCommand(const KnobCall& call, const std::string& value) {
    const std::string file = "/smp_affinity_list";
    if (call.member != "affinity")
        return echo(value, "/proc/irq/" + call.member + file);
    const std::vector<std::string> numbers = interruptsOf(call);
    std::string pattern;
    for (const std::string& number : numbers)
        pattern += (pattern.empty() ? "/proc/irq/" : " /proc/irq/") + number + file;
    return echoEach(value, pattern,
                    [&](std::size_t i) { return "/proc/irq/" + numbers.at(i) + file; });
}

std::string cpuCommand(const KnobCall& call, const std::string& value) {
    const std::string folder = "/sys/devices/system/cpu/";
    if (call.member == "governor")
        return echoEach(value, folder + "cpufreq/policy*/scaling_governor", [&](std::size_t i) {
            const auto policies = namesIn(call.host.sys + "/devices/system/cpu/cpufreq");
            return folder + "cpufreq/" + policies.at(i) + "/scaling_governor";
        });
    if (call.member == "latency")
        return {}; // it ends with the process that has set it
    const bool intel =
        readLine(call.host.sys + "/devices/system/cpu/intel_pstate/no_turbo").has_value();
    const bool on = value == "on";
    return echo(on != intel ? "1" : "0",
                folder + (intel ? "intel_pstate/no_turbo" : "cpufreq/boost"));
}

std::string napiCommand(const KnobCall& call, const std::string& value) {
    const std::string folder = "/sys/class/net/" + call.interface() + "/";
    if (call.member == "threaded")
        return echo(value == "on" ? "1" : "0", folder + "threaded");
    return echo(value, folder + (call.member == "gro_flush_timeout" ? "" : "napi_") + call.member);
}

std::string moduleCommand(const KnobCall& call, const std::string& value) {
    const auto slash = call.member.find('/');
    std::string module = call.member.substr(0, slash);
    std::replace(module.begin(), module.end(), '-', '_');
    return echo(value, "/sys/module/" + module + "/parameters/" +
                           (slash == std::string::npos ? "" : call.member.substr(slash + 1)));
}

std::string sysfsCommand(const KnobCall& call, const std::string& value) {
    return echo(value, call.member.starts_with("/sys/") ? call.member : "/sys/" + call.member);
}

std::string userCommand(const KnobCall& call, const std::string& value) {
    if (!call.target.commands)
        return {};
    const protocol::KnobCommands& commands = *call.target.commands;
    return "VALUE=" + quoted(value) + " INTERFACE=" + quoted(call.interface()) + " sh -c " +
           quoted(commands.restore.empty() ? commands.set : commands.restore);
}

constexpr std::array<std::pair<std::string_view, Builder>, 20> kBuilders{{
    {"sysctl", sysctlCommand},    {"link", linkCommand},     {"feature", featureCommand},
    {"private", privateCommand},  {"ring", ethtoolCommand},  {"channels", ethtoolCommand},
    {"coalesce", ethtoolCommand}, {"pause", ethtoolCommand}, {"eee", ethtoolCommand},
    {"fec", ethtoolCommand},      {"rss", rssCommand},       {"qdisc", qdiscCommand},
    {"rps", queueCommand},        {"xps", queueCommand},     {"irq", irqCommand},
    {"cpu", cpuCommand},          {"napi", napiCommand},     {"module", moduleCommand},
    {"sysfs", sysfsCommand},      {"command", userCommand},
}};

} // namespace

std::string knobCommand(KnobHost& host, const protocol::KnobTarget& knob,
                        const std::string& value) {
    const auto colon = std::min(knob.name.find(':'), knob.name.size());
    const std::string prefix = knob.name.substr(0, colon);
    const KnobCall call{host, knob, knob.name.substr(std::min(colon + 1, knob.name.size()))};
    try {
        for (const auto& [name, builder] : kBuilders) {
            if (name == prefix)
                return builder(call, value);
        }
    } catch (const std::exception&) {
        // The interrupts of an interface that is gone, for example.
    }
    return {};
}

} // namespace knobscope::agent
