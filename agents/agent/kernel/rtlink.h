// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Network interfaces through rtnetlink, in the caller's network namespace.
namespace knobscope::agent {

// Attributes of a link that are younger than the headers that this is built with.
inline constexpr int kLinkGsoIpv4MaxSize = 63;
inline constexpr int kLinkGroIpv4MaxSize = 64;

struct LinkInfo {
    int index = 0;
    std::string name;
    std::optional<std::uint64_t> mtu; ///< bytes
    std::optional<std::uint64_t> txqueuelen;
    std::optional<std::uint64_t> gso_max_size; ///< bytes, as the next three
    std::optional<std::uint64_t> gro_max_size;
    std::optional<std::uint64_t> gso_ipv4_max_size;
    std::optional<std::uint64_t> gro_ipv4_max_size;
    std::optional<std::uint64_t> gso_max_segs;
    std::optional<std::uint64_t> carrier_changes; ///< how often it came or went
    std::optional<bool> carrier;
    std::optional<std::string> qdisc;
    std::map<std::string, std::uint64_t>
        statistics; ///< by the names of /sys/class/net/*/statistics
};

/// Throws AgentError(kKnob): no such interface, or what the kernel said.
[[nodiscard]] LinkInfo readLink(const std::string& interface);
/// Sets a number of the interface by its attribute (IFLA_MTU, IFLA_TXQLEN...). `what` names it in
/// messages.
void setLinkNumber(const std::string& interface, int attribute, std::uint32_t value,
                   const std::string& what);
/// Names of all interfaces, in the kernel's order.
[[nodiscard]] std::vector<std::string> linkNames();
/// The interface that has this address ("10.77.0.1", "fe80::1"); nothing when none has.
[[nodiscard]] std::optional<std::string> linkOfAddress(const std::string& address);
/// "10.77.0.1/24", "fe80::1/64": addresses of an interface.
[[nodiscard]] std::vector<std::string> linkAddresses(const std::string& interface);

/// Fields of struct rtnl_link_stats64 by name; older kernels have fewer of them.
[[nodiscard]] std::map<std::string, std::uint64_t> parseLinkStatistics(std::string_view bytes);

} // namespace knobscope::agent
