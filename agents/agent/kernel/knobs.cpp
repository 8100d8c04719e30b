// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/knobs.h"

#include "agents/agent/kernel/ethtool.h"
#include "agents/agent/kernel/features.h"
#include "agents/agent/kernel/rtlink.h"
#include "agents/agent/kernel/textfile.h"

#include <algorithm>

namespace knobscope::agent {

namespace {

std::string prefixOf(const std::string& name) {
    return name.substr(0, name.find(':'));
}

std::string memberOf(const std::string& name) {
    const auto colon = name.find(':');
    return colon == std::string::npos ? std::string() : name.substr(colon + 1);
}

/// Null when there is no such knob.
const KnobFamily* familyOf(const std::string& name) {
    const std::string prefix = prefixOf(name);
    const std::string member = memberOf(name);
    for (const KnobFamily& family : knobFamilies()) {
        const auto members = words(family.members);
        if (family.prefix == prefix && !member.empty() &&
            (members.empty() || std::find(members.begin(), members.end(), member) != members.end()))
            return &family;
    }
    return nullptr;
}

[[noreturn]] void failUnknown(const std::string& name) {
    std::string known;
    std::string members;
    for (const KnobFamily& family : knobFamilies()) {
        const std::string prefix(family.prefix);
        if (prefix == prefixOf(name)) {
            for (const std::string_view member : family.members.empty()
                                                     ? std::vector<std::string_view>{"NAME"}
                                                     : words(family.members))
                members += (members.empty() ? "" : ", ") + prefix + ":" + std::string(member);
        }
        if (known.find(prefix + ":") == std::string::npos)
            known += (known.empty() ? "" : ", ") + prefix + ":";
    }
    failKnob("'" + name + "' is not a host knob of this agent; it has " +
             (members.empty() ? "those of the families " + known : members));
}

const KnobFamily& needFamily(const protocol::KnobTarget& knob) {
    const KnobFamily* family = familyOf(knob.name);
    if (!family)
        failUnknown(knob.name);
    // Sweeping an offload of the wrong interface would be a silent mistake.
    if (family->interface && knob.interface.empty())
        failKnob(knob.name + " needs the name of an interface");
    if (family->interface)
        (void)readLink(knob.interface); // says that there is none, before ethtool says it worse
    return *family;
}

} // namespace

std::string KnobCall::what() const {
    return name() + (interface().empty() ? "" : " of " + interface());
}

void failUnsupported(const KnobCall& call, const std::string& words) {
    std::string driver;
    try {
        if (const auto known = EthtoolIoctl(call.interface()).driver())
            driver = " (driver " + known->name + ")";
    } catch (const AgentError&) {
        // The name of the driver is only a help.
    }
    throw KnobUnsupported(call.what() + " is not supported by this interface" + driver + ": " +
                          words);
}

std::string interfaceFolder(const KnobCall& call) {
    std::string folder = call.host.sys + "/class/net/" + call.interface();
    if (readLine(folder + "/ifindex") != std::to_string(readLink(call.interface()).index))
        failKnob(call.what() + " cannot be seen: " + call.host.sys +
                 " shows the interfaces of another network namespace");
    return folder;
}

std::uint64_t wholeNumber(const KnobCall& call, const std::string& value, std::uint64_t maximum) {
    const auto number = toNumber(trimmed(value));
    if (!number || *number > maximum)
        failKnob(call.name() + " takes a whole number" +
                 (number ? " up to " + std::to_string(maximum) : "") + ", not '" + value + "'");
    return *number;
}

bool switchValue(const KnobCall& call, const std::string& value) {
    const std::string text = normalSwitch(value);
    if (text != "on" && text != "off")
        failKnob(call.name() + " takes on or off, not '" + value + "'");
    return text == "on";
}

bool sameSwitch(const std::string& a, const std::string& b) {
    return normalSwitch(folded(a)) == normalSwitch(folded(b));
}

bool sameWords(const std::string& a, const std::string& b) {
    const std::vector<std::string_view> left = words(a);
    const std::vector<std::string_view> right = words(b);
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](std::string_view one, std::string_view other) {
                          const auto number = toNumber(one);
                          return one == other || (number && number == toNumber(other));
                      });
}

std::string readKnob(KnobHost& host, const protocol::KnobTarget& knob) {
    return needFamily(knob).read({host, knob, memberOf(knob.name)});
}

void writeKnob(KnobHost& host, const protocol::KnobTarget& knob, const std::string& value) {
    needFamily(knob).write({host, knob, memberOf(knob.name)}, value);
}

void restoreKnob(KnobHost& host, const protocol::KnobTarget& knob, const std::string& original) {
    const KnobFamily& family = needFamily(knob);
    (family.restore ? family.restore : family.write)({host, knob, memberOf(knob.name)}, original);
}

bool sameKnobValue(const std::string& knob, const std::string& a, const std::string& b) {
    const KnobFamily* family = familyOf(knob);
    return (family && family->same ? family->same : sameWords)(a, b);
}

bool meetsKnobValue(const std::string& knob, const std::string& asked, const std::string& has) {
    const KnobFamily* family = familyOf(knob);
    return family && family->meets ? family->meets(asked, has) : sameKnobValue(knob, asked, has);
}

bool canPutBack(const std::string& knob, const std::string& value) {
    const KnobFamily* family = familyOf(knob);
    return !family || !family->restorable || family->restorable(value);
}

std::string knobMover(KnobHost& host, const protocol::KnobTarget& knob) {
    const KnobFamily* family = familyOf(knob.name);
    return family && family->mover ? family->mover({host, knob, memberOf(knob.name)}) : "";
}

int knobRank(const std::string& knob) {
    const KnobFamily* family = familyOf(knob);
    return family ? family->rank : 0;
}

int knobUndoRank(const std::string& knob) {
    const KnobFamily* family = familyOf(knob);
    return family && family->undo_rank != 0 ? family->undo_rank : knobRank(knob);
}

bool knobNeedsInterface(const std::string& knob) {
    const KnobFamily* family = familyOf(knob);
    return family && family->interface;
}

bool restoresMore(const std::string& knob) {
    const KnobFamily* family = familyOf(knob);
    return family && family->restores_more;
}

LinkEffect knobLinkEffect(const std::string& knob) {
    const KnobFamily* family = familyOf(knob);
    return family ? family->link : LinkEffect::None;
}

std::vector<std::string> knobsReset(const std::string& knob) {
    const KnobFamily* family = familyOf(knob);
    const auto names = words(family ? family->resets : std::string_view());
    return {names.begin(), names.end()};
}

std::vector<std::string> knobNames() {
    std::vector<std::string> names;
    for (const KnobFamily& family : knobFamilies()) {
        const std::string prefix = std::string(family.prefix) + ":";
        for (const std::string_view member : words(family.members))
            names.push_back(prefix + std::string(member));
        if (family.members.empty())
            names.push_back(prefix);
    }
    return names;
}

} // namespace knobscope::agent
