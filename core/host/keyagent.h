// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/fd.h"
#include "core/host/patience.h"

#include <QByteArray>
#include <QList>

#include <atomic>
#include <thread>

namespace knobscope {

/// A public key that the user's ssh-agent holds.
struct AgentKey {
    QByteArray blob;
    QString comment;
};

/// The user's ssh-agent. Every exchange has a timeout and can be cancelled.
class KeyAgent {
public:
    /// `path` of its socket. BadInput when there is no agent that answers there.
    static Result<KeyAgent> connect(const QString& path, const Patience& patience);

    [[nodiscard]] Result<QList<AgentKey>> keys(const Patience& patience) const;
    /// Sends one message of the agent protocol and returns the answer, both without their length.
    [[nodiscard]] Result<QByteArray> exchange(const QByteArray& request, const Patience& patience,
                                              const std::atomic<bool>* stop = nullptr) const;

private:
    Fd m_socket;
};

/// Stands between libssh and the user's agent and shows only some of its keys: a host counts each
/// key that it is offered as a failed login and hangs up after a few. A thread of its own answers
/// libssh, which waits for its agent without a limit, until the patience ends.
class KeyAgentFilter {
public:
    KeyAgentFilter(KeyAgent agent, const QList<AgentKey>& offered, Patience patience);
    ~KeyAgentFilter();
    KeyAgentFilter(const KeyAgentFilter&) = delete;
    KeyAgentFilter& operator=(const KeyAgentFilter&) = delete;

    /// The end for libssh, which will close it; invalid when the system has no sockets left.
    [[nodiscard]] int takeClientFd() { return m_client.release(); }

private:
    void serve();

    KeyAgent m_agent;
    QByteArray m_list; ///< the answer to a request for identities
    Patience m_patience;
    Fd m_client;
    Fd m_server;
    std::atomic<bool> m_stop{false};
    std::thread m_thread;
};

} // namespace knobscope
