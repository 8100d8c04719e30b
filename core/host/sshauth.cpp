// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/sshauth.h"

#include "core/host/keyagent.h"

#include <QFile>
#include <QFileInfo>

namespace knobscope {

namespace {

/// OpenSSH hangs up at the sixth key that it does not take (MaxAuthTries 6).
constexpr int kMaxKeys = 5;

struct KeyDeleter {
    void operator()(ssh_key key) const { ssh_key_free(key); }
};
using Key = std::unique_ptr<ssh_key_struct, KeyDeleter>;

QByteArray blobOf(ssh_key key) {
    char* text = nullptr;
    QByteArray blob;
    if (key && ssh_pki_export_pubkey_base64(key, &text) == SSH_OK)
        blob = QByteArray::fromBase64(text);
    ssh_string_free_char(text);
    return blob;
}

/// No passphrase: without this, OpenSSL would ask on the terminal.
int noPassphrase(const char*, char*, size_t, int, int, void*) {
    return -1;
}

Key privateKey(const QString& path) {
    ssh_key key = nullptr;
    ssh_pki_import_privkey_file(QFile::encodeName(path).constData(), nullptr, noPassphrase, nullptr,
                                &key);
    return Key(key);
}

Key publicKey(const QString& path) {
    ssh_key key = nullptr;
    ssh_pki_import_pubkey_file(QFile::encodeName(path).constData(), &key);
    return Key(key);
}

class Login {
public:
    Login(SshSession& session, const SshConfig& config, const Patience& patience)
        : m_session(session), m_config(config), m_patience(patience) {}

    Result<void> run() {
        const Result<bool> open = step([this] { return ssh_userauth_none(raw(), nullptr); });
        if (!open)
            return tl::unexpected<Error>(open.error());
        if (*open)
            return {};
        if (!(ssh_userauth_list(raw(), nullptr) & SSH_AUTH_METHOD_PUBLICKEY) ||
            !m_config.pubkeyAuthentication)
            return refused(QStringLiteral("it takes no keys, and passwords are not asked for"));
        for (const auto attempt : {&Login::tryFiles, &Login::tryAgent}) {
            const Result<bool> in = (this->*attempt)();
            if (!in)
                return tl::unexpected<Error>(in.error());
            if (*in)
                return {};
        }
        return refused(m_partial
                           ? QStringLiteral("a key was accepted, but the host wants a further "
                                            "step, such as a password, and none is asked for")
                           : QStringLiteral("a key in a file or in the ssh-agent is needed; "
                                            "passwords are not asked for"));
    }

private:
    [[nodiscard]] ssh_session raw() const { return m_session.raw(); }

    /// One authentication request: true when logged in, false when refused.
    Result<bool> step(const std::function<int()>& request) {
        const auto rc =
            m_session.await(request, SSH_AUTH_AGAIN, QStringLiteral("the login"), m_patience);
        if (!rc)
            return tl::unexpected<Error>(rc.error());
        if (*rc == SSH_AUTH_SUCCESS)
            return true;
        if (*rc == SSH_AUTH_PARTIAL)
            m_partial = true;
        // Other errors, such as a key that cannot sign, are of this request only.
        if (*rc == SSH_AUTH_ERROR && !ssh_is_connected(raw()))
            return tl::unexpected<Error>(
                refused(QStringLiteral("the host hung up: %1").arg(m_session.errorText())).value());
        return false;
    }

    Result<bool> tryFiles() {
        for (const QString& name : m_config.identityFiles) {
            const QString path = m_config.expanded(name);
            if (!QFileInfo(path).isFile() && !QFileInfo(path + QStringLiteral(".pub")).isFile())
                continue;
            if (m_offered >= kMaxKeys) {
                m_untried
                    << QStringLiteral("%1 (after %2 keys hosts hang up)").arg(path).arg(kMaxKeys);
                continue;
            }
            const Result<bool> in = tryFile(path);
            if (!in || *in)
                return in;
        }
        return false;
    }

