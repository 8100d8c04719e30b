// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/ethtoolnetlink.h"

#include <algorithm>
#include <cerrno>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <set>

namespace knobscope::agent {

namespace {

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

} // namespace

bool lacksNetlink(const NetlinkError& error) {
    return error.error() == EOPNOTSUPP || error.error() == ENOENT ||
           error.error() == EPROTONOSUPPORT || error.error() == EAFNOSUPPORT;
}

std::vector<NamedBit> parseBitset(const NetlinkAttributes& bitset) {
    const bool is_list = bitset.has(ETHTOOL_A_BITSET_NOMASK);
    std::vector<NamedBit> result;
    const NetlinkAttributes bits = bitset.nest(ETHTOOL_A_BITSET_BITS);
    for (const auto& [type, bytes] : bits.all()) {
        const NetlinkAttributes bit(bytes);
        auto name = bit.text(ETHTOOL_A_BITSET_BIT_NAME);
        // Numbers that the kernel has given no meaning yet have an empty name.
        if (name && !name->empty())
            result.push_back({std::move(*name), is_list || bit.has(ETHTOOL_A_BITSET_BIT_VALUE)});
    }
    return result;
}

void putBitset(NetlinkBody& body, int type, const std::map<std::string, bool>& bits) {
    const std::size_t bitset = body.beginNest(type);
    const std::size_t list = body.beginNest(ETHTOOL_A_BITSET_BITS);
    for (const auto& [name, on] : bits) {
        const std::size_t bit = body.beginNest(ETHTOOL_A_BITSET_BITS_BIT);
        body.putText(ETHTOOL_A_BITSET_BIT_NAME, name);
        if (on)
            body.putFlag(ETHTOOL_A_BITSET_BIT_VALUE);
        body.endNest(bit);
    }
    body.endNest(list);
    body.endNest(bitset);
}

Features parseFeatures(const NetlinkAttributes& answer) {
    // The bitset "hw" has a mask of all features that the kernel knows, in its order.
    const std::vector<NamedBit> hardware = parseBitset(answer.nest(ETHTOOL_A_FEATURES_HW));
    const auto setOf = [&](int attribute) {
        std::set<std::string> names;
        for (NamedBit& bit : parseBitset(answer.nest(attribute))) {
            if (bit.set)
                names.insert(std::move(bit.name));
        }
        return names;
    };
    const auto wanted = setOf(ETHTOOL_A_FEATURES_WANTED);
    const auto active = setOf(ETHTOOL_A_FEATURES_ACTIVE);
    const auto never = setOf(ETHTOOL_A_FEATURES_NOCHANGE);
    Features features;
    for (const NamedBit& bit : hardware)
        features.push_back({bit.name, bit.set && !never.contains(bit.name),
                            wanted.contains(bit.name), active.contains(bit.name)});
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

std::string EthtoolNetlink::askOne(int command) {
    auto answers = ask(request(command));
    if (answers.empty())
        throw NetlinkError(EBADMSG, "the kernel gave no answer");
    return std::move(answers.front());
}

Features EthtoolNetlink::features() {
    const std::string answer = askOne(ETHTOOL_MSG_FEATURES_GET);
    return parseFeatures(NetlinkAttributes(answer));
}

void EthtoolNetlink::setFeatures(const std::map<std::string, bool>& changes) {
    if (changes.empty())
        return;
    NetlinkBody body = request(ETHTOOL_MSG_FEATURES_SET);
    putBitset(body, ETHTOOL_A_FEATURES_WANTED, changes);
    (void)ask(body);
}

} // namespace knobscope::agent
