// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/sshconfig.h"

namespace knobscope {

/// The way to a host: its jump hosts in the order in which they are gone through, then the host.
struct SshRoute {
    QList<SshConfig> hops; ///< never empty; only the first may have a proxyCommand

    [[nodiscard]] const SshConfig& host() const { return hops.last(); }
    /// "root@10.0.0.1:22, through gate": for people.
    [[nodiscard]] QString text() const;

    /// Resolves the host and the ProxyJump that its configuration has, and so on for the first jump
    /// host, as ssh does. `file` as for ssh -F. BadInput or HostUnusable naming what is wrong.
    static Result<SshRoute> resolve(const SshTarget& target, const QString& file,
                                    const Patience& patience);
};

} // namespace knobscope
