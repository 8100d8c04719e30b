// SPDX-License-Identifier: GPL-3.0-or-later
// link:mtu and other numbers that rtnetlink keeps for an interface.
#include "agents/agent/kernel/knobfamily.h"
#include "agents/agent/kernel/rtlink.h"

#include <array>
#include <limits>
#include <linux/if_link.h>

namespace knobscope::agent {

namespace {

struct LinkNumber {
    std::string_view member;
    int attribute;
    std::optional<std::uint64_t> LinkInfo::*value;
    const char* what;
};
constexpr std::array kNumbers{
    LinkNumber{"mtu", IFLA_MTU, &LinkInfo::mtu, "MTU"},
    LinkNumber{"txqueuelen", IFLA_TXQLEN, &LinkInfo::txqueuelen, "transmit queue length"},
    LinkNumber{"gso_max_size", IFLA_GSO_MAX_SIZE, &LinkInfo::gso_max_size, "gso_max_size"},
    LinkNumber{"gro_max_size", IFLA_GRO_MAX_SIZE, &LinkInfo::gro_max_size, "gro_max_size"},
    LinkNumber{"gso_ipv4_max_size", kLinkGsoIpv4MaxSize, &LinkInfo::gso_ipv4_max_size,
               "gso_ipv4_max_size"},
    LinkNumber{"gro_ipv4_max_size", kLinkGroIpv4MaxSize, &LinkInfo::gro_ipv4_max_size,
               "gro_ipv4_max_size"},
    LinkNumber{"gso_max_segs", IFLA_GSO_MAX_SEGS, &LinkInfo::gso_max_segs, "gso_max_segs"},
};

const LinkNumber& numberOf(const KnobCall& call) {
    for (const LinkNumber& number : kNumbers) {
        if (number.member == call.member)
            return number;
    }
    failKnob("'" + call.name() + "' is no setting of a link");
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
            failKnob("MTU " + std::to_string(mtu) + " would remove the IPv6 address " + address +
                     " of " + interface +
                     " for good; use 1280 or more, or remove the address yourself first");
    }
}

} // namespace

std::string readLinkKnob(const KnobCall& call) {
    const auto value = readLink(call.interface()).*numberOf(call).value;
    if (!value)
        failUnsupported(call, "this kernel does not tell it");
    return std::to_string(*value);
}

void writeLinkKnob(const KnobCall& call, const std::string& value) {
    const LinkNumber& number = numberOf(call);
    const auto wanted = static_cast<std::uint32_t>(
        wholeNumber(call, value, std::numeric_limits<std::int32_t>::max()));
    if (number.attribute == IFLA_MTU)
        keepIpv6(call.interface(), wanted);
    setLinkNumber(call.interface(), number.attribute, wanted, number.what);
}

} // namespace knobscope::agent
