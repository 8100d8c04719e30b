// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/hostsession.h"
#include "core/host/secretsource.h"
#include "tests/lab/lab.h"

#include <QProcess>
#include <QTemporaryDir>

#include <mutex>

namespace knobscope::test {

using Session = Result<std::unique_ptr<HostSession>>;

/// A lab, and ssh configurations to reach its hosts by. One thread but where it says otherwise.
class SshLab {
public:
    enum class Identity { Lab, None };

    /// Starts without an ssh-agent. `options` as for Lab::up. False: error() says why.
    [[nodiscard]] bool up(const QStringList& options = {});
    [[nodiscard]] Lab& lab() { return m_lab; }
    [[nodiscard]] QString error() const { return m_lab.error(); }
    /// In a folder that goes with this object.
    [[nodiscard]] QString path(const QString& name) const { return m_dir.filePath(name); }

    /// The lab's own configuration, with host1 (root), user1 (the user op), ...
    [[nodiscard]] HostOptions options() const;
    /// One for the host "lab", which is root on host1, with more options before the usual ones.
    [[nodiscard]] HostOptions options(const QByteArray& more, Identity identity = Identity::Lab);
    /// One of these lines, then for all hosts: known_hosts and the identity of the lab.
    [[nodiscard]] HostOptions config(const QByteArray& lines);

    [[nodiscard]] static HostSpec spec(const QString& name);
    /// Any thread.
    [[nodiscard]] Session open(const QString& name) const { return open(name, options()); }
    [[nodiscard]] static Session open(const QString& name, const HostOptions& options);
    /// The text of the error, for messages of tests.
    [[nodiscard]] static const char* why(const Session& session);

    /// Runs a shell command as root in a host, without SSH, and returns its output.
    QByteArray sh(const QByteArray& command, const QString& host = QStringLiteral("host1")) const;
    /// Processes of agents in a host.
    [[nodiscard]] QList<qint64> agents(const QString& host = QStringLiteral("host1")) const;
    /// Replaces KEY by host1's key and HOST by its address.
    [[nodiscard]] QByteArray fill(QByteArray text) const;

private:
    Lab m_lab;
    QTemporaryDir m_dir;
};

/// Another sshd in a host of the lab, at a port of its own, while it lives.
class LabSshd {
public:
    /// `settings` go before the usual ones, and so win.
    LabSshd(const SshLab& lab, int port, const QByteArray& settings,
            const QString& host = QStringLiteral("host1"));
    ~LabSshd();
    LabSshd(const LabSshd&) = delete;
    LabSshd& operator=(const LabSshd&) = delete;

private:
    const SshLab& m_lab;
    const int m_port;
    const QString m_host;
};

/// A real ssh-agent while it lives; $SSH_AUTH_SOCK names it.
class KeyRing {
public:
    explicit KeyRing(const QString& socket);
    ~KeyRing();
    KeyRing(const KeyRing&) = delete;
    KeyRing& operator=(const KeyRing&) = delete;
    [[nodiscard]] qint64 pid() const { return m_agent.processId(); }
    [[nodiscard]] bool add(const QString& key) const;

private:
    QProcess m_agent;
};

/// A user who answers as the test says. Any thread.
class ScriptedUser final : public SecretSource {
public:
    using Answers = std::function<Result<Secret>(const SecretRequest&)>;
    explicit ScriptedUser(Answers answers) : m_answers(std::move(answers)) {}
    /// Answers everything with the same.
    explicit ScriptedUser(const QByteArray& answer);

    Result<Secret> ask(const SecretRequest& request, const CancelToken& cancel) override;
    void judge(const SecretRequest& request, const Secret& answer, bool right) override;
    Result<bool> trusts(const NewHostKey& key, const CancelToken& cancel) override;

    [[nodiscard]] QList<SecretRequest> asked() const;
    [[nodiscard]] QList<bool> verdicts() const;
    [[nodiscard]] QList<NewHostKey> keys() const;
    bool trusting = false; ///< set before use

private:
    const Answers m_answers;
    mutable std::mutex m_mutex;
    QList<SecretRequest> m_asked;
    QList<bool> m_verdicts;
    QList<NewHostKey> m_keys;
};

bool writeFile(const QString& path, const QByteArray& content);
[[nodiscard]] QByteArray readFile(const QString& path);
/// Makes a key pair; false when ssh-keygen fails.
[[nodiscard]] bool keygen(const QString& path, const QString& comment,
                          const QString& passphrase = {},
                          const QString& type = QStringLiteral("ed25519"));
/// Signs PATH.pub for these users; the certificate is PATH-cert.pub.
[[nodiscard]] bool certify(const QString& authority, const QString& path, const QString& users);

} // namespace knobscope::test
