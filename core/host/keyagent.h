// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/fd.h"
#include "core/host/patience.h"

#include <QByteArray>
#include <QList>

#include <atomic>
#include <mutex>
#include <thread>

namespace knobscope {

/// A public key that the user's ssh-agent holds.
struct AgentKey {
    QByteArray blob;
    QString comment;
    /// The agent holds it by this blob: for a certificate in a file whose key is in the agent.
    QByteArray heldAs = {};
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

/// Stands between libssh and the user's agent and shows one of its keys at a time: a host counts
/// each key that it is offered as a failed login and hangs up after a few. A thread of its own
/// answers libssh, which waits for its agent without a limit: each answer takes as long as the
/// patience has, at most.
class KeyAgentFilter {
public:
    KeyAgentFilter(KeyAgent agent, Patience patience);
    ~KeyAgentFilter();
    KeyAgentFilter(const KeyAgentFilter&) = delete;
    KeyAgentFilter& operator=(const KeyAgentFilter&) = delete;

    /// The end for libssh, which will close it; invalid when the system has no sockets left.
    [[nodiscard]] int takeClientFd() { return m_client.release(); }
    /// From now on the agent seems to have this key alone.
    void show(const AgentKey& key);

private:
    void serve();
    [[nodiscard]] QByteArray answer(const QByteArray& request, bool& failed);

    KeyAgent m_agent;
    Patience m_patience;
    Fd m_client;
    Fd m_server;
    std::atomic<bool> m_stop{false};
    std::mutex m_mutex; ///< guards the next
    AgentKey m_shown;
    std::thread m_thread;
};

} // namespace knobscope
