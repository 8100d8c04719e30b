// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/knobs.h"

#include "agents/agent/error.h"
#include "agents/agent/kernel/features.h"
#include "agents/agent/kernel/rtlink.h"
#include "agents/agent/kernel/sysctl.h"
#include "agents/agent/kernel/textfile.h"

#include <algorithm>
#include <array>
#include <limits>

namespace knobscope::agent {

namespace {

struct KnobName {
    std::string family; ///< before the colon
    std::string rest;
};

KnobName split(const std::string& name) {
    const auto colon = name.find(':');
    if (colon == std::string::npos)
        return {name, ""};
    return {name.substr(0, colon), name.substr(colon + 1)};
}

[[noreturn]] void fail(const std::string& text) {
    throw AgentError(protocol::errorcode::kKnob, text);
}

[[noreturn]] void failUnknown(const std::string& name) {
    fail("'" + name +
         "' is not a host knob of this agent; it has sysctl:NAME, link:mtu, link:txqueuelen and "
         "feature:NAME");
}

/// Sweeping an offload of the wrong interface would be a silent mistake.
void needInterface(const protocol::KnobTarget& knob) {
    if (knob.interface.empty())
        fail(knob.name + " needs the name of an interface");
}

Features featureGroup(const protocol::KnobTarget& knob, const std::string& feature) {
    // Also tells "no such interface" apart from what ethtool would say.
    (void)readLink(knob.interface);
    Features group = featuresOf(readFeatures(knob.interface), feature);
    if (group.empty())
        fail("interface " + knob.interface + " has no feature named '" + feature +
             "'; use a name of ethtool -K or ethtool -k");
    return group;
}

std::uint32_t linkNumber(const protocol::KnobSetting& setting) {
    const auto value = toNumber(trimmed(setting.value));
    if (!value || *value > std::numeric_limits<std::int32_t>::max())
        fail(setting.name + " takes a whole number, not '" + setting.value + "'");
    return static_cast<std::uint32_t>(*value);
}

std::string numberText(const std::optional<std::uint64_t>& value, const std::string& what) {
    if (!value)
        fail("the kernel does not tell " + what);
    return std::to_string(*value);
}

/// Below 1280 the kernel takes IPv6 off the interface, with its addresses, routes and settings, and
/// does not bring them back with the old MTU.
void keepIpv6(const std::string& interface, std::uint32_t mtu) {
    constexpr std::uint32_t kLeastForIpv6 = 1280;
    if (mtu >= kLeastForIpv6)
        return;
    for (const std::string& address : linkAddresses(interface)) {
        // The kernel makes link-local addresses anew by itself.
        if (address.find(':') != std::string::npos && address.rfind("fe80", 0) != 0)
            fail("MTU " + std::to_string(mtu) + " would remove the IPv6 address " + address +
                 " of " + interface +
                 " for good; use 1280 or more, or remove the address yourself first");
    }
}

} // namespace

std::string readKnob(const protocol::KnobTarget& knob) {
    const auto [family, rest] = split(knob.name);
    if (family == "sysctl")
        return readSysctl(rest);
    if (family == "link" && (rest == "mtu" || rest == "txqueuelen")) {
        needInterface(knob);
        const LinkInfo link = readLink(knob.interface);
        return numberText(rest == "mtu" ? link.mtu : link.txqueuelen,
                          knob.name + " of " + knob.interface);
    }
    if (family == "feature" && !rest.empty()) {
        needInterface(knob);
        return featureValue(featureGroup(knob, rest));
    }
    failUnknown(knob.name);
}

void writeKnob(const protocol::KnobSetting& setting) {
    const protocol::KnobTarget target{setting.name, setting.interface};
    const auto [family, rest] = split(setting.name);
    if (family == "sysctl")
        return writeSysctl(rest, setting.value);
    if (family == "link" && rest == "mtu") {
        needInterface(target);
        const std::uint32_t mtu = linkNumber(setting);
        keepIpv6(setting.interface, mtu);
        return setLinkMtu(setting.interface, mtu);
    }
    if (family == "link" && rest == "txqueuelen") {
        needInterface(target);
        return setLinkTxqueuelen(setting.interface, linkNumber(setting));
    }
    if (family == "feature" && !rest.empty()) {
        needInterface(target);
        const Features group = featureGroup(target, rest);
        return writeFeatures(
            setting.interface,
            featureChanges(group, setting.value, "feature " + rest + " of " + setting.interface));
    }
    failUnknown(setting.name);
}

bool sameKnobValue(const std::string& knob, const std::string& a, const std::string& b) {
    if (split(knob).family == "feature")
        return normalSwitch(folded(a)) == normalSwitch(folded(b));
    const std::vector<std::string_view> left = words(a);
    const std::vector<std::string_view> right = words(b);
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](std::string_view one, std::string_view other) {
                          const auto number = toNumber(one);
                          return one == other || (number && number == toNumber(other));
                      });
}

int knobRank(const std::string& knob) {
    constexpr std::array<std::string_view, 10> kOrder{"channels", "ring",     "pause", "link",
                                                      "feature",  "coalesce", "rss",   "irq",
                                                      "sysfs",    "command"};
    const auto [family, rest] = split(knob);
    const auto place = std::find(kOrder.begin(), kOrder.end(), family);
    return static_cast<int>(place - kOrder.begin()); // sysctls come after all of them
}

} // namespace knobscope::agent
