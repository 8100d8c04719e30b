// SPDX-License-Identifier: GPL-3.0-or-later
// Trying a host in one go: which steps are shown, and where it stops.
#include "core/host/hosttest.h"
#include "core/host/savedhosts.h"
#include "tests/lab/sshlab.h"

#include <QTest>

#include <unistd.h>

using namespace knobscope;
using namespace knobscope::test;
using namespace std::chrono_literals;
using Kind = HostStep::Kind;
using State = HostStep::State;

class TestSshHostTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (geteuid() != 0)
            QSKIP("hosts in network namespaces need root");
        QVERIFY2(m_lab.up(), qPrintable(m_lab.error()));
        QVERIFY(keygen(m_lab.path(QStringLiteral("stranger")), QStringLiteral("stranger")));
    }

    void goodHost() {
        m_lab.sh("rm -rf /var/tmp/knobscope-0");
        HostSpec host = SshLab::spec(QStringLiteral("host1"));
        host.interface = QStringLiteral("test0");
        QList<State> reported;
        const HostTest test = testHost(host, m_lab.options(), {},
                                       [&](const HostStep& step) { reported << step.state; });
        QVERIFY2(test.usable(), test.error ? qPrintable(test.error->text()) : "");
        QList<Kind> kinds;
        for (const HostStep& step : test.steps) {
            kinds << step.kind;
            QVERIFY2(step.state == State::Ok, qPrintable(step.text));
            QVERIFY(!step.text.isEmpty() && !stepTitle(step.kind).isEmpty());
            // Rights reads what Hello brought: it may take less than the microsecond counted here.
            QVERIFY2((step.took.count() > 0 || step.kind == Kind::Rights) && step.took < 5s,
                     qPrintable(stepTitle(step.kind)));
            QCOMPARE(step.host, QStringLiteral("host1"));
        }
        QCOMPARE(kinds,
                 QList<Kind>({Kind::Resolve, Kind::Connect, Kind::HostKey, Kind::Login, Kind::Shell,
                              Kind::Upload, Kind::Hello, Kind::Rights, Kind::Interfaces}));
        // Each step was reported as it began and as it ended.
        QCOMPARE(reported.count(State::Running), kinds.size());
        QCOMPARE(reported.count(State::Ok), kinds.size());
        QTRY_VERIFY_WITH_TIMEOUT(m_lab.agents().isEmpty(), 5000);
    }

    void placesWhereItStops_data() {
        QTest::addColumn<QByteArray>("prepare");
        QTest::addColumn<QByteArray>("options");
        QTest::addColumn<QString>("interface");
        QTest::addColumn<int>("stopped");
        QTest::addColumn<QString>("text");
        const QByteArray none;
        QTest::newRow("configuration") << none << QByteArray(" NoSuchOption yes\n") << QString()
                                       << int(Kind::Resolve) << QStringLiteral("cannot resolve");
        QTest::newRow("port") << none << QByteArray(" Port 1\n") << QString() << int(Kind::Connect)
                              << QStringLiteral("refuses the connection");
        QTest::newRow("host key") << none << QByteArray(" UserKnownHostsFile none\n") << QString()
                                  << int(Kind::HostKey) << QStringLiteral("not known yet");
        QTest::newRow("login") << none << QByteArray(" User nobody-here\n") << QString()
                               << int(Kind::Login) << QStringLiteral("refuses the login");
        QTest::newRow("shell") << QByteArray("usermod -s /usr/sbin/nologin op")
                               << QByteArray(" User op\n") << QString() << int(Kind::Shell)
                               << QStringLiteral("but not run commands");
        QTest::newRow("interface") << none << none << QStringLiteral("eth99")
                                   << int(Kind::Interfaces) << QStringLiteral("no interface eth99");
    }
    void placesWhereItStops() {
        QFETCH(QByteArray, prepare);
        QFETCH(QByteArray, options);
        QFETCH(QString, interface);
        QFETCH(int, stopped);
        QFETCH(QString, text);
        m_lab.sh(prepare);
        HostSpec host = SshLab::spec(QStringLiteral("lab"));
        host.interface = interface;
        const HostTest test = testHost(host, m_lab.options(options), {});
        m_lab.sh("usermod -s /bin/bash op");
        QVERIFY(!test.usable());
        bool after = false;
        for (const HostStep& step : test.steps) {
            if (int(step.kind) == stopped) {
                QCOMPARE(step.state, State::Failed);
                QVERIFY2(step.text.contains(text), qPrintable(step.text));
                QVERIFY2(!step.advice.isEmpty(), "what to do is said");
                after = true;
            } else if (after) {
                QCOMPARE(step.state, State::Skipped);
                QCOMPARE(step.text, QStringLiteral("not reached"));
            } else {
                QVERIFY(step.state == State::Ok || step.state == State::Skipped);
            }
        }
        QVERIFY(after);
        QVERIFY(test.steps.size() >= 9);
    }

    void timeOfTheUserDoesNotCount() {
        const QString key = m_lab.path(QStringLiteral("locked"));
        QVERIFY(keygen(key, QStringLiteral("locked"), QStringLiteral("secret")));
        m_lab.sh("cp /etc/knobscope-lab/authorized_keys /run/kept; echo '" +
                 readFile(key + QStringLiteral(".pub")).trimmed() +
                 "' >>/etc/knobscope-lab/authorized_keys");
        HostOptions o =
            m_lab.options(" IdentityFile " + key.toUtf8() + "\n", SshLab::Identity::None);
        o.secrets = std::make_shared<ScriptedUser>([](const SecretRequest&) {
            QTest::qSleep(3000);
            return Secret("secret");
        });
        const HostTest test = testHost(SshLab::spec(QStringLiteral("lab")), o, {});
        m_lab.sh("mv /run/kept /etc/knobscope-lab/authorized_keys");
        QVERIFY2(test.usable(), test.error ? qPrintable(test.error->text()) : "");
        for (const HostStep& step : test.steps)
            QVERIFY2(step.took < 2500ms, qPrintable(stepTitle(step.kind)));
    }

    /// Everything comes from the saved host: the name is in no configuration.
    void savedHost_data() {
        QTest::addColumn<QString>("user");
        QTest::addColumn<int>("sudo");
        QTest::addColumn<bool>("jumps");
        QTest::newRow("root") << QStringLiteral("root") << -1 << false;
        QTest::newRow("through a jump host") << QStringLiteral("root") << -1 << true;
        QTest::newRow("sudo") << QStringLiteral("op") << int(SudoMode::Auto) << false;
        QTest::newRow("never root") << QStringLiteral("op") << int(SudoMode::None) << false;
    }
    void savedHost() {
        QFETCH(QString, user);
        QFETCH(int, sudo);
        QFETCH(bool, jumps);
        LabSshd other(m_lab, 2222, {});
        m_lab.sh("echo 'op ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/test");
        SavedHost saved;
        saved.name = QStringLiteral("dut");
        saved.ssh = m_lab.lab().host(jumps ? 1 : 0).controlAddress;
        saved.user = user;
        saved.port = jumps ? 22 : 2222;
        saved.key = m_lab.lab().identity();
        if (jumps)
            saved.jump = QStringLiteral("root@%1:2222").arg(m_lab.lab().host(0).controlAddress);
        if (sudo >= 0)
            saved.sudo = static_cast<SudoMode>(sudo);
        HostOptions o = m_lab.options("", SshLab::Identity::None);
        // A jump host has no fields of its own: its key is the configuration's.
        QByteArray config = readFile(o.sshConfig) + "\nHost *\n StrictHostKeyChecking no\n";
        if (jumps)
            config += " IdentityFile " + m_lab.lab().identity().toUtf8() + "\n";
        QVERIFY(writeFile(o.sshConfig, config));
        o.savedHosts = m_lab.path(QStringLiteral("hosts.json"));
        QVERIFY(writeSavedHosts(o.savedHosts, {saved}));
        const HostTest test = testHost(saved.spec(), o, {});
        m_lab.sh("rm -f /etc/sudoers.d/test");
        QVERIFY2(test.usable(), test.error ? qPrintable(test.error->text()) : "");
        for (const HostStep& step : test.steps) {
            if (step.kind == Kind::Rights)
                QCOMPARE(step.state, sudo == int(SudoMode::None) ? State::Skipped : State::Ok);
            if (step.kind == Kind::Resolve)
                QVERIFY2(step.text.startsWith(
                             QStringLiteral("%1@%2:%3").arg(user, saved.ssh).arg(saved.port)),
                         qPrintable(step.text));
        }
        QCOMPARE(test.steps.first().host, QStringLiteral("dut"));
    }

    void thisComputer() {
        HostSpec host;
        host.local = true;
        const HostTest test = testHost(host, m_lab.options(), {});
        QVERIFY(test.usable());
        for (const HostStep& step : test.steps) {
            const bool needed = step.kind == Kind::Hello || step.kind == Kind::Rights ||
                                step.kind == Kind::Interfaces;
            QCOMPARE(step.state, needed ? State::Ok : State::Skipped);
        }
    }

    void cancelledIsNoFailure() {
        CancelToken cancel;
        HostOptions o = m_lab.options(" IdentityFile none\n User op\n", SshLab::Identity::None);
        const HostTest test =
            testHost(SshLab::spec(QStringLiteral("lab")), o, cancel, [&](const HostStep& step) {
                if (step.kind == Kind::Connect)
                    cancel.cancel();
            });
        QVERIFY(!test.usable());
        QCOMPARE(int(test.error->code), int(Error::Code::Cancelled));
        for (const HostStep& step : test.steps)
            QVERIFY(step.state != State::Failed && step.state != State::Running);
    }

private:
    SshLab m_lab;
};

QTEST_GUILESS_MAIN(TestSshHostTest)
#include "tst_sshhosttest.moc"
