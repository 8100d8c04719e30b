// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/agentbinary.h"
#include "core/host/sshchannel.h"

namespace knobscope {

/// The shell command that finds or takes in the agent on a host and becomes it. One line in single
/// quotes, free of !, \ and ', so that every login shell passes it on as it is. It says, in lines
/// that begin with the nonce: HAVE (runs the cached agent), NEED ARCH (send that build now), RUN
/// (received and verified), or what is wrong: ARCH, NOPLACE, NOSUM, BADSUM.
[[nodiscard]] QByteArray bootstrapCommand(const QList<AgentBinary>& agents,
                                          const QByteArray& nonce);

/// Brings the agent to the host if it is not there, verified by its SHA-256, and starts it. The
/// transport's next byte is the agent's first. HostUnusable in plain words; Cancelled.
[[nodiscard]] Result<std::unique_ptr<Transport>>
startRemoteAgent(std::unique_ptr<SshSession> session, const QList<AgentBinary>& agents,
                 Patience patience);

} // namespace knobscope
