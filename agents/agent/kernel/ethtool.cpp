// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/ethtool.h"

#include "agents/agent/error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace knobscope::agent {

namespace {

/// No driver has so many; a larger answer is not believed.
constexpr std::uint32_t kMaxStrings = 65536;

template<std::size_t N>
std::string fixedText(const char (&text)[N]) {
    return std::string(text, ::strnlen(text, N));
}

} // namespace

std::map<std::string, std::uint64_t> namedCounters(const std::vector<std::string>& names,
                                                   const std::vector<std::uint64_t>& values) {
    std::map<std::string, std::uint64_t> result;
    std::map<std::string, int> seen;
    for (std::size_t i = 0; i < names.size() && i < values.size(); ++i) {
        if (names[i].empty())
            continue;
        const int count = ++seen[names[i]];
        result[count == 1 ? names[i] : names[i] + "#" + std::to_string(count)] = values[i];
    }
    return result;
}

EthtoolIoctl::EthtoolIoctl(const std::string& interface) : m_interface(interface) {
    if (interface.empty() || interface.size() >= IFNAMSIZ)
        throw AgentError(protocol::errorcode::kKnob,
                         "no interface named '" + interface + "' on this host");
    m_fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (m_fd < 0)
        throw AgentError(protocol::errorcode::kKnob,
                         errnoText("cannot open a socket for ethtool", errno));
}

EthtoolIoctl::~EthtoolIoctl() {
    ::close(m_fd);
}

int EthtoolIoctl::call(void* request) const {
    ifreq ifr{};
    std::memcpy(ifr.ifr_name, m_interface.c_str(), m_interface.size());
    ifr.ifr_data = static_cast<char*>(request);
    const int result = ::ioctl(m_fd, SIOCETHTOOL, &ifr);
    return result < 0 ? -errno : result;
}

std::vector<std::string> EthtoolIoctl::strings(std::uint32_t set) const {
    EthtoolTailed<ethtool_sset_info> info(sizeof(std::uint32_t));
    info->cmd = ETHTOOL_GSSET_INFO;
    info->sset_mask = std::uint64_t{1} << set;
    std::uint32_t count = 0;
    if (call(info.data()) < 0 || info->sset_mask == 0)
        return {};
    std::memcpy(&count, info.tail(), sizeof count);
    if (count == 0 || count > kMaxStrings)
        return {};
    EthtoolTailed<ethtool_gstrings> names(std::size_t{count} * ETH_GSTRING_LEN);
    names->cmd = ETHTOOL_GSTRINGS;
    names->string_set = set;
    names->len = count;
    if (call(names.data()) < 0)
        return {};
    std::vector<std::string> result;
    for (std::uint32_t i = 0; i < std::min(count, names->len); ++i) {
        const char* const text = names.tail() + std::size_t{i} * ETH_GSTRING_LEN;
        result.emplace_back(text, ::strnlen(text, ETH_GSTRING_LEN));
    }
    return result;
}

std::optional<std::map<std::string, std::uint64_t>> EthtoolIoctl::statistics() const {
    const auto names = strings(ETH_SS_STATS);
    if (names.empty())
        return std::nullopt;
    // The number of counters can grow between the calls (queues come and go); the kernel then
    // writes no more than it is told, or refuses. Room for twice as many covers kernels that
    // do not look at the length.
    EthtoolTailed<ethtool_stats> request(names.size() * 2 * sizeof(std::uint64_t));
    request->cmd = ETHTOOL_GSTATS;
    request->n_stats = static_cast<std::uint32_t>(names.size());
    if (call(request.data()) < 0 || request->n_stats == 0)
        return std::nullopt;
    std::vector<std::uint64_t> values(std::min<std::size_t>(names.size(), request->n_stats));
    std::memcpy(values.data(), request.tail(), values.size() * sizeof(std::uint64_t));
    return namedCounters(names, values);
}

std::optional<EthtoolIoctl::Driver> EthtoolIoctl::driver() const {
    ethtool_drvinfo info{};
    info.cmd = ETHTOOL_GDRVINFO;
    if (call(&info) < 0)
        return std::nullopt;
    return Driver{fixedText(info.driver), fixedText(info.version), fixedText(info.fw_version),
                  fixedText(info.bus_info)};
}

