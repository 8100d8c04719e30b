// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/uniquefd.h"

#include <string>

namespace knobscope::agent {

/// Whose run this host serves. Two runs at once would disturb each other, whichever user they log
/// in as and whether or not they set knobs. The claim is a socket with an abstract name: there is
/// one a network namespace, all users see it, and it ends with its holder. One thread; fd() is to
/// be polled, so that the holder can say who it is.
class HostClaim {
public:
    /// Agents of one group share the host. `owner` is what the others are told.
    void introduce(const std::string& group, const std::string& owner);

    /// Throws AgentError(kBusy), which names the owner, when another group has the host. True: an
    /// agent of this group has it; false: nobody.
    bool ask() const;
    /// The same, and holds the host until release(), unless an agent of the group holds it already.
    void hold();
    void release() { m_socket.reset(); }

    [[nodiscard]] int fd() const { return m_socket.get(); } ///< -1: not held
    /// To be called when fd() is readable: tells whoever asks.
    void answer() const;

private:
    UniqueFd m_socket;
    std::string m_group;
    std::string m_owner;
};

} // namespace knobscope::agent
