// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/approach.h"
#include "core/host/keyagent.h"
#include "core/host/sshkeys.h"
#include "core/host/sshsession.h"

namespace knobscope {

/// What a host says to one step of a login.
enum class LoginState {
    In,
    Partial, ///< accepted, and it wants another step
    Asked,   ///< it has questions
    Refused,
};

/// Makes the requests of a login.
class LoginSteps {
public:
    LoginSteps(SshSession& session, Patience patience)
        : m_session(session), m_patience(std::move(patience)) {}

    /// One request. LinkLost when the host hangs up; HostUnusable when it does not answer in time;
    /// Cancelled. Other errors of libssh, such as a key that cannot sign, count as a refusal.
    [[nodiscard]] Result<LoginState> make(const std::function<int()>& request);
    [[nodiscard]] ssh_session raw() const { return m_session.raw(); }
    [[nodiscard]] Patience& patience() { return m_patience; }

private:
    SshSession& m_session;
    Patience m_patience;
};

/// Logs in with public keys, each at most once, five at most.
class KeyLogin {
public:
    KeyLogin(LoginSteps& steps, const SshConfig& config, Approach& approach)
        : m_steps(steps), m_config(config), m_approach(approach) {}

    /// Goes on to the next key that the host takes, and says in `how` which it was. Refused when
    /// there is none left.
    [[nodiscard]] Result<LoginState> next(QString& how);
    [[nodiscard]] QStringList tried() const { return m_tried; }
    [[nodiscard]] QStringList untried() const { return m_untried; }

private:
    [[nodiscard]] Result<LoginState> offer(Identity& identity);
    [[nodiscard]] Result<LoginState> prove(Identity& identity);
    [[nodiscard]] Result<bool> unlock(Identity& identity);
    [[nodiscard]] bool mayOffer(const Identity& identity);
    [[nodiscard]] Result<LoginState> proveByAgent(const Identity& identity, const AgentKey& held);
    [[nodiscard]] Result<void> openAgent();
    [[nodiscard]] const AgentKey* heldBy(const Identity& identity) const;
    void addAgentIdentities();
    [[nodiscard]] QString agentPath() const;

    LoginSteps& m_steps;
    const SshConfig& m_config;
    Approach& m_approach;
    QList<Identity> m_identities;
    qsizetype m_next = 0;
    bool m_filesListed = false;
    bool m_agentListed = false;
    bool m_agentOpened = false;
    QList<AgentKey> m_agentKeys;
    std::unique_ptr<KeyAgentFilter> m_agent;
    QList<QByteArray> m_offered;
    qsizetype m_left = 0; ///< keys that were over the limit
    QStringList m_tried;
    QStringList m_untried;
};

} // namespace knobscope
