// SPDX-License-Identifier: GPL-3.0-or-later
// Knobs that are bits of the device: features, private flags of drivers, FEC.
#include "agents/agent/kernel/ethtool.h"
#include "agents/agent/kernel/ethtoolnetlink.h"
#include "agents/agent/kernel/features.h"
#include "agents/agent/kernel/knobfamily.h"
#include "agents/agent/kernel/textfile.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>

namespace knobscope::agent {

namespace {

Features featureGroup(const KnobCall& call) {
    Features group = featuresOf(readFeatures(call.interface()), call.member);
    if (group.empty())
        failKnob("interface " + call.interface() + " has no feature named '" + call.member +
                 "'; use a name of ethtool -K or ethtool -k");
    return group;
}

using Flags = std::vector<NamedBit>;

Flags privateFlags(const KnobCall& call) {
    try {
        const std::string answer =
            EthtoolNetlink(call.interface()).askOne(ETHTOOL_MSG_PRIVFLAGS_GET);
        return parseBitset(NetlinkAttributes(answer).nest(ETHTOOL_A_PRIVFLAGS_FLAGS));
    } catch (const NetlinkError& error) {
        if (!lacksNetlink(error))
            failKnob("cannot read " + call.what() + ": " + error.what());
        Flags flags;
        for (auto& [name, on] : EthtoolIoctl(call.interface()).privateFlags())
            flags.push_back({name, on});
        if (flags.empty())
            failUnsupported(call, "the driver has no private flags");
        return flags;
    }
}

struct FecWord {
    std::string_view name;
    std::uint32_t bit;
};
constexpr std::array kFecWords{
    FecWord{"none", ETHTOOL_FEC_NONE},   FecWord{"auto", ETHTOOL_FEC_AUTO},
    FecWord{"off", ETHTOOL_FEC_OFF},     FecWord{"rs", ETHTOOL_FEC_RS},
    FecWord{"baser", ETHTOOL_FEC_BASER}, FecWord{"llrs", ETHTOOL_FEC_LLRS},
};

[[noreturn]] void failFec(const KnobCall& call, const std::string& doing, int error) {
    if (error == EOPNOTSUPP)
        failUnsupported(call, std::strerror(error));
    failKnob(errnoText(doing + call.what(), error));
}

} // namespace

std::string readFeatureKnob(const KnobCall& call) {
    return featureValue(featureGroup(call));
}

void writeFeatureKnob(const KnobCall& call, const std::string& value) {
    writeFeatures(call.interface(),
                  featureChanges(featureGroup(call), value,
                                 "feature " + call.member + " of " + call.interface()));
}

std::string readPrivateFlag(const KnobCall& call) {
    std::string known;
    for (const NamedBit& flag : privateFlags(call)) {
        if (flag.name == call.member)
            return switchText(flag.set);
        known += (known.empty() ? "" : ", ") + flag.name;
    }
    failUnsupported(call, known.empty() ? "the driver has no private flags"
                                        : "its private flags are " + known);
}

void writePrivateFlag(const KnobCall& call, const std::string& value) {
    const bool on = switchValue(call, value);
    (void)readPrivateFlag(call); // says which there are, when this is none
    int result = 0;
    std::string words;
    try {
        EthtoolNetlink netlink(call.interface());
        NetlinkBody body = netlink.request(ETHTOOL_MSG_PRIVFLAGS_SET);
        putBitset(body, ETHTOOL_A_PRIVFLAGS_FLAGS, {{call.member, on}});
        (void)netlink.ask(body);
    } catch (const NetlinkError& error) {
        result = error.error();
        words = error.what();
        if (lacksNetlink(error)) {
            result = EthtoolIoctl(call.interface()).setPrivateFlag(call.member, on);
            if (result != error.error())
                words = std::strerror(result);
        }
    }
    if (result != 0)
        failKnob("the kernel refuses '" + value + "' for " + call.what() + ": " + words);
}

std::string readFec(const KnobCall& call) {
    ethtool_fecparam request{};
    request.cmd = ETHTOOL_GFECPARAM;
    if (const int result = EthtoolIoctl(call.interface()).call(&request); result < 0)
        failFec(call, "cannot read ", -result);
    std::string text;
    for (const FecWord& word : kFecWords) {
        if (request.fec & word.bit)
            text += (text.empty() ? "" : " ") + std::string(word.name);
    }
    return text.empty() ? "none" : text;
}

void writeFec(const KnobCall& call, const std::string& value) {
    ethtool_fecparam request{};
    request.cmd = ETHTOOL_SFECPARAM;
    for (const std::string_view given : words(value)) {
        const std::uint32_t before = request.fec;
        for (const FecWord& word : kFecWords) {
            if (word.name == given)
                request.fec |= word.bit;
        }
        if (request.fec == before)
            failKnob(call.name() + " takes auto, off, rs, baser or llrs, not '" + value + "'");
    }
    if (request.fec == 0)
        failKnob(call.name() + " takes auto, off, rs, baser or llrs");
    if (const int result = EthtoolIoctl(call.interface()).call(&request); result < 0)
        failFec(call, "the kernel refuses '" + value + "' for ", -result);
}

} // namespace knobscope::agent
