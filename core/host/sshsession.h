// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/approach.h"
#include "core/host/knownhosts.h"
#include "core/host/sshconfig.h"
#include "core/host/underlay.h"

#include <functional>
#include <memory>

#include <libssh/libssh.h>

namespace knobscope {

/// An SSH connection: one libssh session, never blocking. One thread at a time uses it.
class SshSession {
public:
    /// Key exchange over a connected socket. Asks first for the kinds of host key that known_hosts
    /// has for this host, as a host with several kinds would else show one that is not there.
    static Result<std::unique_ptr<SshSession>> handshake(Underlay underlay, const SshConfig& config,
                                                         const KnownHosts& known,
                                                         const Patience& patience);
    ~SshSession();
    SshSession(const SshSession&) = delete;
    SshSession& operator=(const SshSession&) = delete;

    [[nodiscard]] ssh_session raw() const { return m_session; }
    [[nodiscard]] int fd() const { return m_fd; }
    /// What poll() should wait for.
    [[nodiscard]] short events() const;
    /// The last error in libssh's words, and why what carries the connection has ended.
    [[nodiscard]] QString errorText() const;
    [[nodiscard]] Result<QByteArray> hostKey() const;

    /// Calls `step` until it returns something else than `again`, waiting for the socket in
    /// between. `stage` names what is waited for.
    [[nodiscard]] Result<int> await(const std::function<int()>& step, int again,
                                    const QString& stage, const Patience& patience) const;
    /// Ends the connection without waiting for the other end.
    void cut() const;

private:
    SshSession() = default;
    [[nodiscard]] Result<void> configure(const SshConfig& config, const KnownHosts& known);
    [[nodiscard]] Error noHandshake(const SshConfig& config) const;

    std::unique_ptr<Carrier> m_carrier; ///< goes after the session
    ssh_session m_session = nullptr;
    int m_fd = -1; ///< libssh owns it
};

/// Accepts or refuses the key that the host showed, and says which it is; the errors say what to
/// do. Asks the user about an unknown one where that may be, and adds it to known_hosts when it is
/// accepted. Cancelled.
[[nodiscard]] Result<QString> checkHostKey(const SshSession& session, const SshConfig& config,
                                           const KnownHosts& known, Approach& approach,
                                           Patience& patience);

/// All known_hosts files of a host, with those of RevokedHostKeys as revoked keys.
[[nodiscard]] Result<KnownHosts> loadKnownHosts(const SshConfig& config);

} // namespace knobscope
