// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/sshchannel.h"
#include "core/host/underlay.h"

#include <atomic>
#include <mutex>
#include <thread>

namespace knobscope {

/// The way through a jump host: a channel of its SSH session that leads to the next host's sshd,
/// and a socket for the session with that. A thread of its own owns the jump host's session and
/// carries the bytes between the two.
class SshRelay final : public Carrier {
public:
    /// Takes over the session with the jump host. HostUnusable when the jump host cannot or may not
    /// reach the next one; Cancelled.
    static Result<Underlay> open(std::unique_ptr<SshSession> jump, const QString& jumpName,
                                 const SshConfig& next, const Patience& patience);
    ~SshRelay() override;

    [[nodiscard]] QString endReason() const override;

private:
    SshRelay(std::unique_ptr<SshChannel> channel, QString jumpName, Fd socket, Fd wake);
    void run();
    [[nodiscard]] bool turn();
    [[nodiscard]] bool fromHost();
    [[nodiscard]] bool toHost();
    void wait(bool forHost);
    void lastWords();

    std::unique_ptr<SshChannel> m_channel;
    const QString m_jumpName;
    Fd m_socket;
    Fd m_wake;
    std::string m_in;  ///< of the host, for the socket
    std::string m_out; ///< of the socket, for the host
    std::atomic<bool> m_stop{false};
    mutable std::mutex m_mutex; ///< guards the next
    QString m_reason;
    std::thread m_thread; ///< last: starts when all else is there
};

} // namespace knobscope