EthtoolIoctl::Link EthtoolIoctl::link() const {
    // Link mode masks follow the header; the first call asks how long they are.
    EthtoolTailed<ethtool_link_settings> request(3 * 127 * sizeof(std::uint32_t));
    request->cmd = ETHTOOL_GLINKSETTINGS;
    if (call(request.data()) < 0 || request->link_mode_masks_nwords >= 0)
        return {};
    const auto words = static_cast<__s8>(-request->link_mode_masks_nwords);
    request->cmd = ETHTOOL_GLINKSETTINGS;
    request->link_mode_masks_nwords = words;
    if (call(request.data()) < 0 || request->link_mode_masks_nwords <= 0)
        return {};
    Link link;
    if (request->speed != 0 && request->speed != static_cast<std::uint32_t>(SPEED_UNKNOWN))
        link.speed_mbit = request->speed;
    if (request->duplex == DUPLEX_FULL)
        link.duplex = "full";
    else if (request->duplex == DUPLEX_HALF)
        link.duplex = "half";
    return link;
}

std::vector<std::pair<std::string, bool>> EthtoolIoctl::privateFlags() const {
    const std::vector<std::string> names = strings(ETH_SS_PRIV_FLAGS);
    ethtool_value request{ETHTOOL_GPFLAGS, 0};
    std::vector<std::pair<std::string, bool>> flags;
    if (names.empty() || call(&request) < 0)
        return flags;
    for (std::size_t i = 0; i < names.size() && i < 32; ++i)
        flags.emplace_back(names[i], (request.data >> i & 1) != 0);
    return flags;
}

int EthtoolIoctl::setPrivateFlag(const std::string& name, bool on) const {
    const std::vector<std::string> names = strings(ETH_SS_PRIV_FLAGS);
    ethtool_value request{ETHTOOL_GPFLAGS, 0};
    if (const int result = call(&request); result < 0)
        return -result;
    for (std::size_t i = 0; i < names.size() && i < 32; ++i) {
        const std::uint32_t bit = std::uint32_t{1} << i;
        if (names[i] == name)
            request.data = on ? request.data | bit : request.data & ~bit;
    }
    request.cmd = ETHTOOL_SPFLAGS;
    const int result = call(&request);
    return result < 0 ? -result : 0;
}

Features EthtoolIoctl::features() const {
    const auto names = strings(ETH_SS_FEATURES);
    const std::size_t blocks = (names.size() + 31) / 32;
    EthtoolTailed<ethtool_gfeatures> request(blocks * sizeof(ethtool_get_features_block));
    request->cmd = ETHTOOL_GFEATURES;
    request->size = static_cast<std::uint32_t>(blocks);
    const int result = call(request.data());
    if (result < 0 || names.empty())
        throw AgentError(protocol::errorcode::kKnob,
                         errnoText("cannot read the features of " + m_interface,
                                   result < 0 ? -result : EOPNOTSUPP));
    std::vector<ethtool_get_features_block> bits(blocks);
    std::memcpy(bits.data(), request.tail(), blocks * sizeof bits.front());
    Features features;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const ethtool_get_features_block& block = bits[i / 32];
        const std::uint32_t bit = std::uint32_t{1} << (i % 32);
        if (!names[i].empty())
            features.push_back({names[i], (block.available & ~block.never_changed & bit) != 0,
                                (block.requested & bit) != 0, (block.active & bit) != 0});
    }
    return features;
}

void EthtoolIoctl::setFeatures(const std::map<std::string, bool>& changes) const {
    if (changes.empty())
        return;
    const auto names = strings(ETH_SS_FEATURES);
    if (names.empty())
        throw AgentError(protocol::errorcode::kKnob,
                         "the kernel names no features of " + m_interface + " that could be set");
    const std::size_t blocks = (names.size() + 31) / 32;
    std::vector<ethtool_set_features_block> bits(blocks);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto change = changes.find(names[i]);
        if (change == changes.end())
            continue;
        const std::uint32_t bit = std::uint32_t{1} << (i % 32);
        bits[i / 32].valid |= bit;
        if (change->second)
            bits[i / 32].requested |= bit;
    }
    EthtoolTailed<ethtool_sfeatures> request(blocks * sizeof(ethtool_set_features_block));
    request->cmd = ETHTOOL_SFEATURES;
    request->size = static_cast<std::uint32_t>(blocks);
    std::memcpy(request.tail(), bits.data(), blocks * sizeof(ethtool_set_features_block));
    const int result = call(request.data());
    if (result < 0)
        throw AgentError(
            protocol::errorcode::kKnob,
            errnoText("the kernel refuses to change features of " + m_interface, -result));
}

} // namespace knobscope::agent
