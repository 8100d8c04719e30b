// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/sshsession.h"
#include "core/host/transport.h"

#include <libssh/callbacks.h>

namespace knobscope {

/// One command that runs on a host, and the transport to it. Owns its SSH session: there is one
/// channel a host, so that MaxSessions is never met.
class SshChannel final : public Transport {
public:
    /// Starts the command. HostUnusable when the host lets no command run.
    static Result<std::unique_ptr<SshChannel>>
    exec(std::unique_ptr<SshSession> session, const QByteArray& command, const Patience& patience);
    /// A connection from a jump host to the sshd of the next one. HostUnusable, in the words of the
    /// jump host, when it cannot or may not reach that.
    static Result<std::unique_ptr<SshChannel>> forward(std::unique_ptr<SshSession> jump,
                                                       const QString& jumpName,
                                                       const SshConfig& next,
                                                       const Patience& patience);
    ~SshChannel() override;

    /// Puts bytes that were read too far back in front.
    void unread(std::string bytes) { m_unread = std::move(bytes); }
    [[nodiscard]] const SshSession& session() const { return *m_session; }
    /// The connection is there.
    [[nodiscard]] bool alive() const;
    /// Why the connection is gone, in libssh's words; empty when it is there or was closed in
    /// order.
    [[nodiscard]] const QString& breakReason() const { return m_broken; }
    /// Waits at most that long for the socket.
    void wait(int milliseconds, bool wantWrite);

    void addPollFds(std::vector<pollfd>& fds, bool wantWrite) override;
    Read read(std::string& out, std::string& diagnostics) override;
    std::optional<std::size_t> write(std::string_view bytes) override;
    QString endReason() override;
    void close(std::chrono::milliseconds limit) override;

private:
    explicit SshChannel(std::unique_ptr<SshSession> session);
    static void noteSignal(ssh_session, ssh_channel, const char* signal, int, const char*,
                           const char*, void* self);
    static void noteStatus(ssh_session, ssh_channel, int, void* self);
    [[nodiscard]] bool endedAWhileAgo() const;
    [[nodiscard]] int readOne(std::string& out, bool fromStderr);
    [[nodiscard]] bool flushed() const;
    void awaitClose(std::chrono::milliseconds limit);

    std::unique_ptr<SshSession> m_session;
    ssh_channel m_channel = nullptr;
    ssh_channel_callbacks_struct m_callbacks{};
    std::string m_unread;
    QString m_signal;
    /// When the host told that the command has ended.
    std::optional<std::chrono::steady_clock::time_point> m_ended;
    QString m_broken; ///< why the connection is gone
};

} // namespace knobscope
