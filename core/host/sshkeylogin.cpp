// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/sshkeylogin.h"

#include "core/host/knownhosts.h"

namespace knobscope {

namespace {

/// OpenSSH hangs up at the sixth key that it does not take (MaxAuthTries 6).
constexpr int kMaxKeys = 5;
/// So often a passphrase is asked for.
constexpr int kMaxPassphrases = 3;

} // namespace

Result<LoginState> LoginSteps::make(const std::function<int()>& request) {
    const auto rc =
        m_session.await(request, SSH_AUTH_AGAIN, QStringLiteral("the login"), m_patience);
    if (!rc)
        return tl::unexpected<Error>(rc.error());
    switch (*rc) {
    case SSH_AUTH_SUCCESS:
        return LoginState::In;
    case SSH_AUTH_PARTIAL:
        return LoginState::Partial;
    case SSH_AUTH_INFO:
        return LoginState::Asked;
    default:
        break;
    }
    if (*rc == SSH_AUTH_ERROR && !ssh_is_connected(raw()))
        return fail(Error::Code::LinkLost,
                    QStringLiteral("it hung up: %1").arg(m_session.errorText()));
    return LoginState::Refused;
}

Result<LoginState> KeyLogin::next(QString& how) {
    if (!m_filesListed) {
        m_filesListed = true;
        m_identities = fileIdentities(m_config, m_untried);
    }
    for (;;) {
        if (m_next == m_identities.size()) {
            if (m_agentListed)
                break;
            m_agentListed = true;
            if (auto opened = openAgent(); !opened)
                return tl::unexpected<Error>(opened.error());
            addAgentIdentities();
            continue;
        }
        Identity& identity = m_identities[m_next++];
        const auto state = offer(identity);
        if (!state || *state != LoginState::Refused) {
            how = QStringLiteral("with %1").arg(identity.label);
            return state;
        }
    }
    if (m_left > 0)
        m_untried << QStringLiteral("%1 more keys (after %2 keys hosts hang up: name the right one "
                                    "with IdentityFile in ssh_config)")
                         .arg(m_left)
                         .arg(kMaxKeys);
    m_left = 0;
    return LoginState::Refused;
}

bool KeyLogin::mayOffer(const Identity& identity) {
    if (m_offered.contains(identity.shown))
        return false;
    if (m_offered.size() >= kMaxKeys) {
        ++m_left;
        return false;
    }
    m_offered << identity.shown;
    m_tried << identity.label;
    return true;
}

Result<LoginState> KeyLogin::offer(Identity& identity) {
    if (identity.shown.isEmpty()) {
        // Locked, and without a public half to ask the host about first.
        const auto open = unlock(identity);
        if (!open)
            return tl::unexpected<Error>(open.error());
        if (!*open)
            return LoginState::Refused;
        identity.shown = identity.plain = publicBlobOf(identity.key);
    }
    if (!identity.key && !identity.locked) {
        // Only the agent may have it: a key that it does not have is not worth an offer.
        if (auto opened = openAgent(); !opened)
            return tl::unexpected<Error>(opened.error());
        if (!heldBy(identity)) {
            m_untried << QStringLiteral("%1 (no private key for it here or in the ssh-agent)")
                             .arg(identity.label);
            return LoginState::Refused;
        }
    }
    const SshKey shown = publicKeyOf(identity.shown);
    if (!shown) {
        m_untried
            << QStringLiteral("%1 (a kind of key that is not known here)").arg(identity.label);
        return LoginState::Refused;
    }
    if (!mayOffer(identity))
        return LoginState::Refused;
    const auto liked = m_steps.make(
        [&] { return ssh_userauth_try_publickey(m_steps.raw(), nullptr, shown.get()); });
    if (!liked || *liked == LoginState::Refused)
        return liked;
    return prove(identity);
}

Result<LoginState> KeyLogin::prove(Identity& identity) {
    if (!identity.key) {
        if (auto opened = openAgent(); !opened)
            return tl::unexpected<Error>(opened.error());
        if (const AgentKey* held = heldBy(identity))
            return proveByAgent(identity, *held);
        const auto open = unlock(identity);
        if (!open)
            return tl::unexpected<Error>(open.error());
        if (!*open)
            return LoginState::Refused;
    }
    if (!identity.certificate.isEmpty()) {
        // libssh shows the certificate that a private key carries.
        const SshKey certificate = publicKeyOf(identity.certificate);
        if (!certificate ||
            ssh_pki_copy_cert_to_privkey(certificate.get(), identity.key.get()) != SSH_OK)
            return LoginState::Refused;
    }
    return m_steps.make(
        [&] { return ssh_userauth_publickey(m_steps.raw(), nullptr, identity.key.get()); });
}

/// Asks for the passphrase of a key file. False when there is none to be had.
Result<bool> KeyLogin::unlock(Identity& identity) {
    SecretRequest request;
    request.kind = SecretRequest::Kind::KeyPassphrase;
    request.host = m_config.name;
    request.user = m_config.user;
    request.account = m_config.account();
    request.keyFile = identity.file;
    request.prompt = QStringLiteral("Passphrase for the key %1").arg(identity.file);
    QString why = QStringLiteral("BatchMode in the ssh configuration forbids asking");
    for (int attempt = 1; !m_config.batchMode && attempt <= kMaxPassphrases; ++attempt) {
        request.attempt = attempt;
        const auto answer = m_approach.ask(request, m_steps.patience());
        if (!answer && answer.error().code == Error::Code::Cancelled)
            return tl::unexpected<Error>(answer.error());
        if (!answer) {
            why = answer.error().text();
            break;
        }
        why = QStringLiteral("no passphrase was given");
        if (answer->isEmpty())
            break;
        why = QStringLiteral("the passphrase is wrong");
        identity.key = loadPrivateKey(identity.file, answer->c_str());
        m_approach.judge(request, *answer, identity.key != nullptr);
        if (identity.key) {
            identity.locked = false;
            return true;
        }
    }
    m_tried.removeAll(identity.label);
    m_untried << QStringLiteral("%1 (has a passphrase: %2; the ssh-agent does not hold it either)")
                     .arg(identity.label, why);
    return false;
}

QString KeyLogin::agentPath() const {
    QString path = m_config.identityAgent;
    if (path == QLatin1String("none"))
        return {};
    if (path.isEmpty() || path == QLatin1String("SSH_AUTH_SOCK"))
        return qEnvironmentVariable("SSH_AUTH_SOCK");
    if (path.startsWith(u'$'))
        return qEnvironmentVariable(path.mid(1).toLocal8Bit().constData());
    return m_config.expanded(path);
}

/// Finds out what the ssh-agent holds. An agent that is not there or does not answer is noted;
/// the error is that of an agent that has used up the patience.
Result<void> KeyLogin::openAgent() {
    const QString path = agentPath();
    if (m_agentOpened || path.isEmpty())
        return {};
    m_agentOpened = true;
    const Patience& patience = m_steps.patience();
    auto agent = KeyAgent::connect(path, patience);
    auto keys = agent ? agent->keys(patience)
                      : Result<QList<AgentKey>>(tl::unexpected<Error>(agent.error()));
    if (!keys) {
        if (auto over = patience.over(QStringLiteral("the ssh-agent")))
            return tl::unexpected<Error>(*over);
        m_untried << keys.error().text();
        return {};
    }
    m_agentKeys = *keys;
    if (m_agentKeys.isEmpty())
        return {};
    m_agent = std::make_unique<KeyAgentFilter>(std::move(*agent), patience);
    const int fd = m_agent->takeClientFd();
    if (fd < 0 || ssh_set_agent_socket(m_steps.raw(), fd) != SSH_OK)
        m_agentKeys.clear();
    return {};
}

const AgentKey* KeyLogin::heldBy(const Identity& identity) const {
    for (const AgentKey& key : m_agentKeys) {
        if (key.blob == identity.shown || key.blob == identity.plain)
            return &key;
    }
    return nullptr;
}

/// The agent's keys that are worth an offer, after those that the files name: certificates of the
/// configuration for keys that only the agent has, then its own, unless only named ones may be.
void KeyLogin::addAgentIdentities() {
    const QList<QByteArray> certificates = certificatesOf(m_config);
    for (const AgentKey& key : std::as_const(m_agentKeys)) {
        Identity identity;
        identity.label = QStringLiteral("\"%1\" of the ssh-agent").arg(key.comment);
        identity.plain = plainKeyOf(key.blob);
        for (const QByteArray& certificate : certificates) {
            if (plainKeyOf(certificate) == key.blob) {
                Identity certified = identity;
                certified.label += QStringLiteral(" with its certificate");
                certified.certificate = certified.shown = certificate;
                m_identities << certified;
            }
        }
        identity.shown = key.blob;
        if (!m_config.identitiesOnly && publicKeyOf(key.blob))
            m_identities << identity;
    }
}

Result<LoginState> KeyLogin::proveByAgent(const Identity& identity, const AgentKey& held) {
    AgentKey shown;
    shown.blob = identity.shown;
    shown.comment = held.comment;
    if (held.blob != identity.shown)
        shown.heldAs = held.blob;
    m_agent->show(shown);
    return m_steps.make([this] { return ssh_userauth_agent(m_steps.raw(), nullptr); });
}

} // namespace knobscope
