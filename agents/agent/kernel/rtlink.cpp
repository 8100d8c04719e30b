// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/rtlink.h"

#include "agents/agent/kernel/netlink.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

namespace knobscope::agent {

namespace {

/// In the order of struct rtnl_link_stats64.
constexpr std::array kStatisticNames{
    "rx_packets",          "tx_packets",        "rx_bytes",         "tx_bytes",
    "rx_errors",           "tx_errors",         "rx_dropped",       "tx_dropped",
    "multicast",           "collisions",        "rx_length_errors", "rx_over_errors",
    "rx_crc_errors",       "rx_frame_errors",   "rx_fifo_errors",   "rx_missed_errors",
    "tx_aborted_errors",   "tx_carrier_errors", "tx_fifo_errors",   "tx_heartbeat_errors",
    "tx_window_errors",    "rx_compressed",     "tx_compressed",    "rx_nohandler",
    "rx_otherhost_dropped"};

[[noreturn]] void failNoInterface(const std::string& interface) {
    throw AgentError(protocol::errorcode::kKnob,
                     interface.empty() ? "no interface given"
                                       : "no interface named '" + interface + "' on this host");
}

unsigned indexOf(const std::string& interface) {
    const unsigned index = interface.size() < IFNAMSIZ ? ::if_nametoindex(interface.c_str()) : 0;
    if (index == 0)
        failNoInterface(interface);
    return index;
}

NetlinkBody linkBody(unsigned index) {
    ifinfomsg header{};
    header.ifi_family = AF_UNSPEC;
    header.ifi_index = static_cast<int>(index);
    return NetlinkBody(header);
}

LinkInfo parseLink(std::string_view body) {
    LinkInfo link;
    ifinfomsg header{};
    if (body.size() < sizeof header)
        return link;
    std::memcpy(&header, body.data(), sizeof header);
    const NetlinkAttributes attributes(body.substr(sizeof header));
    link.index = header.ifi_index;
    link.name = attributes.text(IFLA_IFNAME).value_or("");
    link.mtu = attributes.number(IFLA_MTU);
    link.txqueuelen = attributes.number(IFLA_TXQLEN);
    link.gso_max_size = attributes.number(IFLA_GSO_MAX_SIZE);
    link.gro_max_size = attributes.number(IFLA_GRO_MAX_SIZE);
    link.gso_ipv4_max_size = attributes.number(kLinkGsoIpv4MaxSize);
    link.gro_ipv4_max_size = attributes.number(kLinkGroIpv4MaxSize);
    link.gso_max_segs = attributes.number(IFLA_GSO_MAX_SEGS);
    link.carrier_changes = attributes.number(IFLA_CARRIER_CHANGES);
    link.qdisc = attributes.text(IFLA_QDISC);
    // The carrier of an interface that is down means nothing.
    if (const auto carrier = attributes.number(IFLA_CARRIER);
        carrier && (header.ifi_flags & IFF_UP))
        link.carrier = *carrier != 0;
    if (const auto statistics = attributes.find(IFLA_STATS64))
        link.statistics = parseLinkStatistics(*statistics);
    return link;
}

struct Address {
    unsigned index = 0;
    std::string text;
    int prefix = 0;
};

std::vector<Address> allAddresses() {
    std::vector<Address> result;
    const NetlinkBody body{ifaddrmsg{}};
    for (const auto& answer : NetlinkSocket(NETLINK_ROUTE).ask(RTM_GETADDR, NLM_F_DUMP, body)) {
        ifaddrmsg header{};
        if (answer.size() < sizeof header)
            continue;
        std::memcpy(&header, answer.data(), sizeof header);
        const NetlinkAttributes attributes(std::string_view(answer).substr(sizeof header));
        // IFA_ADDRESS is the far end of a point-to-point link; IFA_LOCAL is absent for IPv6.
        const auto local = attributes.find(IFA_LOCAL);
        const auto bytes = local ? local : attributes.find(IFA_ADDRESS);
        const std::size_t wanted = header.ifa_family == AF_INET ? 4 : 16;
        char text[INET6_ADDRSTRLEN];
        if (bytes && bytes->size() == wanted &&
            ::inet_ntop(header.ifa_family, bytes->data(), text, sizeof text))
            result.push_back({header.ifa_index, text, header.ifa_prefixlen});
    }
    return result;
}

} // namespace

std::map<std::string, std::uint64_t> parseLinkStatistics(std::string_view bytes) {
    std::map<std::string, std::uint64_t> result;
    for (const char* name : kStatisticNames) {
        std::uint64_t value = 0;
        if (bytes.size() < sizeof value)
            break;
        std::memcpy(&value, bytes.data(), sizeof value);
        result.emplace(name, value);
        bytes.remove_prefix(sizeof value);
    }
    return result;
}

LinkInfo readLink(const std::string& interface) {
    const NetlinkBody body = linkBody(indexOf(interface));
    try {
        const auto answers = NetlinkSocket(NETLINK_ROUTE).ask(RTM_GETLINK, 0, body);
        if (!answers.empty())
            return parseLink(answers.front());
    } catch (const NetlinkError& error) {
        if (error.error() != ENODEV)
            throw AgentError(protocol::errorcode::kKnob,
                             "cannot read interface " + interface + ": " + error.what());
    }
    failNoInterface(interface);
}

void setLinkNumber(const std::string& interface, int attribute, std::uint32_t value,
                   const std::string& what) {
    NetlinkBody body = linkBody(indexOf(interface));
    body.putU32(attribute, value);
    try {
        NetlinkSocket(NETLINK_ROUTE).ask(RTM_SETLINK, 0, body);
    } catch (const NetlinkError& error) {
        throw AgentError(protocol::errorcode::kKnob, "the kernel refuses " + what + " " +
                                                         std::to_string(value) + " for " +
                                                         interface + ": " + error.what());
    }
}

std::vector<std::string> linkNames() {
    std::vector<std::string> names;
    for (const auto& answer :
         NetlinkSocket(NETLINK_ROUTE).ask(RTM_GETLINK, NLM_F_DUMP, linkBody(0)))
        if (std::string name = parseLink(answer).name; !name.empty())
            names.push_back(std::move(name));
    return names;
}

std::vector<std::string> linkAddresses(const std::string& interface) {
    const unsigned index = indexOf(interface);
    std::vector<std::string> result;
    for (const Address& address : allAddresses()) {
        if (address.index == index)
            result.push_back(address.text + "/" + std::to_string(address.prefix));
    }
    return result;
}

std::optional<std::string> linkOfAddress(const std::string& address) {
    for (const Address& other : allAddresses()) {
        char name[IF_NAMESIZE];
        if (other.text == address && ::if_indextoname(other.index, name))
            return name;
    }
    return std::nullopt;
}

} // namespace knobscope::agent
