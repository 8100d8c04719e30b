// SPDX-License-Identifier: GPL-3.0-or-later
// How the end of contact with a host is noticed, whatever ends it.
#include "tests/lab/sshlab.h"

#include <QDir>
#include <QElapsedTimer>
#include <QTest>

#include <csignal>
#include <thread>

#include <unistd.h>

using namespace knobscope;
using namespace knobscope::test;
using namespace std::chrono_literals;
using Code = Error::Code;

class TestSshHostLost : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (geteuid() != 0)
            QSKIP("hosts in network namespaces need root");
        QVERIFY2(m_lab.up(), qPrintable(m_lab.error()));
    }

    void cancelIsQuick() {
        QVERIFY(m_lab.lab().setControlLink(QStringLiteral("host1"), false));
        CancelToken cancel;
        HostOptions o = m_lab.options();
        o.connectTimeout = 30s;
        std::chrono::steady_clock::time_point asked;
        std::thread canceller([&] {
            std::this_thread::sleep_for(300ms);
            asked = std::chrono::steady_clock::now();
            cancel.cancel();
        });
        const Session session = HostSession::open(SshLab::spec(QStringLiteral("host1")), o, cancel);
        const auto ended = std::chrono::steady_clock::now();
        canceller.join();
        QVERIFY(m_lab.lab().setControlLink(QStringLiteral("host1"), true));
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Code::Cancelled));
        QVERIFY2(ended - asked < 500ms, "a cancel is seen at once");
    }

    void closingLeavesNothingRunning() {
        Session session = m_lab.open(QStringLiteral("host1"));
        QVERIFY2(session, SshLab::why(session));
        QVERIFY(!m_lab.agents().isEmpty());
        QElapsedTimer timer;
        timer.start();
        session->reset();
        QVERIFY(timer.elapsed() < 2500);
        QTRY_VERIFY_WITH_TIMEOUT(m_lab.agents().isEmpty(), 5000);
    }

    void nothingStaysOpen_data() {
        QTest::addColumn<QByteArray>("options");
        QTest::addColumn<bool>("works");
        QTest::newRow("closed") << QByteArray() << true;
        QTest::newRow("refused") << QByteArray(" User no-such-user\n") << false;
        QTest::newRow("no handshake")
            << QByteArray(" KexAlgorithms diffie-hellman-group1-sha1\n") << false;
        QTest::newRow("unknown host key") << QByteArray(" UserKnownHostsFile none\n") << false;
        QTest::newRow("no sshd") << QByteArray(" Port 1\n") << false;
        QTest::newRow("jump host")
            << QByteArray(" ProxyJump lab2\nHost lab2\n User root\n HostName HOST\n") << true;
        QTest::newRow("jump host that reaches nothing")
            << QByteArray(" Port 1\n ProxyJump lab2\nHost lab2\n User root\n HostName HOST\n")
            << false;
        QTest::newRow("program") << QByteArray(" ProxyCommand false\n") << false;
    }
    void nothingStaysOpen() {
        QFETCH(QByteArray, options);
        QFETCH(bool, works);
        const HostOptions o = m_lab.options(m_lab.fill(options));
        const auto open = [] {
            return QDir(QStringLiteral("/proc/self/fd")).entryList(QDir::System | QDir::AllEntries);
        };
        QStringList before;
        for (int i = 0; i < 4; ++i) {
            // The first may open what stays for the life of the program.
            if (i == 1)
                before = open();
            Session session = m_lab.open(QStringLiteral("lab"), o);
            QVERIFY2(session.has_value() == works, SshLab::why(session));
        }
        QCOMPARE(open().size(), before.size());
    }

    void killedAgentIsNoticedAtOnce() {
        const Session session = m_lab.open(QStringLiteral("host1"));
        QVERIFY2(session, SshLab::why(session));
        for (const qint64 pid : m_lab.agents())
            kill(pid_t(pid), SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT((*session)->lost(), 3000);
        auto call = (*session)->call(protocol::method::kPing, Json::object(), 5s);
        QCOMPARE(int(call.get().error().code), int(Code::LinkLost));
    }

    void killedSshdIsNoticedAtOnce() {
        const Session session = m_lab.open(QStringLiteral("host1"));
        QVERIFY2(session, SshLab::why(session));
        QVERIFY(m_lab.lab().setSshd(QStringLiteral("host1"), false));
        QTRY_VERIFY_WITH_TIMEOUT((*session)->lost(), 3000);
        // Without sshd there is nothing to connect to.
        const Session refused = m_lab.open(QStringLiteral("host1"));
        QVERIFY(m_lab.lab().setSshd(QStringLiteral("host1"), true));
        QVERIFY(!refused);
        QVERIFY2(refused.error().text().contains(QStringLiteral("refuses the connection")),
                 SshLab::why(refused));
        QTRY_VERIFY_WITH_TIMEOUT(m_lab.open(QStringLiteral("host1")).has_value(), 10000);
    }

    void silentCutIsNoticedInTime() {
        HostOptions o = m_lab.options();
        o.pingInterval = 200ms;
        o.lostAfter = 1500ms;
        const Session session = m_lab.open(QStringLiteral("host1"), o);
        QVERIFY2(session, SshLab::why(session));
        QElapsedTimer timer;
        timer.start();
        QVERIFY(m_lab.lab().setControlLink(QStringLiteral("host1"), false));
        auto call = (*session)->call(protocol::method::kPing, Json::object(), 60s);
        const auto result = call.get();
        const qint64 took = timer.elapsed();
        QVERIFY(m_lab.lab().setControlLink(QStringLiteral("host1"), true));
        QVERIFY(!result);
        QCOMPARE(int(result.error().code), int(Code::LinkLost));
        QVERIFY2(took < 1500 + 1000, qPrintable(QString::number(took)));
    }

    void stoppedAgentIsNoticedInTime() {
        HostOptions o = m_lab.options();
        o.pingInterval = 200ms;
        o.lostAfter = 1500ms;
        const Session session = m_lab.open(QStringLiteral("host1"), o);
        QVERIFY2(session, SshLab::why(session));
        const QList<qint64> stopped = m_lab.agents();
        for (const qint64 pid : stopped)
            kill(pid_t(pid), SIGSTOP);
        QElapsedTimer timer;
        timer.start();
        QTRY_VERIFY_WITH_TIMEOUT((*session)->lost(), 5000);
        const qint64 took = timer.elapsed();
        for (const qint64 pid : stopped)
            kill(pid_t(pid), SIGCONT);
        QVERIFY2(took < 1500 + 1000, qPrintable(QString::number(took)));
    }

    void killedSessionOfSshdIsNoticedAtOnce() {
        const Session session = m_lab.open(QStringLiteral("host1"));
        QVERIFY2(session, SshLab::why(session));
        // Only the process of this session; the host's sshd lives on.
        const QList<qint64> serving =
            m_lab.lab().pids(QStringLiteral("host1"), QStringLiteral("^sshd: root@notty"));
        QVERIFY(!serving.isEmpty());
        for (const qint64 pid : serving)
            kill(pid_t(pid), SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT((*session)->lost(), 3000);
        const Session again = m_lab.open(QStringLiteral("host1"));
        QVERIFY2(again, SshLab::why(again));
    }

    void agentThatReadsNothingHoldsNothingUp() {
        HostOptions o = m_lab.options();
        o.pingInterval = 200ms;
        o.lostAfter = 1500ms;
        Session session = m_lab.open(QStringLiteral("host1"), o);
        QVERIFY2(session, SshLab::why(session));
        const QList<qint64> stopped = m_lab.agents();
        for (const qint64 pid : stopped)
            kill(pid_t(pid), SIGSTOP);
        // Far more than the channel's window and the host's pipe take.
        const Json params = {{"interface", std::string(8 << 20, 'x')}};
        QElapsedTimer timer;
        timer.start();
        auto call = (*session)->call(protocol::method::kEnvironment, params, 60s);
        const auto answer = call.get();
        QVERIFY(!answer);
        QCOMPARE(int(answer.error().code), int(Code::LinkLost));
        QVERIFY2(timer.elapsed() < 1500 + 1500, qPrintable(QString::number(timer.elapsed())));
        session->reset();
        for (const qint64 pid : stopped)
            kill(pid_t(pid), SIGCONT);
        QVERIFY2(timer.elapsed() < 6000, qPrintable(QString::number(timer.elapsed())));
    }

    void childThatHoldsTheOutputDoesNotDelayTheEnd() {
        m_lab.sh("echo 'sleep 4 &' >/home/op/.bashrc");
        Session session = m_lab.open(QStringLiteral("user1"));
        m_lab.sh("rm -f /home/op/.bashrc");
        QVERIFY2(session, SshLab::why(session));
        QElapsedTimer timer;
        timer.start();
        for (const qint64 pid : m_lab.agents())
            kill(pid_t(pid), SIGKILL);
        // The output stays open as long as the child lives; the agent's end is known all the same.
        QTRY_VERIFY_WITH_TIMEOUT((*session)->lost(), 8000);
        session->reset();
        QVERIFY2(timer.elapsed() < 3000, qPrintable(QString::number(timer.elapsed())));
    }

private:
    SshLab m_lab;
};

QTEST_GUILESS_MAIN(TestSshHostLost)
#include "tst_sshhostlost.moc"
