// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/lab/lab.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTest>

#include <csignal>

using knobscope::test::Lab;

/// The lab keeps what it promises: two real hosts, faults on demand, nothing left behind.
class TestLab : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void hostsAreSeparate();
    void sshReachesRootAndUser();
    void testNetworkJoinsHosts();
    void controlLinkCanBePulled();
    void sshdCanBeKilledAndStarted();
    void processesAreFound();
    void unknownHostIsRefused();
    void twoLabsSideBySide();
    void downLeavesNothing();

private:
    int ssh(const QString& alias, const QString& command, QByteArray* out = nullptr) const;
    Lab m_lab;
};

int TestLab::ssh(const QString& alias, const QString& command, QByteArray* out) const {
    QProcess process;
    process.start(QStringLiteral("ssh"), {QStringLiteral("-F"), m_lab.sshConfig(), alias, command},
                  QIODevice::ReadOnly);
    if (!process.waitForFinished(30000))
        return -1;
    if (out)
        *out = process.readAllStandardOutput().trimmed();
    return process.exitCode();
}

void TestLab::initTestCase() {
    QVERIFY2(m_lab.up({QStringLiteral("--rate"), QStringLiteral("100mbit")}),
             qUtf8Printable(m_lab.error()));
    QCOMPARE(m_lab.hosts().size(), 2);
}

void TestLab::hostsAreSeparate() {
    // A name of this run's own: what another run left is no proof against this one.
    const QString file =
        QStringLiteral("/var/tmp/of-a-lab-host.%1").arg(QCoreApplication::applicationPid());
    const QStringList write{QStringLiteral("sh"), QStringLiteral("-c"),
                            QStringLiteral("hostname; echo 7 > /proc/sys/net/ipv4/tcp_reordering; "
                                           "touch %1; ls %1; "
                                           "cat /proc/sys/net/ipv4/tcp_reordering")
                                .arg(file)};
    const Lab::Output first = m_lab.exec(QStringLiteral("host1"), write);
    QVERIFY2(first.ok(), first.err.constData());
    QCOMPARE(first.out, "host1\n" + file.toUtf8() + "\n7\n");
    const Lab::Output second = m_lab.exec(
        QStringLiteral("host2"), {QStringLiteral("sh"), QStringLiteral("-c"),
                                  QStringLiteral("hostname; ls /var/tmp; "
                                                 "cat /proc/sys/net/ipv4/tcp_reordering")});
    QCOMPARE(second.out, QByteArray("host2\n3\n"));
    QVERIFY(!QFile::exists(file));
}

void TestLab::sshReachesRootAndUser() {
    QByteArray out;
    QCOMPARE(ssh(m_lab.host(0).name, QStringLiteral("hostname; id -u"), &out), 0);
    QCOMPARE(out, QByteArray("host1\n0"));
    QCOMPARE(ssh(m_lab.host(1).userAlias, QStringLiteral("hostname; id -u"), &out), 0);
    QCOMPARE(out, QByteArray("host2\n7701"));
}

void TestLab::testNetworkJoinsHosts() {
    const Lab::Output ping =
        m_lab.exec(m_lab.host(0).name,
                   {QStringLiteral("ping"), QStringLiteral("-c1"), QStringLiteral("-W2"),
                    QStringLiteral("-I"), m_lab.host(0).testInterface, m_lab.host(1).testAddress});
    QVERIFY2(ping.ok(), ping.out + ping.err);
    const Lab::Output shaper =
        m_lab.exec(QStringLiteral("wire"), {QStringLiteral("tc"), QStringLiteral("qdisc")});
    QVERIFY2(shaper.out.contains("tbf"), shaper.out.constData());
}

void TestLab::controlLinkCanBePulled() {
    const QStringList carrier{QStringLiteral("cat"), QStringLiteral("/sys/class/net/ctl0/carrier")};
    QVERIFY(m_lab.setControlLink(QStringLiteral("host2"), false));
    QCOMPARE(m_lab.exec(QStringLiteral("host2"), carrier).out, QByteArray("0\n"));
    QVERIFY(ssh(QStringLiteral("host2"), QStringLiteral("true")) != 0);
    QVERIFY(m_lab.setControlLink(QStringLiteral("host2"), true));
    QTRY_COMPARE_WITH_TIMEOUT(ssh(QStringLiteral("host2"), QStringLiteral("true")), 0, 20000);
}

