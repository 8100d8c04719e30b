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

struct LinkInfo {
    int index = 0;
    std::string name;
    std::optional<std::uint64_t> mtu; ///< bytes
    std::optional<std::uint64_t> txqueuelen;
    std::optional<std::uint64_t> gso_max_size; ///< bytes
    std::optional<bool> carrier;
    std::optional<std::string> qdisc;
    std::map<std::string, std::uint64_t>
        statistics; ///< by the names of /sys/class/net/*/statistics
};

/// Throws AgentError(kKnob): no such interface, or what the kernel said.
[[nodiscard]] LinkInfo readLink(const std::string& interface);
void setLinkMtu(const std::string& interface, std::uint32_t mtu);
void setLinkTxqueuelen(const std::string& interface, std::uint32_t length);
/// Names of all interfaces, in the kernel's order.
[[nodiscard]] std::vector<std::string> linkNames();
/// "10.77.0.1/24", "fe80::1/64": addresses of an interface.
[[nodiscard]] std::vector<std::string> linkAddresses(const std::string& interface);

/// Fields of struct rtnl_link_stats64 by name; older kernels have fewer of them.
[[nodiscard]] std::map<std::string, std::uint64_t> parseLinkStatistics(std::string_view bytes);

} // namespace knobscope::agent
