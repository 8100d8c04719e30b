// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/features.h"

#include "agents/agent/error.h"
#include "agents/agent/kernel/ethtool.h"
#include "agents/agent/kernel/ethtoolnetlink.h"
#include "agents/agent/kernel/netlink.h"
#include "agents/agent/kernel/textfile.h"

#include <algorithm>
#include <array>
#include <cerrno>

namespace knobscope::agent {

namespace {

/// The names of ethtool -K and ethtool -k. In a pattern, one '*' stands for any text.
struct Alias {
    std::string_view short_name;
    std::string_view long_name;
    std::string_view pattern;
};
constexpr std::array kAliases{
    Alias{"rx", "rx-checksumming", "rx-checksum"},
    Alias{"tx", "tx-checksumming", "tx-checksum-*"},
    Alias{"sg", "scatter-gather", "tx-scatter-gather*"},
    Alias{"tso", "tcp-segmentation-offload", "tx-tcp*-segmentation"},
    Alias{"ufo", "udp-fragmentation-offload", "tx-udp-fragmentation"},
    Alias{"gso", "generic-segmentation-offload", "tx-generic-segmentation"},
    Alias{"gro", "generic-receive-offload", "rx-gro"},
    Alias{"lro", "large-receive-offload", "rx-lro"},
    Alias{"rxvlan", "rx-vlan-offload", "rx-vlan-hw-parse"},
    Alias{"txvlan", "tx-vlan-offload", "tx-vlan-hw-insert"},
    Alias{"ntuple", "ntuple-filters", "rx-ntuple-filter"},
    Alias{"rxhash", "receive-hashing", "rx-hashing"},
};

bool matches(std::string_view pattern, std::string_view name) {
    const auto star = pattern.find('*');
    if (star == std::string_view::npos)
        return pattern == name;
    const std::string_view before = pattern.substr(0, star);
    const std::string_view after = pattern.substr(star + 1);
    return name.size() >= before.size() + after.size() && name.starts_with(before) &&
           name.ends_with(after);
}

[[noreturn]] void fail(const std::string& text) {
    throw AgentError(protocol::errorcode::kKnob, text);
}

} // namespace

Features featuresOf(const Features& all, const std::string& name) {
    std::string_view pattern = name;
    for (const Alias& alias : kAliases)
        if (name == alias.short_name || name == alias.long_name)
            pattern = alias.pattern;
    Features group;
    if (pattern == name && name.find('*') != std::string::npos)
        return group;
    std::copy_if(all.begin(), all.end(), std::back_inserter(group),
                 [&](const Feature& feature) { return matches(pattern, feature.name); });
    return group;
}

bool isFixed(const Features& group) {
    return std::none_of(group.begin(), group.end(),
                        [](const Feature& feature) { return feature.changeable; });
}

std::string featureValue(const Features& group) {
    const bool fixed = isFixed(group);
    std::string names;
    bool some_on = false;
    bool some_off = false;
    for (const Feature& feature : group) {
        if (!fixed && !feature.changeable)
            continue;
        (feature.active ? some_on : some_off) = true;
        if (feature.active)
            names += (names.empty() ? "" : " ") + feature.name;
    }
    if (!some_on)
        return "off";
    return fixed || !some_off ? "on" : "on (" + names + ")";
}

std::string normalSwitch(const std::string& value) {
    std::string text(trimmed(value));
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (text == "1" || text == "true" || text == "yes")
        return "on";
    if (text == "0" || text == "false" || text == "no")
        return "off";
    return text;
}

std::map<std::string, bool> featureChanges(const Features& group, const std::string& value,
                                           const std::string& what) {
    const std::string wanted = normalSwitch(value);
    std::vector<std::string_view> listed;
    const bool list = wanted.starts_with("on (") && wanted.ends_with(")");
    if (list)
        listed = words(std::string_view(wanted).substr(4, wanted.size() - 5));
    else if (wanted != "on" && wanted != "off")
        fail(what + " takes on or off, not '" + value + "'");
    for (const std::string_view name : listed)
        if (std::none_of(group.begin(), group.end(),
                         [&](const Feature& feature) { return feature.name == name; }))
            fail(what + " has no part named '" + std::string(name) + "' on this interface");

    const bool fixed = isFixed(group);
    std::map<std::string, bool> changes;
    for (const Feature& feature : group) {
        const bool on = list ? std::find(listed.begin(), listed.end(), feature.name) != listed.end()
                             : wanted == "on";
        if (feature.changeable)
            changes[feature.name] = on;
        else if (feature.active != on && (fixed || (list && on)))
            fail(what + " is fixed on this device: it is always " +
                 (feature.active ? "on" : "off"));
    }
    return changes;
}

std::vector<std::string> featureShortNames() {
    std::vector<std::string> names;
    for (const Alias& alias : kAliases)
        names.emplace_back(alias.short_name);
    return names;
}

Features readFeatures(const std::string& interface) {
    try {
        return EthtoolNetlink(interface).features();
    } catch (const NetlinkError& error) {
        if (lacksNetlink(error))
            return readFeaturesByIoctl(interface);
        fail("cannot read the features of " + interface + ": " + error.what());
    }
}

void writeFeatures(const std::string& interface, const std::map<std::string, bool>& changes) {
    try {
        EthtoolNetlink(interface).setFeatures(changes);
    } catch (const NetlinkError& error) {
        if (lacksNetlink(error))
            return writeFeaturesByIoctl(interface, changes);
        fail("the kernel refuses to change features of " + interface + ": " + error.what());
    }
}

Features readFeaturesByIoctl(const std::string& interface) {
    return EthtoolIoctl(interface).features();
}

void writeFeaturesByIoctl(const std::string& interface,
                          const std::map<std::string, bool>& changes) {
    EthtoolIoctl(interface).setFeatures(changes);
}

} // namespace knobscope::agent
