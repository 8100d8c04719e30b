// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/lab/lab.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QProcessEnvironment>

namespace knobscope::test {

namespace {
const char* const kFolder = KNOBSCOPE_SOURCE_DIR "/tests/lab/";
constexpr int kUpTimeoutMs = 60000;
/// A machine's packages may have to be fetched first.
constexpr int kMachineUpTimeoutMs = 600000;
} // namespace

Lab::Lab(Kind kind) : m_kind(kind) {
    // Nine characters at most: interface names carry it.
    static int count = 0;
    m_name = QStringLiteral("k%1%2")
                 .arg(QString::number(QCoreApplication::applicationPid(), 36))
                 .arg(QChar(u'a' + static_cast<char16_t>(count++ % 26)));
}

Lab::~Lab() {
    down();
}

Lab::Output Lab::run(const QStringList& arguments, int timeoutMs) const {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("KNOBSCOPE_LAB_NAME"), m_name);
    process.setProcessEnvironment(environment);
    const char* const script = m_kind == Kind::Machine ? "vmlab" : "lab";
    process.start(QLatin1String(kFolder) + QLatin1String(script), arguments, QIODevice::ReadOnly);
    Output output;
    if (!process.waitForFinished(timeoutMs)) {
        output.err = process.errorString().toUtf8();
        process.kill();
        process.waitForFinished(5000);
        return output;
    }
    output.out = process.readAllStandardOutput();
    output.err = process.readAllStandardError();
    if (process.exitStatus() == QProcess::NormalExit)
        output.status = process.exitCode();
    return output;
}

bool Lab::up(const QStringList& options) {
    const QString owner = QString::number(QCoreApplication::applicationPid());
    const Output output =
        run(QStringList{QStringLiteral("up"), QStringLiteral("--owner"), owner} + options,
            m_kind == Kind::Machine ? kMachineUpTimeoutMs : kUpTimeoutMs);
    if (!output.ok()) {
        m_error = QStringLiteral("the lab did not come up: ") + QString::fromUtf8(output.err);
        return false;
    }
    if (!parse(output.out)) {
        m_error =
            QStringLiteral("the lab's answer is not understood: ") + QString::fromUtf8(output.out);
        return false;
    }
    m_error.clear();
    return true;
}

bool Lab::parse(const QByteArray& json) {
    const QJsonObject lab = QJsonDocument::fromJson(json).object();
    m_sshConfig = lab[QLatin1String("ssh_config")].toString();
    m_identity = lab[QLatin1String("identity")].toString();
    m_knownHosts = lab[QLatin1String("known_hosts")].toString();
    m_hosts.clear();
    const QJsonArray hosts = lab[QLatin1String("hosts")].toArray();
    for (const QJsonValue& value : hosts) {
        const QJsonObject object = value.toObject();
        Host host;
        host.name = object[QLatin1String("name")].toString();
        host.userAlias = object[QLatin1String("user_alias")].toString();
        host.controlAddress = object[QLatin1String("control_address")].toString();
        host.controlInterface = object[QLatin1String("control_interface")].toString();
        host.testAddress = object[QLatin1String("test_address")].toString();
        host.testInterface = object[QLatin1String("test_interface")].toString();
        host.hostKey = object[QLatin1String("host_key")].toString();
        host.pid = object[QLatin1String("pid")].toInteger();
        m_hosts.append(host);
    }
    return !m_sshConfig.isEmpty() && !m_hosts.isEmpty();
}

void Lab::down() {
    if (m_hosts.isEmpty())
        return;
    const Output output = run({QStringLiteral("down")});
    if (!output.ok())
        qWarning("the lab %s was not taken down: %s", qUtf8Printable(m_name),
                 output.err.constData());
    m_hosts.clear();
}

Lab::Output Lab::exec(const QString& host, const QStringList& command, int timeoutMs) const {
    return run(QStringList{QStringLiteral("exec"), host} + command, timeoutMs);
}

bool Lab::setControlLink(const QString& host, bool up) const {
    return run({QStringLiteral("link"), host, up ? QStringLiteral("up") : QStringLiteral("down")})
        .ok();
}

bool Lab::setTestPathMtu(const QString& host, const QString& mtu) const {
    return run({QStringLiteral("port"), host, mtu}).ok();
}

bool Lab::setSshd(const QString& host, bool running) const {
    return run({QStringLiteral("sshd"), host,
                running ? QStringLiteral("up") : QStringLiteral("down")})
        .ok();
}

QList<qint64> Lab::pids(const QString& host, const QString& pattern) const {
    QList<qint64> result;
    const QList<QByteArray> lines = run({QStringLiteral("pids"), host, pattern}).out.split('\n');
    for (const QByteArray& line : lines) {
        bool isNumber = false;
        const qint64 pid = line.toLongLong(&isNumber);
        if (isNumber)
            result.append(pid);
    }
    return result;
}

} // namespace knobscope::test
