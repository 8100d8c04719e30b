// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/lab/sshlab.h"

#include <QFile>
#include <QTest>

namespace knobscope::test {

bool writeFile(const QString& path, const QByteArray& content) {
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(content) == content.size();
}

QByteArray readFile(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

bool keygen(const QString& path, const QString& comment, const QString& passphrase,
            const QString& type) {
    return QProcess::execute(QStringLiteral("ssh-keygen"),
                             {QStringLiteral("-q"), QStringLiteral("-t"), type,
                              QStringLiteral("-N"), passphrase, QStringLiteral("-C"), comment,
                              QStringLiteral("-f"), path}) == 0;
}

bool certify(const QString& authority, const QString& path, const QString& users) {
    return QProcess::execute(QStringLiteral("ssh-keygen"),
                             {QStringLiteral("-q"), QStringLiteral("-s"), authority,
                              QStringLiteral("-I"), QStringLiteral("test"), QStringLiteral("-n"),
                              users, path + QStringLiteral(".pub")}) == 0;
}

bool SshLab::up(const QStringList& options) {
    qunsetenv("SSH_AUTH_SOCK");
    return m_lab.up(options);
}

HostOptions SshLab::options() const {
    HostOptions options;
    options.run = QStringLiteral("test");
    options.sshConfig = m_lab.sshConfig();
    return options;
}

HostOptions SshLab::options(const QByteArray& more, Identity identity) {
    QByteArray lines = "Host lab\n" + more + "\nHost lab\n HostName " +
                       m_lab.host(0).controlAddress.toUtf8() + "\n User root\n";
    if (identity == Identity::None && !more.contains("IdentityFile"))
        lines += " IdentityFile none\n";
    const QByteArray own = " IdentityFile " + m_lab.identity().toUtf8() + "\n";
    HostOptions made = config(lines);
    if (identity == Identity::None)
        writeFile(made.sshConfig, readFile(made.sshConfig).replace(own, ""));
    return made;
}

HostOptions SshLab::config(const QByteArray& lines) {
    HostOptions made = options();
    made.sshConfig = path(QStringLiteral("config"));
    if (!writeFile(made.sshConfig, lines + "\nHost *\n IdentityFile " + m_lab.identity().toUtf8() +
                                       "\n UserKnownHostsFile " + m_lab.knownHosts().toUtf8() +
                                       "\n GlobalKnownHostsFile none\n HashKnownHosts no\n"))
        qFatal("cannot write the configuration");
    return made;
}

HostSpec SshLab::spec(const QString& name) {
    HostSpec host;
    host.ssh = name;
    return host;
}

Session SshLab::open(const QString& name, const HostOptions& options) {
    return HostSession::open(spec(name), options, {});
}

const char* SshLab::why(const Session& session) {
    static QByteArray text;
    text = session ? QByteArray() : session.error().text().toUtf8();
    return text.constData();
}

QByteArray SshLab::sh(const QByteArray& command, const QString& host) const {
    return m_lab
        .exec(host, {QStringLiteral("sh"), QStringLiteral("-c"), QString::fromUtf8(command)})
        .out;
}

QList<qint64> SshLab::agents(const QString& host) const {
    return m_lab.pids(host, QStringLiteral("^[^ ]*/agent-[0-9a-f]{64}"));
}

QByteArray SshLab::fill(QByteArray text) const {
    return text.replace("KEY", m_lab.host(0).hostKey.toUtf8())
        .replace("HOST", m_lab.host(0).controlAddress.toUtf8());
}

LabSshd::LabSshd(const SshLab& lab, int port, const QByteArray& settings, const QString& host)
    : m_lab(lab), m_port(port), m_host(host) {
    const QByteArray number = QByteArray::number(port);
    const QByteArray file = "/run/sshd-" + number + ".config";
    const QByteArray said =
        m_lab.sh("{ echo 'Port " + number + "\nPidFile /run/sshd-" + number + ".pid\n" + settings +
                     "'; grep -v -e ^Port -e ^PidFile /etc/knobscope-lab/sshd_config; } >" + file +
                     " && /usr/sbin/sshd -f " + file + " 2>&1 && echo started",
                 host);
    if (said != "started\n")
        qFatal("no sshd at port %d: %s", port, said.constData());
}

LabSshd::~LabSshd() {
    m_lab.sh("kill $(cat /run/sshd-" + QByteArray::number(m_port) + ".pid)", m_host);
}

KeyRing::KeyRing(const QString& socket) {
    // One that was there before may have left its socket.
    QFile::remove(socket);
    m_agent.start(QStringLiteral("ssh-agent"),
                  {QStringLiteral("-D"), QStringLiteral("-a"), socket});
    m_agent.waitForStarted();
    if (!QTest::qWaitFor([&] { return QFile::exists(socket); }, 5000))
        qFatal("no ssh-agent");
    qputenv("SSH_AUTH_SOCK", QFile::encodeName(socket));
}

KeyRing::~KeyRing() {
    qunsetenv("SSH_AUTH_SOCK");
    m_agent.kill();
    m_agent.waitForFinished();
}

bool KeyRing::add(const QString& key) const {
    return QProcess::execute(QStringLiteral("ssh-add"), {QStringLiteral("-q"), key}) == 0;
}

ScriptedUser::ScriptedUser(const QByteArray& answer)
    : m_answers([answer](const SecretRequest&) { return Secret(answer.toStdString()); }) {}

Result<Secret> ScriptedUser::ask(const SecretRequest& request, const CancelToken&) {
    {
        const std::scoped_lock lock(m_mutex);
        m_asked << request;
    }
    return m_answers(request);
}

void ScriptedUser::judge(const SecretRequest&, const Secret&, bool right) {
    const std::scoped_lock lock(m_mutex);
    m_verdicts << right;
}

Result<bool> ScriptedUser::trusts(const NewHostKey& key, const CancelToken&) {
    const std::scoped_lock lock(m_mutex);
    m_keys << key;
    return trusting;
}

QList<SecretRequest> ScriptedUser::asked() const {
    const std::scoped_lock lock(m_mutex);
    return m_asked;
}

QList<bool> ScriptedUser::verdicts() const {
    const std::scoped_lock lock(m_mutex);
    return m_verdicts;
}

QList<NewHostKey> ScriptedUser::keys() const {
    const std::scoped_lock lock(m_mutex);
    return m_keys;
}

} // namespace knobscope::test
