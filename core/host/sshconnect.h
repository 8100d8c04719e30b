// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/approach.h"
#include "core/host/sshroute.h"
#include "core/host/sshsession.h"

namespace knobscope {

/// Logs in to a host, through its jump hosts or its ProxyCommand where it has them. Each jump host
/// has its own host key, login and limit of time, and errors name the one that they are about.
/// HostUnusable in plain words; Cancelled.
[[nodiscard]] Result<std::unique_ptr<SshSession>> connectSsh(const SshRoute& route,
                                                             Approach& approach);

} // namespace knobscope
