// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/kernel/features.h"
#include "agents/agent/kernel/netlink.h"

#include <map>
#include <string>

namespace knobscope::agent {

/// The kernel's ethtool netlink family, for one interface. Throws NetlinkError; ENOENT from the
/// constructor means that the kernel has no such family.
class EthtoolNetlink {
public:
    explicit EthtoolNetlink(const std::string& interface);

    [[nodiscard]] Features features();
    void setFeatures(const std::map<std::string, bool>& changes);

    /// Settings by the names of ethtool's options ("coalesce.rx-usecs", "ring.rx",
    /// "channels.combined", "pause.rx"); only those that the device has.
    [[nodiscard]] std::map<std::string, std::string> settings();

private:
    /// `command` with the header of this interface, which is attribute 1 in every ethtool message.
    [[nodiscard]] NetlinkBody request(int command) const;
    std::vector<std::string> ask(const NetlinkBody& body);

    NetlinkSocket m_socket;
    std::string m_interface;
    int m_family = 0;
};

/// The answer to ETHTOOL_MSG_FEATURES_GET, without its generic netlink header.
[[nodiscard]] Features parseFeatures(const NetlinkAttributes& answer);

} // namespace knobscope::agent
