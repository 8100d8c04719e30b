// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/approach.h"
#include "core/host/sshsession.h"

namespace knobscope {

/// Logs in: without anything; with the certificates and keys of the configuration's files; with the
/// keys of the user's ssh-agent (five keys in all, as a host hangs up after six); by the host's own
/// questions; by a password. Goes on with what is left when the host wants several of these. The
/// user is asked for passphrases only of keys that the host takes.
/// Says how it got in. HostUnusable lists what was tried and what was not; Cancelled.
[[nodiscard]] Result<QString> authenticate(SshSession& session, const SshConfig& config,
                                           Approach& approach, Patience patience);

} // namespace knobscope
