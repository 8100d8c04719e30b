// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/agentbinary.h"
#include "core/host/approach.h"
#include "core/host/sshchannel.h"

namespace knobscope {

/// Brings the agent to the host if it is not there, verified by its SHA-256, and starts it, as root
/// by sudo where the options say so. The transport's next byte is the agent's first. `account` is
/// for questions about sudo. HostUnusable in plain words; Cancelled.
[[nodiscard]] Result<std::unique_ptr<Transport>>
startRemoteAgent(std::unique_ptr<SshSession> session, const QList<AgentBinary>& agents,
                 const SshConfig& account, Approach& approach, Patience patience);

} // namespace knobscope
