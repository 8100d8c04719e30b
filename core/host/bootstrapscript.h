// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/agentbinary.h"
#include "core/host/hostsession.h"

namespace knobscope {

/// The shell command that finds or takes in the agent on a host and becomes it. Words in single
/// quotes, free of !, \ and ', so that every login shell passes them on as they are. It says, in
/// lines that begin with the nonce: SUDO (goes on as root) or NOSUDO WHY (goes on as the user, or
/// ends); HAVE (runs the cached agent), NEED ARCH (send that build now), RUN (received and
/// verified), or what is wrong: ARCH, NOPLACE, NOSUM, BADSUM. Under sudo all of it happens as root:
/// the agent is received, kept and verified in a folder of root's own.
[[nodiscard]] QByteArray bootstrapCommand(const QList<AgentBinary>& agents, const QByteArray& nonce,
                                          SudoMode sudo = SudoMode::None);
/// What sudo says on standard error when it waits for the password.
[[nodiscard]] QByteArray sudoPrompt(const QByteArray& nonce);
/// The error for what sudo said when it made nobody root.
[[nodiscard]] Error sudoError(const QString& host, const QString& user, const QString& text);

} // namespace knobscope