    Result<bool> tryFile(const QString& path) {
        const Key own = privateKey(path);
        Key shown;
        if (own) {
            ssh_key exported = nullptr;
            ssh_pki_export_privkey_to_pubkey(own.get(), &exported);
            shown.reset(exported);
        } else {
            shown = publicKey(path + QStringLiteral(".pub"));
            if (!shown)
                shown = publicKey(path);
        }
        const QByteArray blob = blobOf(shown.get());
        if (!own || blob.isEmpty()) {
            // The agent may hold it.
            if (!blob.isEmpty())
                m_named << blob;
            m_untried << (blob.isEmpty()
                              ? QStringLiteral("%1 (not readable as a key)").arg(path)
                              : QStringLiteral("%1 (has a passphrase or no private part here: add "
                                               "it to the ssh-agent)")
                                    .arg(path));
            return false;
        }
        if (m_triedBlobs.contains(blob))
            return false;
        ++m_offered;
        m_triedBlobs << blob;
        m_tried << path;
        const Result<bool> liked =
            step([&] { return ssh_userauth_try_publickey(raw(), nullptr, shown.get()); });
        if (!liked || !*liked)
            return liked;
        return step([&] { return ssh_userauth_publickey(raw(), nullptr, own.get()); });
    }

    [[nodiscard]] QString agentPath() const {
        QString path = m_config.identityAgent;
        if (path == QLatin1String("none"))
            return {};
        if (path.isEmpty() || path == QLatin1String("SSH_AUTH_SOCK"))
            return qEnvironmentVariable("SSH_AUTH_SOCK");
        if (path.startsWith(u'$'))
            return qEnvironmentVariable(path.mid(1).toLocal8Bit().constData());
        return m_config.expanded(path);
    }

    /// The agent's keys that are worth an attempt: those that the configuration names first.
    QList<AgentKey> selectKeys(const QList<AgentKey>& keys) {
        QList<AgentKey> named;
        QList<AgentKey> others;
        for (const AgentKey& key : keys) {
            const QByteArray type = KnownHosts::typeOf(key.blob);
            if (m_triedBlobs.contains(key.blob) ||
                ssh_key_type_from_name(type.constData()) == SSH_KEYTYPE_UNKNOWN)
                continue;
            if (m_named.contains(key.blob))
                named << key;
            else if (!m_config.identitiesOnly)
                others << key;
        }
        QList<AgentKey> chosen = named + others;
        const qsizetype room = kMaxKeys - m_offered;
        if (chosen.size() > room) {
            m_untried << QStringLiteral("%1 more keys of the ssh-agent (after %2 keys hosts hang "
                                        "up: name the right one with IdentityFile in ssh_config)")
                             .arg(chosen.size() - room)
                             .arg(kMaxKeys);
            chosen.resize(room);
        }
        return chosen;
    }

    Result<bool> tryAgent() {
        const QString path = agentPath();
        if (path.isEmpty())
            return false;
        auto agent = KeyAgent::connect(path, m_patience);
        const auto keys = agent ? agent->keys(m_patience)
                                : Result<QList<AgentKey>>(tl::unexpected<Error>(agent.error()));
        if (!keys) {
            if (auto over = m_patience.over(QStringLiteral("the ssh-agent")))
                return tl::unexpected<Error>(*over);
            m_untried << keys.error().text();
            return false;
        }
        const QList<AgentKey> chosen = selectKeys(*keys);
        if (chosen.isEmpty())
            return false;
        for (const AgentKey& key : chosen)
            m_tried << QStringLiteral("\"%1\" of the ssh-agent").arg(key.comment);
        m_offered += int(chosen.size());
        KeyAgentFilter filter(std::move(*agent), chosen, m_patience);
        const int fd = filter.takeClientFd();
        if (fd < 0 || ssh_set_agent_socket(raw(), fd) != SSH_OK)
            return false;
        return step([this] { return ssh_userauth_agent(raw(), nullptr); });
    }

    [[nodiscard]] tl::unexpected<Error> refused(const QString& what) const {
        QStringList detail{what};
        detail << (m_tried.isEmpty()
                       ? QStringLiteral("no key was offered")
                       : QStringLiteral("offered: %1").arg(m_tried.join(QStringLiteral(", "))));
        if (!m_untried.isEmpty())
            detail << QStringLiteral("not offered: %1").arg(m_untried.join(QStringLiteral(", ")));
        return fail(Error::Code::HostUnusable,
                    QStringLiteral("%1 refuses the login as %2").arg(m_config.name, m_config.user),
                    detail.join(QStringLiteral("; ")));
    }

    SshSession& m_session;
    const SshConfig& m_config;
    const Patience& m_patience;
    QStringList m_tried;
    QStringList m_untried;
    QList<QByteArray> m_triedBlobs;
    QList<QByteArray> m_named; ///< public keys of identity files that only the agent can use
    int m_offered = 0;
    bool m_partial = false;
};

} // namespace

Result<void> authenticate(SshSession& session, const SshConfig& config, const Patience& patience) {
    return Login(session, config, patience).run();
}

} // namespace knobscope
