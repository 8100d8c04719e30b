// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/kernel/features.h"
#include "agents/agent/kernel/netlink.h"

#include <map>
#include <string>
#include <vector>

namespace knobscope::agent {

/// The kernel's ethtool netlink family, for one interface. Throws NetlinkError; ENOENT from the
/// constructor means that the kernel has no such family.
class EthtoolNetlink {
public:
    explicit EthtoolNetlink(const std::string& interface);

    [[nodiscard]] Features features();
    void setFeatures(const std::map<std::string, bool>& changes);

    /// `command` (ETHTOOL_MSG_...) for this interface, to which attributes can be added.
    [[nodiscard]] NetlinkBody request(int command) const;
    /// The attributes of the answers.
    std::vector<std::string> ask(const NetlinkBody& body);
    /// The same for a command with one answer; NetlinkError(EBADMSG) when there is none.
    std::string askOne(int command);

private:
    NetlinkSocket m_socket;
    std::string m_interface;
    int m_family = 0;
};

/// Whether netlink itself, or this command of it, is not there, rather than that the device
/// refuses. The two cannot always be told apart; the ioctl then says the same again.
[[nodiscard]] bool lacksNetlink(const NetlinkError& error);

/// A bit of an ethtool bitset.
struct NamedBit {
    std::string name;
    bool set = false;
};
/// The bits that a bitset lists, in its order, without those that have no name. A list without
/// mask has only set bits.
[[nodiscard]] std::vector<NamedBit> parseBitset(const NetlinkAttributes& bitset);
/// Adds a bitset that changes the named bits and no others.
void putBitset(NetlinkBody& body, int type, const std::map<std::string, bool>& bits);

/// The answer to ETHTOOL_MSG_FEATURES_GET, without its generic netlink header.
[[nodiscard]] Features parseFeatures(const NetlinkAttributes& answer);

} // namespace knobscope::agent
