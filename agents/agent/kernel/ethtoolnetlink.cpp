// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/ethtoolnetlink.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

namespace knobscope::agent {

namespace {

/// One setting of an answer: attribute, fact, and whether it is a switch rather than a number.
struct Setting {
    int command;
    int attribute;
    const char* name;
    bool is_switch = false;
};
constexpr std::array kSettings{
    Setting{ETHTOOL_MSG_COALESCE_GET, ETHTOOL_A_COALESCE_RX_USECS, "coalesce.rx-usecs"},
    Setting{ETHTOOL_MSG_COALESCE_GET, ETHTOOL_A_COALESCE_RX_MAX_FRAMES, "coalesce.rx-frames"},
    Setting{ETHTOOL_MSG_COALESCE_GET, ETHTOOL_A_COALESCE_RX_USECS_IRQ, "coalesce.rx-usecs-irq"},
    Setting{ETHTOOL_MSG_COALESCE_GET, ETHTOOL_A_COALESCE_RX_MAX_FRAMES_IRQ,
            "coalesce.rx-frames-irq"},
    Setting{ETHTOOL_MSG_COALESCE_GET, ETHTOOL_A_COALESCE_TX_USECS, "coalesce.tx-usecs"},
    Setting{ETHTOOL_MSG_COALESCE_GET, ETHTOOL_A_COALESCE_TX_MAX_FRAMES, "coalesce.tx-frames"},
    Setting{ETHTOOL_MSG_COALESCE_GET, ETHTOOL_A_COALESCE_TX_USECS_IRQ, "coalesce.tx-usecs-irq"},
    Setting{ETHTOOL_MSG_COALESCE_GET, ETHTOOL_A_COALESCE_TX_MAX_FRAMES_IRQ,
            "coalesce.tx-frames-irq"},
    Setting{ETHTOOL_MSG_COALESCE_GET, ETHTOOL_A_COALESCE_STATS_BLOCK_USECS,
            "coalesce.stats-block-usecs"},
    Setting{ETHTOOL_MSG_COALESCE_GET, ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX, "coalesce.adaptive-rx",
            true},
    Setting{ETHTOOL_MSG_COALESCE_GET, ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX, "coalesce.adaptive-tx",
            true},
    Setting{ETHTOOL_MSG_COALESCE_GET, ETHTOOL_A_COALESCE_USE_CQE_MODE_TX, "coalesce.cqe-mode-tx",
            true},
    Setting{ETHTOOL_MSG_COALESCE_GET, ETHTOOL_A_COALESCE_USE_CQE_MODE_RX, "coalesce.cqe-mode-rx",
            true},
    Setting{ETHTOOL_MSG_RINGS_GET, ETHTOOL_A_RINGS_RX, "ring.rx"},
    Setting{ETHTOOL_MSG_RINGS_GET, ETHTOOL_A_RINGS_RX_MINI, "ring.rx-mini"},
    Setting{ETHTOOL_MSG_RINGS_GET, ETHTOOL_A_RINGS_RX_JUMBO, "ring.rx-jumbo"},
    Setting{ETHTOOL_MSG_RINGS_GET, ETHTOOL_A_RINGS_TX, "ring.tx"},
    Setting{ETHTOOL_MSG_RINGS_GET, ETHTOOL_A_RINGS_RX_MAX, "ring.rx-max"},
    Setting{ETHTOOL_MSG_RINGS_GET, ETHTOOL_A_RINGS_TX_MAX, "ring.tx-max"},
    Setting{ETHTOOL_MSG_CHANNELS_GET, ETHTOOL_A_CHANNELS_RX_COUNT, "channels.rx"},
    Setting{ETHTOOL_MSG_CHANNELS_GET, ETHTOOL_A_CHANNELS_TX_COUNT, "channels.tx"},
    Setting{ETHTOOL_MSG_CHANNELS_GET, ETHTOOL_A_CHANNELS_OTHER_COUNT, "channels.other"},
    Setting{ETHTOOL_MSG_CHANNELS_GET, ETHTOOL_A_CHANNELS_COMBINED_COUNT, "channels.combined"},
    Setting{ETHTOOL_MSG_PAUSE_GET, ETHTOOL_A_PAUSE_AUTONEG, "pause.autoneg", true},
    Setting{ETHTOOL_MSG_PAUSE_GET, ETHTOOL_A_PAUSE_RX, "pause.rx", true},
    Setting{ETHTOOL_MSG_PAUSE_GET, ETHTOOL_A_PAUSE_TX, "pause.tx", true},
};

/// Every ethtool message begins with the header nest, under attribute 1.
constexpr int kHeaderAttribute = ETHTOOL_A_FEATURES_HEADER;

int familyId(NetlinkSocket& socket) {
    genlmsghdr header{};
    header.cmd = CTRL_CMD_GETFAMILY;
    header.version = 1;
    NetlinkBody body(header);
    body.putText(CTRL_ATTR_FAMILY_NAME, ETHTOOL_GENL_NAME);
    for (const auto& answer : socket.ask(GENL_ID_CTRL, 0, body)) {
        const NetlinkAttributes attributes(
            std::string_view(answer).substr(std::min(answer.size(), sizeof header)));
        if (const auto id = attributes.number(CTRL_ATTR_FAMILY_ID))
            return static_cast<int>(*id);
    }
    throw NetlinkError(ENOENT, "the kernel has no ethtool netlink");
}

/// Names of a bitset's bits that are listed; with a mask, those whose value is set.
std::vector<std::string> bitNames(const NetlinkAttributes& bitset, bool only_set) {
    const bool is_list = bitset.has(ETHTOOL_A_BITSET_NOMASK);
    std::vector<std::string> names;
    const NetlinkAttributes bits = bitset.nest(ETHTOOL_A_BITSET_BITS);
    for (const auto& [type, bytes] : bits.all()) {
        const NetlinkAttributes bit(bytes);
        auto name = bit.text(ETHTOOL_A_BITSET_BIT_NAME);
        // Numbers that the kernel has given no feature yet have an empty name.
        if (name && !name->empty() && (!only_set || is_list || bit.has(ETHTOOL_A_BITSET_BIT_VALUE)))
            names.push_back(std::move(*name));
    }
    return names;
}

} // namespace

Features parseFeatures(const NetlinkAttributes& answer) {
    // The bitset "hw" has a mask of all features that the kernel knows, in its order.
    const NetlinkAttributes hardware = answer.nest(ETHTOOL_A_FEATURES_HW);
    const auto set = [&](const NetlinkAttributes& bitset) {
        auto names = bitNames(bitset, true);
        std::sort(names.begin(), names.end());
        return names;
    };
    const auto changeable = set(hardware);
    const auto wanted = set(answer.nest(ETHTOOL_A_FEATURES_WANTED));
    const auto active = set(answer.nest(ETHTOOL_A_FEATURES_ACTIVE));
    const auto never = set(answer.nest(ETHTOOL_A_FEATURES_NOCHANGE));
    const auto has = [](const std::vector<std::string>& names, const std::string& name) {
        return std::binary_search(names.begin(), names.end(), name);
    };
    Features features;
    for (const std::string& name : bitNames(hardware, false))
        features.push_back({name, has(changeable, name) && !has(never, name), has(wanted, name),
                            has(active, name)});
    return features;
}

EthtoolNetlink::EthtoolNetlink(const std::string& interface)
    : m_socket(NETLINK_GENERIC), m_interface(interface) {
    m_family = familyId(m_socket);
}

NetlinkBody EthtoolNetlink::request(int command) const {
    genlmsghdr header{};
    header.cmd = static_cast<std::uint8_t>(command);
    header.version = ETHTOOL_GENL_VERSION;
    NetlinkBody body(header);
    const std::size_t nest = body.beginNest(kHeaderAttribute);
    body.putText(ETHTOOL_A_HEADER_DEV_NAME, m_interface);
    body.endNest(nest);
    return body;
}

std::vector<std::string> EthtoolNetlink::ask(const NetlinkBody& body) {
    auto answers = m_socket.ask(m_family, 0, body);
    for (std::string& answer : answers)
        answer.erase(0, sizeof(genlmsghdr));
    return answers;
}

Features EthtoolNetlink::features() {
    const auto answers = ask(request(ETHTOOL_MSG_FEATURES_GET));
    if (answers.empty())
        throw NetlinkError(EBADMSG, "the kernel gave no answer");
    return parseFeatures(NetlinkAttributes(answers.front()));
}

void EthtoolNetlink::setFeatures(const std::map<std::string, bool>& changes) {
    if (changes.empty())
        return;
    NetlinkBody body = request(ETHTOOL_MSG_FEATURES_SET);
    const std::size_t wanted = body.beginNest(ETHTOOL_A_FEATURES_WANTED);
    const std::size_t bits = body.beginNest(ETHTOOL_A_BITSET_BITS);
    for (const auto& [name, on] : changes) {
        const std::size_t bit = body.beginNest(ETHTOOL_A_BITSET_BITS_BIT);
        body.putText(ETHTOOL_A_BITSET_BIT_NAME, name);
        if (on)
            body.putFlag(ETHTOOL_A_BITSET_BIT_VALUE);
        body.endNest(bit);
    }
    body.endNest(bits);
    body.endNest(wanted);
    (void)ask(body);
}

std::map<std::string, std::string> EthtoolNetlink::settings() {
    std::map<std::string, std::string> facts;
    int command = 0;
    NetlinkAttributes answer{std::string_view{}};
    std::vector<std::string> answers;
    for (const Setting& setting : kSettings) {
        if (setting.command != command) {
            command = setting.command;
            answers.clear();
            try {
                answers = ask(request(command));
            } catch (const NetlinkError&) {
                // The device has none of these settings, or the kernel does not know the command.
            }
            answer = NetlinkAttributes(answers.empty() ? std::string_view{} : answers.front());
        }
        if (const auto value = answer.number(setting.attribute))
            facts[setting.name] = !setting.is_switch ? std::to_string(*value)
                                  : *value != 0      ? "on"
                                                     : "off";
    }
    return facts;
}

} // namespace knobscope::agent
