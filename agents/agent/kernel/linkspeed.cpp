// SPDX-License-Identifier: GPL-3.0-or-later
// link:speed: what the two ends may negotiate, or a fixed speed.
//
// "auto" offers all that the device can; "auto 1000" only modes of that speed (Mbit/s); "100 half"
// fixes speed and duplex without negotiation ("1000" is full duplex). An offer that is none of
// these reads as "auto (1000baseT/Full 100baseT/Full)", so that it can be put back. A fixed speed
// of a link that is down is not told: "fixed, but the link is down".
#include "agents/agent/kernel/ethtoolnetlink.h"
#include "agents/agent/kernel/knobfamily.h"
#include "agents/agent/kernel/textfile.h"

#include <algorithm>
#include <cerrno>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <set>

namespace knobscope::agent {

namespace {

struct LinkSpeed {
    bool negotiate = false;
    std::optional<std::uint32_t> mbit;
    std::optional<std::string> duplex; ///< "full", "half"
    std::set<std::string> modes;       ///< offered, where they are listed
};

std::optional<LinkSpeed> parseSpeed(std::string_view text) {
    LinkSpeed speed;
    text = trimmed(text);
    if (const auto open = text.find('('); open != std::string_view::npos) {
        if (!text.ends_with(')'))
            return std::nullopt;
        for (const std::string_view mode : words(text.substr(open + 1, text.size() - open - 2)))
            speed.modes.emplace(mode);
        text = text.substr(0, open);
    }
    for (const std::string_view word : words(text)) {
        if (word == "auto" && !speed.negotiate && !speed.mbit)
            speed.negotiate = true;
        else if (const auto mbit = toNumber(word);
                 mbit && !speed.mbit && *mbit < SPEED_UNKNOWN + 0U)
            speed.mbit = static_cast<std::uint32_t>(*mbit);
        else if ((word == "full" || word == "half") && speed.mbit && !speed.duplex)
            speed.duplex = word;
        else
            return std::nullopt;
    }
    if (!speed.negotiate && (!speed.mbit || !speed.modes.empty()))
        return std::nullopt;
    if (!speed.negotiate && !speed.duplex)
        speed.duplex = "full";
    return speed;
}

/// Modes of the link among the bits, which also have pause, FEC and the kinds of port.
bool isLinkMode(const std::string& bit) {
    return bit.find("base") != std::string::npos;
}

std::string readAnswer(const KnobCall& call) {
    try {
        return EthtoolNetlink(call.interface()).askOne(ETHTOOL_MSG_LINKMODES_GET);
    } catch (const NetlinkError& error) {
        if (error.error() == ENOENT)
            failKnob(call.name() + " needs Linux 5.6 or later on this host");
        if (error.error() == EOPNOTSUPP)
            failUnsupported(call, error.what());
        failKnob("cannot read " + call.what() + ": " + error.what());
    }
}

std::vector<NamedBit> linkModes(const NetlinkAttributes& answer) {
    std::vector<NamedBit> modes = parseBitset(answer.nest(ETHTOOL_A_LINKMODES_OURS));
    std::erase_if(modes, [](const NamedBit& bit) { return !isLinkMode(bit.name); });
    return modes;
}

} // namespace

std::string readLinkSpeed(const KnobCall& call) {
    const std::string bytes = readAnswer(call);
    const NetlinkAttributes answer(bytes);
    if (answer.number(ETHTOOL_A_LINKMODES_AUTONEG).value_or(0) != 0) {
        std::string offered;
        bool all = true;
        for (const NamedBit& mode : linkModes(answer)) {
            all = all && mode.set;
            if (mode.set)
                offered += (offered.empty() ? "" : " ") + mode.name;
        }
        return all ? "auto" : "auto (" + offered + ")";
    }
    const auto mbit = answer.number(ETHTOOL_A_LINKMODES_SPEED);
    if (!mbit || *mbit == 0 || *mbit >= SPEED_UNKNOWN + 0U)
        return "fixed, but the link is down";
    const bool half = answer.number(ETHTOOL_A_LINKMODES_DUPLEX) == std::uint64_t{DUPLEX_HALF};
    return std::to_string(*mbit) + (half ? " half" : " full");
}

void writeLinkSpeed(const KnobCall& call, const std::string& value) {
    const auto wanted = parseSpeed(value);
    if (!wanted)
        failKnob(call.name() + " takes auto, auto 1000, 1000 or 100 half (Mbit/s), not '" + value +
                 "'");
    const std::string bytes = readAnswer(call);
    try {
        EthtoolNetlink netlink(call.interface());
        NetlinkBody body = netlink.request(ETHTOOL_MSG_LINKMODES_SET);
        body.putU8(ETHTOOL_A_LINKMODES_AUTONEG, wanted->negotiate ? 1 : 0);
        if (wanted->mbit) {
            body.putU32(ETHTOOL_A_LINKMODES_SPEED, *wanted->mbit);
        } else {
            std::map<std::string, bool> offer;
            for (const NamedBit& mode : linkModes(NetlinkAttributes(bytes)))
                offer[mode.name] = wanted->modes.empty() || wanted->modes.contains(mode.name);
            putBitset(body, ETHTOOL_A_LINKMODES_OURS, offer);
        }
        if (wanted->duplex)
            body.putU8(ETHTOOL_A_LINKMODES_DUPLEX,
                       wanted->duplex == "half" ? DUPLEX_HALF : DUPLEX_FULL);
        (void)netlink.ask(body);
    } catch (const NetlinkError& error) {
        if (error.error() == EOPNOTSUPP)
            failUnsupported(call, error.what());
        failKnob("the kernel refuses '" + value + "' for " + call.what() + ": " + error.what());
    }
}

bool isLinkSpeed(const std::string& value) {
    return parseSpeed(value).has_value();
}

bool sameLinkSpeed(const std::string& a, const std::string& b) {
    const auto one = parseSpeed(a);
    const auto other = parseSpeed(b);
    if (!one || !other)
        return folded(a) == folded(b);
    return one->negotiate == other->negotiate && one->mbit == other->mbit &&
           one->duplex == other->duplex && one->modes == other->modes;
}

bool meetsLinkSpeed(const std::string& asked, const std::string& has) {
    const auto want = parseSpeed(asked);
    const auto got = parseSpeed(has);
    if (!want || !got || !want->negotiate || !want->mbit || got->modes.empty())
        return sameLinkSpeed(asked, has);
    // "auto 1000" is met by an offer of modes of that speed alone.
    const std::string speed = std::to_string(*want->mbit) + "base";
    const std::string duplex = want->duplex == "half" ? "/Half" : "/Full";
    return std::all_of(got->modes.begin(), got->modes.end(), [&](const std::string& mode) {
        return mode.starts_with(speed) && (!want->duplex || mode.ends_with(duplex));
    });
}

} // namespace knobscope::agent
