// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/fd.h"
#include "core/host/patience.h"
#include "core/host/sshconfig.h"

namespace knobscope {

/// Opens the TCP connection to a host's sshd, with every address of its name in turn. The socket
/// sends at once (TCP_NODELAY) and notices a dead peer (keepalive, TCP_USER_TIMEOUT).
/// HostUnusable with the reason in plain words; Cancelled.
[[nodiscard]] Result<Fd> connectTcp(const SshConfig& config, const Patience& patience);

} // namespace knobscope
