// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/environment.h"

#include "agents/agent/error.h"
#include "agents/agent/kernel/ethtool.h"
#include "agents/agent/kernel/ethtoolsettings.h"
#include "agents/agent/kernel/knobs.h"
#include "agents/agent/kernel/rtlink.h"
#include "agents/agent/kernel/snapshot.h"
#include "agents/agent/kernel/textfile.h"

#include <algorithm>

namespace knobscope::agent {

namespace {

/// /sys shows the interfaces of the namespace in which it was mounted, which may be another one:
/// believe it only when the interface has the same number there.
std::optional<std::string> readOwnSysfs(const LinkInfo& link, const std::string& file) {
    const std::string folder = "/sys/class/net/" + link.name + "/";
    if (readLine(folder + "ifindex") != std::to_string(link.index))
        return std::nullopt;
    return readLine(folder + file);
}

void addLinkFacts(const LinkInfo& link, Facts& facts) {
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

/// Every knob that does not depend on the host, as it is now: "qdisc:root" is "qdisc.root".
void addKnobFacts(const std::string& interface, Facts& facts) {
    KnobHost host;
    for (const std::string& name : knobNames()) {
        std::string fact = name;
        std::replace(fact.begin(), fact.end(), ':', '.');
        if (fact.ends_with('.') || facts.contains(fact) ||
            knobNeedsInterface(name) == interface.empty() || isEthtoolSetting(name))
            continue;
        attempt([&] { putFact(facts, fact, readKnob(host, {name, interface})); });
    }
}

} // namespace

void addInterfaceFacts(const std::string& interface, Facts& facts) {
    attempt([&] { addLinkFacts(readLink(interface), facts); });
    attempt([&] { addFeatureFacts(readFeatures(interface), facts); });
    attempt([&] {
        const EthtoolIoctl ethtool(interface);
        addNicFacts(ethtool, facts);
        facts.merge(ethtoolFacts(interface));
        for (const auto& [name, on] : ethtool.privateFlags())
            facts["private." + name] = on ? "on" : "off";
    });
    addKnobFacts(interface, facts);
}

protocol::Environment readEnvironment(const std::string& interface) {
    protocol::Environment environment;
    addHostFacts(environment.facts);
    addKnobFacts({}, environment.facts);
    attempt([&] { environment.interfaces = linkNames(); });
    if (!interface.empty())
        addInterfaceFacts(interface, environment.facts);
    return environment;
}

} // namespace knobscope::agent
