// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/environment.h"

#include "agents/agent/error.h"
#include "agents/agent/kernel/ethtool.h"
#include "agents/agent/kernel/ethtoolnetlink.h"
#include "agents/agent/kernel/rtlink.h"
#include "agents/agent/kernel/snapshot.h"
#include "agents/agent/kernel/textfile.h"

namespace knobscope::agent {

namespace {

void putNumber(Facts& facts, const char* name, const std::optional<std::uint64_t>& value) {
    if (value)
        facts[name] = std::to_string(*value);
}

/// /sys shows the interfaces of the namespace in which it was mounted, which may be another one:
/// believe it only when the interface has the same number there.
std::optional<std::string> readOwnSysfs(const LinkInfo& link, const std::string& file) {
    const std::string folder = "/sys/class/net/" + link.name + "/";
    if (readLine(folder + "ifindex") != std::to_string(link.index))
        return std::nullopt;
    return readLine(folder + file);
}

void addLinkFacts(const LinkInfo& link, Facts& facts) {
    putNumber(facts, "link.mtu", link.mtu);
    putNumber(facts, "link.txqueuelen", link.txqueuelen);
    putNumber(facts, "link.gso_max_size", link.gso_max_size);
    putFact(facts, "link.qdisc", link.qdisc);
    if (link.carrier)
        facts["link.carrier"] = *link.carrier ? "up" : "down";
    std::string addresses;
    for (const std::string& address : linkAddresses(link.name))
        addresses += (addresses.empty() ? "" : " ") + address;
    putFact(facts, "link.address", addresses);
    const auto node = readOwnSysfs(link, "device/numa_node");
    if (node && *node != "-1") // -1: the machine does not tell
        facts["nic.numa_node"] = *node;
}

void addNicFacts(const EthtoolIoctl& ethtool, Facts& facts) {
    if (const auto driver = ethtool.driver()) {
        putFact(facts, "nic.driver", driver->name);
        putFact(facts, "nic.driver_version", driver->version);
        putFact(facts, "nic.firmware", driver->firmware);
        putFact(facts, "nic.bus", driver->bus);
    }
    const EthtoolIoctl::Link link = ethtool.link();
    if (link.speed_mbit)
        facts["link.speed_mbit"] = std::to_string(*link.speed_mbit);
    putFact(facts, "link.duplex", link.duplex);
}

void addFeatureFacts(const Features& all, Facts& facts) {
    const auto add = [&](const std::string& name, const Features& group) {
        if (group.empty())
            return;
        bool on = false;
        for (const Feature& feature : group)
            on = on || feature.active;
        facts["feature." + name] =
            std::string(on ? "on" : "off") + (isFixed(group) ? " (fixed)" : "");
    };
    for (const Feature& feature : all)
        add(feature.name, {feature});
    for (const std::string& name : featureShortNames())
        add(name, featuresOf(all, name));
}

/// Runs one part of the sheet; what it cannot tell stays absent.
template<typename Part>
void attempt(Part part) {
    try {
        part();
    } catch (const AgentError&) {
        // Absent facts say so.
    }
}

} // namespace

void addInterfaceFacts(const std::string& interface, Facts& facts) {
    attempt([&] { addLinkFacts(readLink(interface), facts); });
    attempt([&] { addFeatureFacts(readFeatures(interface), facts); });
    attempt([&] {
        const EthtoolIoctl ethtool(interface);
        addNicFacts(ethtool, facts);
        Facts settings;
        try {
            settings = EthtoolNetlink(interface).settings();
        } catch (const NetlinkError&) {
            settings = ethtool.settings();
        }
        facts.merge(settings);
    });
}

protocol::Environment readEnvironment(const std::string& interface) {
    protocol::Environment environment;
    addHostFacts(environment.facts);
    attempt([&] { environment.interfaces = linkNames(); });
    if (!interface.empty())
        addInterfaceFacts(interface, environment.facts);
    return environment;
}

} // namespace knobscope::agent
