// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fault/hostreading.h"

#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

namespace knobscope::test {

namespace {

constexpr int kAnswerMs = 10000;
const QString kEnd = QStringLiteral("end of the reading");

const QByteArray kScript =
    "for f in tcp_limit_output_bytes tcp_autocorking tcp_notsent_lowat tcp_rmem tcp_wmem; do "
    "echo \"sysctl $f: $(cat /proc/sys/net/ipv4/$f)\"; done\n"
    "ip -d -j link show dev test0; echo\n"
    "tc qdisc show dev test0 | sed 's/^/root: /'\n"
    "ethtool -k test0\n";

void takeLink(const QString& json, HostValues& values) {
    const QJsonObject link = QJsonDocument::fromJson(json.toUtf8()).array().at(0).toObject();
    for (const char* name : {"mtu", "txqlen", "qdisc", "gso_max_size", "gso_max_segs",
                             "gro_max_size", "gso_ipv4_max_size", "gro_ipv4_max_size"})
        values.insert(QStringLiteral("link ") + QLatin1String(name),
                      link.value(QLatin1String(name)).toVariant().toString());
}

} // namespace

QStringList differences(const HostValues& before, const HostValues& now) {
    if (now.isEmpty())
        return {QStringLiteral("the host does not answer")};
    QStringList found;
    for (auto value = before.cbegin(); value != before.cend(); ++value) {
        if (now.value(value.key()) != value.value())
            found.append(QStringLiteral("%1 is %2, was %3")
                             .arg(value.key(), now.value(value.key()), value.value()));
    }
    for (auto value = now.cbegin(); value != now.cend(); ++value) {
        if (!before.contains(value.key()))
            found.append(QStringLiteral("%1 is %2, was not there").arg(value.key(), value.value()));
    }
    return found;
}

HostReader::HostReader(const Lab::Host& host) {
    m_shell.start(QStringLiteral("nsenter"),
                  {QStringLiteral("-t"), QString::number(host.pid), QStringLiteral("-m"),
                   QStringLiteral("-u"), QStringLiteral("-i"), QStringLiteral("-n"),
                   QStringLiteral("-p"), QStringLiteral("--"), QStringLiteral("sh")});
    m_shell.waitForStarted();
}

HostReader::~HostReader() {
    m_shell.closeWriteChannel();
    if (!m_shell.waitForFinished(2000)) {
        m_shell.kill();
        m_shell.waitForFinished(2000);
    }
}

QStringList HostReader::ask(const QByteArray& script) {
    m_shell.write(script + "echo; echo '" + kEnd.toUtf8() + "'\n");
    QByteArray said;
    QElapsedTimer timer;
    timer.start();
    while (!said.endsWith(kEnd.toUtf8() + '\n')) {
        if (timer.elapsed() > kAnswerMs || m_shell.state() == QProcess::NotRunning)
            return {};
        m_shell.waitForReadyRead(1000);
        said += m_shell.readAllStandardOutput();
    }
    QStringList lines = QString::fromUtf8(said).split(u'\n', Qt::SkipEmptyParts);
    lines.removeLast();
    return lines;
}

HostValues HostReader::read() {
    HostValues values;
    for (const QString& line : ask(kScript)) {
        if (line.startsWith(u'[')) {
            takeLink(line, values);
            continue;
        }
        const auto colon = line.indexOf(QLatin1String(": "));
        if (colon > 0)
            values.insert(line.left(colon).simplified(), line.mid(colon + 2).simplified());
    }
    return values;
}

QStringList HostReader::journals() {
    return ask("ls /run/knobscope /tmp/knobscope-0 2>/dev/null | grep journal\n");
}

} // namespace knobscope::test
