// SPDX-License-Identifier: GPL-3.0-or-later
// How the agent comes to a host through a real sshd, and when it does not.
#include "tests/lab/sshlab.h"

#include <QElapsedTimer>
#include <QTest>

#include <array>
#include <csignal>
#include <thread>

#include <unistd.h>

using namespace knobscope;
using namespace knobscope::test;
using namespace std::chrono_literals;
using Code = Error::Code;

class TestSshHost : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (geteuid() != 0)
            QSKIP("hosts in network namespaces need root");
        QVERIFY2(m_lab.up(), qPrintable(m_lab.error()));
    }

    void cleanup() {
        // Tests that harm a host heal it themselves when all goes well; this is for when not.
        if (m_lab.lab().isUp() && QTest::currentTestFailed())
            m_lab.sh("usermod -s /bin/bash op; rm -f /home/op/.bashrc");
    }

    void bringsTheAgentOnceOnly() {
        const QByteArray count = "ls /var/tmp/knobscope-0 | grep -c ^agent-";
        m_lab.sh("rm -rf /var/tmp/knobscope-0");
        {
            const Session session = m_lab.open(QStringLiteral("host1"));
            QVERIFY2(session, SshLab::why(session));
            QCOMPARE((*session)->hello().hostname, std::string("host1"));
            QCOMPARE((*session)->hello().uid, 0);
            QCOMPARE((*session)->label(), QStringLiteral("host1"));
            auto call = (*session)->call(protocol::method::kEnvironment, Json::object(), 5s);
            const auto environment = call.get();
            QVERIFY2(environment, environment ? "" : qPrintable(environment.error().text()));
            QVERIFY(environment->get<protocol::Environment>().facts.contains("kernel"));
        }
        QCOMPARE(m_lab.sh(count), QByteArray("1\n"));
        QCOMPARE(m_lab.sh("stat -c %a /var/tmp/knobscope-0 /var/tmp/knobscope-0/agent-*"),
                 QByteArray("700\n700\n"));
        const QByteArray inode = m_lab.sh("stat -c %i /var/tmp/knobscope-0/agent-*");
        QElapsedTimer timer;
        timer.start();
        const Session again = m_lab.open(QStringLiteral("host1"));
        QVERIFY2(again, SshLab::why(again));
        qInfo("connected to a host that has the agent in %lld ms", timer.elapsed());
        QCOMPARE(m_lab.sh("stat -c %i /var/tmp/knobscope-0/agent-*"), inode);
    }

    void ordinaryUserHasItsOwnCache() {
        const Session session = m_lab.open(QStringLiteral("user1"));
        QVERIFY2(session, SshLab::why(session));
        QCOMPARE((*session)->hello().uid, 7701);
        QCOMPARE(m_lab.sh("stat -c %u /var/tmp/knobscope-7701"), QByteArray("7701\n"));
    }

    void damagedCacheIsReplaced_data() {
        QTest::addColumn<QByteArray>("damage");
        QTest::newRow("changed") << QByteArray("printf x | dd of=$f conv=notrunc status=none");
        QTest::newRow("cut short") << QByteArray("truncate -s 1000 $f");
        QTest::newRow("empty") << QByteArray(": >$f");
        QTest::newRow("not executable") << QByteArray("chmod 600 $f");
        QTest::newRow("symbolic link") << QByteArray("mv $f /tmp/moved; ln -s /tmp/moved $f");
        QTest::newRow("removed") << QByteArray("rm $f");
    }

    void damagedCacheIsReplaced() {
        QFETCH(QByteArray, damage);
        QVERIFY(m_lab.open(QStringLiteral("user1")));
        const QByteArray good = m_lab.sh("sha256sum </var/tmp/knobscope-7701/agent-*");
        m_lab.sh("f=$(ls /var/tmp/knobscope-7701/agent-*); " + damage);
        const Session session = m_lab.open(QStringLiteral("user1"));
        QVERIFY2(session, SshLab::why(session));
        QCOMPARE(m_lab.sh("sha256sum </var/tmp/knobscope-7701/agent-*"), good);
        QCOMPARE(
            m_lab.sh("find /var/tmp/knobscope-7701/ -type f -perm 700 -name 'agent-*' | wc -l"),
            QByteArray("1\n"));
        QCOMPARE(m_lab.sh("ls -A /var/tmp/knobscope-7701 | grep -c ^up-"), QByteArray("0\n"));
    }

    void unsafePlacesAreAvoided_data() {
        QTest::addColumn<QByteArray>("prepare");
        const QByteArray k = "/var/tmp/knobscope-7701";
        QTest::newRow("symbolic link") << "mkdir -m 777 /tmp/trap; ln -s /tmp/trap " + k;
        QTest::newRow("of another user") << "mkdir -m 777 " + k;
        QTest::newRow("a file") << "touch " + k;
        QTest::newRow("noexec") << QByteArray("mount -o remount,noexec /var/tmp");
        QTest::newRow("read-only") << QByteArray("mount -o remount,ro /var/tmp");
        QTest::newRow("disk full") << QByteArray("rm -rf /var/tmp/knobscope-0; "
                                                 "mount -o remount,size=16m /var/tmp && "
                                                 "! cat /dev/zero 2>/dev/null >/var/tmp/fill");
        QTest::newRow("others may rename") << QByteArray("chmod 777 /var/tmp");
    }

    void unsafePlacesAreAvoided() {
        QFETCH(QByteArray, prepare);
        m_lab.sh("rm -rf /var/tmp/knobscope-7701 /tmp/knobscope-7701 /tmp/trap");
        QCOMPARE(m_lab.sh("{ " + prepare + "; } && echo done"), QByteArray("done\n"));
        const Session session = m_lab.open(QStringLiteral("user1"));
        const QByteArray agents = m_lab.sh("ls /tmp/knobscope-7701 | grep -c ^agent-");
        const QByteArray there = m_lab.sh("ls /var/tmp/knobscope-7701/ 2>/dev/null | wc -l");
        m_lab.sh("mount -o remount,rw,exec,size=75% /var/tmp; chmod 1777 /var/tmp; "
                 "rm -rf /var/tmp/fill /var/tmp/knobscope-7701 /tmp/knobscope-7701 /tmp/trap");
        QVERIFY2(session, SshLab::why(session));
        QCOMPARE(agents, QByteArray("1\n"));
        QCOMPARE(there, QByteArray("0\n"));
    }

    void keepsThreeBuilds() {
        QVERIFY(m_lab.open(QStringLiteral("user1")));
        m_lab.sh("cd /var/tmp/knobscope-7701 && rm -f agent-* && for i in 1 2 3 4 5; do "
                 "touch -d \"2001-01-0$i\" agent-$i; done; chown -R 7701 .");
        QVERIFY(m_lab.open(QStringLiteral("user1")));
        const QByteArray left = m_lab.sh("ls /var/tmp/knobscope-7701 | sort");
        QVERIFY2(left.contains("agent-5\n") && left.contains("agent-4\n"), left);
        QCOMPARE(left.count('\n'), 3);
    }

    void shellsAndStartFiles_data() {
        QTest::addColumn<QByteArray>("prepare");
        QTest::addColumn<QString>("complaint"); // empty: it works all the same
        const auto works = [](const char* name, const QByteArray& rc) {
            QTest::newRow(name) << QByteArray("cat >/home/op/.bashrc <<'E'\n" + rc + "\nE\n")
                                << QString();
        };
        works("quiet", "");
        works("greeting", "echo Welcome; echo to the lab >&2");
        works("greeting without an end", "printf 'Welcome: '");
        works("8 MB on stderr", "head -c 8000000 /dev/zero >&2");
        works("8 MB on stdout", "head -c 8000000 /dev/zero");
        works("odd settings", "set -u; alias ls='ls -l'; export LC_ALL=de_DE.UTF-8");
        works("a background child", "sleep 4 &");
        // Each takes the whole agent from the same stream as the script.
        QTest::newRow("dash") << QByteArray("usermod -s /bin/dash op") << QString();
        QTest::newRow("tcsh") << QByteArray("usermod -s /bin/tcsh op") << QString();
        QTest::newRow("busybox") << QByteArray("ln -sf /bin/busybox /usr/local/bin/ash; "
                                               "usermod -s /usr/local/bin/ash op")
                                 << QString();
        QTest::newRow("nologin") << QByteArray("usermod -s /usr/sbin/nologin op")
                                 << QStringLiteral("not available");
        QTest::newRow("false") << QByteArray("usermod -s /bin/false op")
                               << QStringLiteral("ended with status 1");
        QTest::newRow("start-up file exits")
            << QByteArray("echo 'echo go away; exit 3' >/home/op/.bashrc")
            << QStringLiteral("go away");
        QTest::newRow("start-up file exits silently")
            << QByteArray("echo 'exit 0' >/home/op/.bashrc") << QStringLiteral("said nothing");
        QTest::newRow("file transfer only")
            << QByteArray("echo 'exec /usr/lib/openssh/sftp-server' >/home/op/.bashrc")
            << QStringLiteral("file transfer");
    }

    void shellsAndStartFiles() {
        QFETCH(QByteArray, prepare);
        QFETCH(QString, complaint);
        m_lab.sh("rm -rf /home/op/.bashrc /var/tmp/knobscope-7701; " + prepare);
        HostOptions o = m_lab.options();
        if (!complaint.isEmpty())
            o.connectTimeout = 3s; // the account for files only says nothing ever
        const Session session = m_lab.open(QStringLiteral("user1"), o);
        m_lab.sh("usermod -s /bin/bash op; rm -f /home/op/.bashrc");
        if (complaint.isEmpty()) {
            QVERIFY2(session, SshLab::why(session));
            auto ping = (*session)->call(protocol::method::kPing, Json::object(), 5s);
            QVERIFY(ping.get());
        } else {
            QVERIFY(!session);
            QCOMPARE(int(session.error().code), int(Code::HostUnusable));
            QVERIFY2(session.error().text().contains(complaint), SshLab::why(session));
            QVERIFY2(session.error().message.contains(QStringLiteral("user1")),
                     SshLab::why(session));
        }
    }

    void twoAtOnce() {
        std::array<Session, 2> sessions{tl::unexpected<Error>(Error{}),
                                        tl::unexpected<Error>(Error{})};
        std::thread other([&] { sessions[1] = m_lab.open(QStringLiteral("host2")); });
        sessions[0] = m_lab.open(QStringLiteral("host1"));
        other.join();
        for (const Session& session : sessions)
            QVERIFY2(session, SshLab::why(session));
        QCOMPARE((*sessions[0])->hello().hostname, std::string("host1"));
        QCOMPARE((*sessions[1])->hello().hostname, std::string("host2"));
    }

    void thisComputer() {
        HostSpec here;
        here.local = true;
        Session session = HostSession::open(here, m_lab.options(), {});
        QVERIFY2(session, SshLab::why(session));
        QCOMPARE((*session)->hello().uid, int(geteuid()));
        const auto guardian = pid_t((*session)->hello().guardian_pid);
        QVERIFY(kill(guardian, 0) == 0);
        session->reset();
        QVERIFY2(kill(guardian, 0) != 0, "it has ended when the session has");
    }

    void accountsThatRunNoCommands_data() {
        QTest::addColumn<QByteArray>("settings");
        QTest::addColumn<QString>("complaint");
        QTest::newRow("file transfer only")
            << QByteArray("ForceCommand internal-sftp") << QStringLiteral("sftp connections only");
        QTest::newRow("another command")
            << QByteArray("ForceCommand echo only the time: noon") << QStringLiteral("noon");
        QTest::newRow("no sessions")
            << QByteArray("MaxSessions 0") << QStringLiteral("does not allow a session");
    }
    void accountsThatRunNoCommands() {
        QFETCH(QByteArray, settings);
        QFETCH(QString, complaint);
        const LabSshd sshd(m_lab, 2201, settings);
        HostOptions o = m_lab.options(" Port 2201\n");
        o.connectTimeout = 3s;
        const Session session = m_lab.open(QStringLiteral("lab"), o);
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Code::HostUnusable));
        QVERIFY2(session.error().text().contains(complaint), SshLab::why(session));
    }

    void oneSessionIsEnough() {
        const LabSshd sshd(m_lab, 2201, "MaxSessions 1");
        const Session session = m_lab.open(QStringLiteral("lab"), m_lab.options(" Port 2201\n"));
        QVERIFY2(session, SshLab::why(session));
        // Everything goes over the one channel that the host gives.
        for (int i = 0; i < 12; ++i) {
            auto call = (*session)->call(protocol::method::kEnvironment, Json::object(), 5s);
            QVERIFY(call.get());
        }
    }

    void hostWithoutAPlaceIsExplained() {
        m_lab.sh("for d in /var/tmp /tmp /dev/shm; do mount -t tmpfs -o ro none $d; done");
        const Session session = m_lab.open(QStringLiteral("user1"));
        m_lab.sh("for d in /var/tmp /tmp /dev/shm; do umount $d; done");
        QVERIFY(!session);
        QVERIFY2(session.error().text().contains(QStringLiteral("has no place for the agent")),
                 SshLab::why(session));
    }

    void hostWithoutSha256IsExplained() {
        m_lab.sh("rm -rf /var/tmp/knobscope-7701; "
                 "for p in sha256sum openssl busybox; do mv /usr/bin/$p /usr/bin/$p.gone; done");
        const Session session = m_lab.open(QStringLiteral("user1"));
        m_lab.sh("for p in sha256sum openssl busybox; do mv /usr/bin/$p.gone /usr/bin/$p; done");
        QVERIFY(!session);
        QVERIFY2(session.error().text().contains(QStringLiteral("cannot verify the agent")),
                 SshLab::why(session));
    }

private:
    SshLab m_lab;
};

QTEST_GUILESS_MAIN(TestSshHost)
#include "tst_sshhost.moc"
