// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/sshsession.h"

#include <QFile>
#include <QRegularExpression>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

namespace knobscope {

namespace {

/// The signature algorithms that go with a kind of host key.
QStringList algorithmsFor(const QByteArray& type) {
    if (type == "ssh-rsa")
        return {QStringLiteral("rsa-sha2-512"), QStringLiteral("rsa-sha2-256"),
                QStringLiteral("ssh-rsa")};
    return {QString::fromLatin1(type)};
}

/// The configured algorithms, those that known_hosts can vouch for first.
QStringList orderedHostKeyAlgorithms(const SshConfig& config, const KnownHosts& known) {
    QStringList preferred;
    const QString name = KnownHosts::nameFor(config.hostname, config.port, config.hostKeyAlias);
    QList<KnownKey> keys = known.keysFor(name);
    if (keys.isEmpty() && config.hostKeyAlias.isEmpty())
        keys = known.keysFor(config.hostname);
    for (const KnownKey& key : keys) {
        if (!key.revoked)
            preferred << algorithmsFor(key.type);
    }
    QStringList first;
    QStringList rest;
    for (const QString& algorithm : config.hostKeyAlgorithms.split(u',', Qt::SkipEmptyParts)) {
        // Host certificates are not checked here, so none is asked for.
        if (algorithm.contains(QLatin1String("-cert-")))
            continue;
        (preferred.contains(algorithm) ? first : rest) << algorithm;
    }
    return first + rest;
}

} // namespace

SshSession::~SshSession() {
    if (!m_session)
        return;
    // A socket that was given to it libssh forgets instead of closing it, unless it is told that
    // there is none; it still uses the one that it has.
    const socket_t none = SSH_INVALID_SOCKET;
    ssh_options_set(m_session, SSH_OPTIONS_FD, &none);
    // Also tells the other end, when the socket takes it.
    if (ssh_is_connected(m_session))
        ssh_disconnect(m_session);
    ssh_free(m_session);
}

short SshSession::events() const {
    const bool writing = (ssh_get_poll_flags(m_session) & SSH_WRITE_PENDING) != 0;
    return short(POLLIN | (writing ? POLLOUT : 0));
}

QString SshSession::errorText() const {
    const QString said = QString::fromLocal8Bit(ssh_get_error(m_session)).trimmed();
    const QString beneath = m_carrier ? m_carrier->endReason() : QString();
    return beneath.isEmpty() ? said : QStringLiteral("%1 (%2)").arg(said, beneath);
}

void SshSession::cut() const {
    shutdown(m_fd, SHUT_RDWR);
}

Result<void> SshSession::configure(const SshConfig& config, const KnownHosts& known) {
    const auto set = [this](ssh_options_e option, const void* value) {
        return ssh_options_set(m_session, option, value) == SSH_OK;
    };
    const auto text = [&set](ssh_options_e option, const QString& value) {
        return set(option, value.toUtf8().constData());
    };
    const int no = 0;
    const long seconds = 10;
    bool done = set(SSH_OPTIONS_PROCESS_CONFIG, &no) && text(SSH_OPTIONS_HOST, config.hostname) &&
                text(SSH_OPTIONS_USER, config.user) && set(SSH_OPTIONS_PORT, &config.port) &&
                set(SSH_OPTIONS_TIMEOUT, &seconds) && set(SSH_OPTIONS_FD, &m_fd);
    const QStringList hostKeys = orderedHostKeyAlgorithms(config, known);
    if (done && !hostKeys.isEmpty())
        done = text(SSH_OPTIONS_HOSTKEYS, hostKeys.join(u','));
    // libssh drops what it does not know of these lists and refuses one that it knows nothing of.
    const std::initializer_list<std::pair<ssh_options_e, QString>> lists = {
        {SSH_OPTIONS_KEY_EXCHANGE, config.kexAlgorithms},
        {SSH_OPTIONS_CIPHERS_C_S, config.ciphers},
        {SSH_OPTIONS_CIPHERS_S_C, config.ciphers},
        {SSH_OPTIONS_HMAC_C_S, config.macs},
        {SSH_OPTIONS_HMAC_S_C, config.macs},
    };
    for (const auto& [option, list] : lists)
        done = done && (list.isEmpty() || text(option, list));
    if (!done)
        return fail(Error::Code::HostUnusable,
                    QStringLiteral("the ssh configuration of %1 cannot be used").arg(config.name),
                    errorText());
    ssh_set_blocking(m_session, 0);
    return {};
}

/// What to say when the handshake failed: above all, what both sides could have agreed on.
Error SshSession::noHandshake(const SshConfig& config) const {
    // As libssh puts it; the names of the lists are its own.
    static const QRegularExpression noMatch(QStringLiteral(
        "no match for method ([^:]*): server \\[([^\\]]*)\\], client \\[([^\\]]*)\\]"));
    const QString text = errorText();
    if (const auto match = noMatch.match(text); match.hasMatch())
        return {Error::Code::HostUnusable,
                QStringLiteral("%1 (port %2) and this program have no algorithm in common: %3")
                    .arg(config.name)
                    .arg(config.port)
                    .arg(match.captured(1)),
                QStringLiteral("the host offers %1; this program may use %2 (KexAlgorithms, "
                               "Ciphers, MACs and HostKeyAlgorithms in the ssh configuration "
                               "choose)")
                    .arg(match.captured(2), match.captured(3))};
    if (!ssh_get_serverbanner(m_session))
        return {Error::Code::HostUnusable,
                QStringLiteral("%1 (port %2) ended the connection before it said anything of SSH")
                    .arg(config.name)
                    .arg(config.port),
                QStringLiteral("%1; is an sshd behind that port? A host with too many connections "
                               "(MaxStartups), or one that bars this address for a while after "
                               "failed logins, does the same")
                    .arg(text)};
    return {Error::Code::HostUnusable,
            QStringLiteral("%1 (port %2) does not agree on an SSH connection")
                .arg(config.name)
                .arg(config.port),
            text};
}

Result<std::unique_ptr<SshSession>> SshSession::handshake(Underlay underlay,
                                                          const SshConfig& config,
                                                          const KnownHosts& known,
                                                          const Patience& patience) {
    static const int initialised = ssh_init();
    std::unique_ptr<SshSession> session(new SshSession);
    session->m_carrier = std::move(underlay.carrier);
    session->m_session = initialised == SSH_OK ? ssh_new() : nullptr;
    if (!session->m_session)
        return fail(Error::Code::HostUnusable, QStringLiteral("libssh cannot start"));
    session->m_fd = underlay.socket.get();
    if (auto configured = session->configure(config, known); !configured)
        return tl::unexpected<Error>(configured.error());
    ssh_session raw = session->m_session;
    const auto rc = session->await([raw] { return ssh_connect(raw); }, SSH_AGAIN,
                                   QStringLiteral("the SSH handshake"), patience);
    // From ssh_connect on, libssh closes the socket with the session.
    [[maybe_unused]] const int owned = underlay.socket.release();
    if (!rc)
        return tl::unexpected<Error>(rc.error());
    if (*rc != SSH_OK)
        return tl::unexpected<Error>(session->noHandshake(config));
    // libssh made the socket block; a full send buffer must not stop the thread.
    fcntl(session->m_fd, F_SETFL, fcntl(session->m_fd, F_GETFL) | O_NONBLOCK);
    return session;
}

Result<QByteArray> SshSession::hostKey() const {
    ssh_key key = nullptr;
    char* text = nullptr;
    QByteArray blob;
    if (ssh_get_server_publickey(m_session, &key) == SSH_OK &&
        ssh_pki_export_pubkey_base64(key, &text) == SSH_OK)
        blob = QByteArray::fromBase64(text);
    ssh_string_free_char(text);
    ssh_key_free(key);
    if (blob.isEmpty())
        return fail(Error::Code::HostUnusable, QStringLiteral("the host shows no usable key"),
                    errorText());
    return blob;
}

Result<int> SshSession::await(const std::function<int()>& step, int again, const QString& stage,
                              const Patience& patience) const {
    for (;;) {
        const int rc = step();
        if (rc != again)
            return rc;
        // libssh goes on saying so after the host has hung up.
        if (!ssh_is_connected(m_session))
            return SSH_ERROR;
        if (auto over = patience.over(stage))
            return tl::unexpected<Error>(*over);
        pollfd wait{m_fd, events(), 0};
        ::poll(&wait, 1, patience.slice());
    }
}

Result<KnownHosts> loadKnownHosts(const SshConfig& config) {
    KnownHosts known;
    for (const QString& path : config.userKnownHosts + config.globalKnownHosts) {
        if (auto added = known.addFile(config.expanded(path)); !added)
            return tl::unexpected<Error>(added.error());
    }
    if (config.revokedHostKeys.isEmpty())
        return known;
    const QString path = config.expanded(config.revokedHostKeys);
    QFile file(path);
    QByteArray content;
    if (file.open(QIODevice::ReadOnly))
        content = file.readAll();
    // As ssh does: with a list of revoked keys that cannot be read, no key is good.
    if (!file.isOpen() || content.startsWith("SSHKRL"))
        return fail(
            Error::Code::HostUnusable,
            QStringLiteral("cannot check the key of %1 for revocation").arg(config.name),
            QStringLiteral("RevokedHostKeys %1 is no readable list of public keys").arg(path));
    QByteArray lines;
    for (const QByteArray& line : content.split('\n'))
        lines +=
            line.trimmed().isEmpty() || line.startsWith('#') ? "\n" : "@revoked * " + line + '\n';
    known.addContent(lines, path);
    return known;
}

namespace {

tl::unexpected<Error> refuse(const QString& message, const QString& detail) {
    return fail(Error::Code::HostUnusable, message, detail);
}

/// The verdicts that no user and no option can outvote.
Result<void> refuseBadKey(const HostKeyVerdict& verdict, const SshConfig& config,
                          const NewHostKey& key) {
    using State = HostKeyVerdict::State;
    const QString shown = QStringLiteral("%1 %2").arg(key.type, key.fingerprint);
    const QString file = verdict.place.section(u':', 0, -2);
    switch (verdict.state) {
    case State::Known:
    case State::Unknown:
        return {};
    case State::Revoked:
        return refuse(
            QStringLiteral("the host key of %1 is revoked by %2").arg(config.name, verdict.place),
            QStringLiteral("it shows %1: do not trust this host until its administrator has "
                           "explained and replaced the key")
                .arg(shown));
    case State::Changed:
        return refuse(
            QStringLiteral("the host key of %1 has changed: it is not the one in %2")
                .arg(config.name, verdict.place),
            QStringLiteral("somebody may be listening in, or the host was installed anew. It shows "
                           "%1; if its administrator confirms this, remove the old key with: "
                           "ssh-keygen -R '%2' -f '%3'")
                .arg(shown, key.name, file));
    case State::OtherType:
        break;
    }
    return refuse(
        QStringLiteral("%1 shows a host key of another kind than the one in %2")
            .arg(config.name, verdict.place),
        QStringLiteral("it shows %1; if its administrator confirms this, connect once with ssh "
                       "to add it, or remove the old key with: ssh-keygen -R '%2' -f '%3'")
            .arg(shown, key.name, file));
}

/// Is a key that nobody knows to be trusted?
Result<bool> trustNewKey(const NewHostKey& key, const SshConfig& config, Approach& approach,
                         Patience& patience) {
    if (approach.options.acceptNewHostKeys || config.acceptNew)
        return true;
    if (config.refuseNew || config.batchMode)
        return false;
    return approach.trusts(key, patience);
}

} // namespace

Result<QString> checkHostKey(const SshSession& session, const SshConfig& config,
                             const KnownHosts& known, Approach& approach, Patience& patience) {
    const auto blob = session.hostKey();
    if (!blob)
        return tl::unexpected<Error>(blob.error());
    const HostKeyVerdict verdict =
        known.check(config.hostname, config.port, config.hostKeyAlias, *blob);
    const NewHostKey key{
        config.name, KnownHosts::nameFor(config.hostname, config.port, config.hostKeyAlias),
        QString::fromLatin1(KnownHosts::typeOf(*blob)), KnownHosts::fingerprint(*blob)};
    const QString shown = QStringLiteral("%1 %2").arg(key.type, key.fingerprint);
    if (auto good = refuseBadKey(verdict, config, key); !good)
        return tl::unexpected<Error>(good.error());
    if (verdict.state == HostKeyVerdict::State::Known)
        return QStringLiteral("%1, known from %2").arg(shown, verdict.place);
    const auto trusted = trustNewKey(key, config, approach, patience);
    if (!trusted)
        return tl::unexpected<Error>(trusted.error());
    if (!*trusted)
        return refuse(QStringLiteral("the host key of %1 is not known yet").arg(config.name),
                      QStringLiteral("it shows %1; compare it with the host's own, then connect "
                                     "once with ssh to add it, or allow new host keys "
                                     "(--accept-new on the command line)")
                          .arg(shown));
    if (config.userKnownHosts.isEmpty())
        return QStringLiteral("%1, new, and not kept").arg(shown);
    const QString file = config.expanded(config.userKnownHosts.first());
    if (auto added = KnownHosts::append(file, key.name, *blob, config.hashKnownHosts); !added)
        return tl::unexpected<Error>(added.error());
    return QStringLiteral("%1, new, added to %2").arg(shown, file);
}

} // namespace knobscope