void TestLab::sshdCanBeKilledAndStarted() {
    const QString sshd = QStringLiteral("sshd");
    QVERIFY(!m_lab.pids(QStringLiteral("host1"), sshd).isEmpty());
    QVERIFY(m_lab.setSshd(QStringLiteral("host1"), false));
    QTRY_VERIFY(m_lab.pids(QStringLiteral("host1"), sshd).isEmpty());
    QVERIFY(ssh(QStringLiteral("host1"), QStringLiteral("true")) != 0);
    // The host itself lives on.
    QVERIFY(m_lab.exec(QStringLiteral("host1"), {QStringLiteral("true")}).ok());
    QVERIFY(m_lab.setSshd(QStringLiteral("host1"), true));
    QTRY_COMPARE_WITH_TIMEOUT(ssh(QStringLiteral("host1"), QStringLiteral("true")), 0, 20000);
}

void TestLab::processesAreFound() {
    QProcess sleeper;
    sleeper.start(QStringLiteral("ssh"), {QStringLiteral("-F"), m_lab.sshConfig(),
                                          QStringLiteral("host1"), QStringLiteral("sleep 4711")});
    const QString pattern = QStringLiteral("^sleep 4711");
    QTRY_COMPARE_WITH_TIMEOUT(m_lab.pids(QStringLiteral("host1"), pattern).size(), 1, 20000);
    QVERIFY(m_lab.pids(QStringLiteral("host2"), pattern).isEmpty());
    const auto pid = static_cast<pid_t>(m_lab.pids(QStringLiteral("host1"), pattern).constFirst());
    QCOMPARE(::kill(pid, SIGKILL), 0);
    QTRY_VERIFY(m_lab.pids(QStringLiteral("host1"), pattern).isEmpty());
    QVERIFY(sleeper.waitForFinished(20000));
    // Whoever is left without a parent is reaped, so a dead process is seen to be gone.
    QTRY_VERIFY(::kill(pid, 0) != 0);
}

void TestLab::unknownHostIsRefused() {
    const Lab::Output output = m_lab.exec(QStringLiteral("host7"), {QStringLiteral("true")});
    QCOMPARE(output.status, 1);
    QVERIFY2(output.err.contains("no such host: host7"), output.err.constData());
    QVERIFY(!m_lab.setControlLink(QStringLiteral("host7"), false));
}

void TestLab::twoLabsSideBySide() {
    Lab other;
    QVERIFY2(other.up(), qUtf8Printable(other.error()));
    QVERIFY(other.name() != m_lab.name());
    QVERIFY(other.host(0).controlAddress != m_lab.host(0).controlAddress);
    QVERIFY(other.host(0).hostKey != m_lab.host(0).hostKey);
    other.down();
    QCOMPARE(ssh(QStringLiteral("host1"), QStringLiteral("true")), 0);
}

void TestLab::downLeavesNothing() {
    const QString name = m_lab.name();
    const pid_t init = static_cast<pid_t>(m_lab.host(0).pid);
    m_lab.down();
    QVERIFY(::kill(init, 0) != 0);
    QVERIFY(!QFile::exists(QStringLiteral("/run/knobscope-lab/") + name));
    QVERIFY(QDir(QStringLiteral("/sys/class/net")).entryList({name + u'*'}).isEmpty());
    QVERIFY(QDir(QStringLiteral("/run/netns")).entryList({name + u'*'}).isEmpty());
    QVERIFY(QDir(QStringLiteral("/run/lock"))
                .entryList({QStringLiteral("*%1*").arg(name)}, QDir::Files)
                .isEmpty());
}

QTEST_GUILESS_MAIN(TestLab)
#include "tst_lab.moc"
