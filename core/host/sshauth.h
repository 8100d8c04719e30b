// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/sshsession.h"

namespace knobscope {

/// Logs in: without anything, then with the identity files of the configuration, then with the
/// keys of the user's ssh-agent; five keys in all, as a host hangs up after six. HostUnusable lists
/// what was tried and what was not. Nothing is ever asked of the user.
[[nodiscard]] Result<void> authenticate(SshSession& session, const SshConfig& config,
                                        const Patience& patience);

} // namespace knobscope
