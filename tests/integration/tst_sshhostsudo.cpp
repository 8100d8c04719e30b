// SPDX-License-Identifier: GPL-3.0-or-later
// How the agent becomes root by sudo on a host where the login is an ordinary user, and when not.
#include "core/host/hoststeps.h"
#include "tests/lab/sshlab.h"

#include <QElapsedTimer>
#include <QTest>

#include <csignal>

#include <unistd.h>

using namespace knobscope;
using namespace knobscope::test;
using namespace std::chrono_literals;
using Code = Error::Code;

namespace {
const QByteArray kPassword = "correct horse";
const QByteArray kFree = "op ALL=(ALL) NOPASSWD: ALL";
const QByteArray kAsks = "op ALL=(ALL) ALL";
} // namespace

class TestSshHostSudo : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (geteuid() != 0)
            QSKIP("hosts in network namespaces need root");
        QVERIFY2(m_lab.up(), qPrintable(m_lab.error()));
        m_lab.sh("usermod -p $(openssl passwd -6 '" + kPassword +
                 "') op; printf '%s\\n' 'auth required pam_unix.so nodelay' "
                 "'account required pam_permit.so' 'session required pam_permit.so' "
                 ">/etc/pam.d/sudo");
    }
    void cleanup() {
        if (m_lab.lab().isUp())
            m_lab.sh("rm -f /etc/sudoers.d/test /home/op/.bashrc; [ -e /usr/bin/sudo.gone ] && "
                     "mv /usr/bin/sudo.gone /usr/bin/sudo");
    }

    void without_data() {
        QTest::addColumn<QByteArray>("rules");
        QTest::addColumn<QString>("why"); // the agent is not root
        QTest::newRow("not in sudoers") << QByteArray() << QStringLiteral("asks op for a password");
        QTest::newRow("password wanted") << kAsks << QStringLiteral("asks op for a password");
        QTest::newRow("requiretty")
            << kFree + "\nDefaults requiretty" << QStringLiteral("demands a terminal");
        QTest::newRow("another command only")
            << QByteArray("op ALL=(ALL) NOPASSWD: /usr/bin/id") << QStringLiteral("op");
        QTest::newRow("no sudo") << QByteArray("gone") << QStringLiteral("has no sudo");
    }
    void without() {
        QFETCH(QByteArray, rules);
        QFETCH(QString, why);
        setRules(rules);
        HostSteps steps;
        const Session session = open(SudoMode::Auto, {}, &steps);
        QVERIFY2(session, SshLab::why(session));
        QCOMPARE((*session)->hello().uid, 7701);
        const HostStep rights = step(steps, HostStep::Kind::Rights);
        QCOMPARE(rights.state, HostStep::State::Skipped);
        QVERIFY2(rights.text.contains(why), qPrintable(rights.text));
        QVERIFY(!rights.advice.isEmpty());
    }

    void withoutAPassword_data() {
        QTest::addColumn<QByteArray>("rules");
        QTest::addColumn<int>("mode");
        QTest::newRow("auto") << kFree << int(SudoMode::Auto);
        QTest::newRow("password that is not wanted") << kFree << int(SudoMode::Password);
        QTest::newRow("pty") << kFree + "\nDefaults use_pty" << int(SudoMode::Auto);
        QTest::newRow("secure path")
            << kFree + "\nDefaults secure_path=/nowhere" << int(SudoMode::Auto);
    }
    void withoutAPassword() {
        QFETCH(QByteArray, rules);
        QFETCH(int, mode);
        setRules(rules);
        m_lab.sh("rm -rf /var/tmp/knobscope-0 /var/tmp/knobscope-7701");
        HostSteps steps;
        const Session session = open(SudoMode(mode), {}, &steps);
        QVERIFY2(session, SshLab::why(session));
        QCOMPARE((*session)->hello().uid, 0);
        QCOMPARE(step(steps, HostStep::Kind::Rights).state, HostStep::State::Ok);
        // What runs as root lies where nobody else can touch it, and nowhere else.
        QCOMPARE(m_lab.sh("stat -c '%u %a' /var/tmp/knobscope-0 /var/tmp/knobscope-0/agent-*"),
                 QByteArray("0 700\n0 700\n"));
        QCOMPARE(m_lab.sh("ls -d /var/tmp/knobscope-7701 2>/dev/null"), QByteArray());
        // Root's own copy is used again.
        HostSteps again;
        const Session second = open(SudoMode(mode), {}, &again);
        QVERIFY2(second, SshLab::why(second));
        QCOMPARE(step(again, HostStep::Kind::Upload).state, HostStep::State::Skipped);
    }

    void agentOfTheUserIsNotRunAsRoot() {
        setRules(kFree);
        QVERIFY(open(SudoMode::None)); // leaves a copy that the user may change
        m_lab.sh("rm -rf /var/tmp/knobscope-0; for f in /var/tmp/knobscope-7701/agent-*; do "
                 "printf '#!/bin/sh\\ntouch /run/trapped\\n' >$f; done");
        const Session session = open(SudoMode::Auto);
        QVERIFY2(session, SshLab::why(session));
        QCOMPARE((*session)->hello().uid, 0);
        QCOMPARE(m_lab.sh("ls /run/trapped 2>/dev/null"), QByteArray());
    }

    void rootNeedsNoSudo() {
        setRules("gone");
        const Session session = open(SudoMode::Password, {}, nullptr, QStringLiteral("host1"));
        QVERIFY2(session, SshLab::why(session));
        QCOMPARE((*session)->hello().uid, 0);
    }

    void passwordIsGiven_data() {
        QTest::addColumn<QByteArray>("rules");
        QTest::addColumn<bool>("cached");
        QTest::newRow("plain") << kAsks << true;
        QTest::newRow("upload follows") << kAsks << false;
        QTest::newRow("lecture") << kAsks + "\nDefaults lecture=always" << true;
        QTest::newRow("pty") << kAsks + "\nDefaults use_pty" << false;
        QTest::newRow("own prompt") << kAsks + "\nDefaults passprompt=\"Secret, please: \"" << true;
    }
    void passwordIsGiven() {
        QFETCH(QByteArray, rules);
        QFETCH(bool, cached);
        setRules(rules);
        if (cached)
            QVERIFY(m_lab.open(QStringLiteral("host1")));
        else
            m_lab.sh("rm -rf /var/tmp/knobscope-0");
        // Wrong once.
        const auto user = std::make_shared<ScriptedUser>([](const SecretRequest& request) {
            return Secret(request.attempt == 1 ? "wrong" : kPassword.toStdString());
        });
        HostSteps steps;
        const Session session = open(SudoMode::Password, user, &steps);
        QVERIFY2(session, SshLab::why(session));
        QCOMPARE((*session)->hello().uid, 0);
        QCOMPARE(user->verdicts(), QList<bool>({false, true}));
        QCOMPARE(user->asked().first().kind, SecretRequest::Kind::SudoPassword);
        QCOMPARE(step(steps, HostStep::Kind::Upload).state,
                 cached ? HostStep::State::Skipped : HostStep::State::Ok);
        // It is nowhere to be seen on the host.
        const QByteArray processes = m_lab.sh("cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ");
        QVERIFY(processes.contains("sudo") && !processes.contains(kPassword));
    }

    void failures_data() {
        QTest::addColumn<QByteArray>("rules");
        QTest::addColumn<QByteArray>("answer"); // "none": nobody to ask
        QTest::addColumn<QString>("complaint");
        QTest::newRow("wrong password")
            << kAsks << QByteArray("wrong") << QStringLiteral("does not take the password of op");
        QTest::newRow("nobody to ask")
            << kAsks << QByteArray("none") << QStringLiteral("nobody can be asked");
        QTest::newRow("not in sudoers")
            << QByteArray() << kPassword << QStringLiteral("does not let op become root");
        QTest::newRow("another command only") << QByteArray("op ALL=(ALL) /usr/bin/id") << kPassword
                                              << QStringLiteral("does not let op become root");
        QTest::newRow("requiretty")
            << kAsks + "\nDefaults requiretty" << kPassword << QStringLiteral("demands a terminal");
        QTest::newRow("no sudo") << QByteArray("gone") << kPassword
                                 << QStringLiteral("has no sudo");
    }
    void failures() {
        QFETCH(QByteArray, rules);
        QFETCH(QByteArray, answer);
        QFETCH(QString, complaint);
        setRules(rules);
        std::shared_ptr<ScriptedUser> user;
        if (answer != "none")
            user = std::make_shared<ScriptedUser>(answer);
        HostSteps steps;
        QElapsedTimer timer;
        timer.start();
        const Session session = open(SudoMode::Password, user, &steps);
        QVERIFY(!session);
        QVERIFY2(timer.elapsed() < 8000, qPrintable(QString::number(timer.elapsed())));
        QCOMPARE(int(session.error().code), int(Code::HostUnusable));
        QVERIFY2(session.error().text().contains(complaint), SshLab::why(session));
        QVERIFY(!session.error().text().contains(QString::fromUtf8(kPassword)));
        QVERIFY(steps.stoppedAt());
        QTRY_VERIFY_WITH_TIMEOUT(
            m_lab.lab().pids(QStringLiteral("host1"), QStringLiteral("^sudo ")).isEmpty(), 5000);
    }

    void userMayStopInsteadOfAnswering() {
        setRules(kAsks);
        const auto user = std::make_shared<ScriptedUser>(
            [](const SecretRequest&) { return fail(Code::Cancelled, QStringLiteral("no")); });
        const Session session = open(SudoMode::Password, user);
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Code::Cancelled));
    }

    void killedAgentIsNoticedUnderSudo() {
        setRules(kFree);
        const Session session = open(SudoMode::Auto);
        QVERIFY2(session, SshLab::why(session));
        for (const qint64 pid : m_lab.agents())
            kill(pid_t(pid), SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT((*session)->lost(), 3000);
    }

    void closingLeavesNothingRunningUnderSudo() {
        setRules(kFree);
        Session session = open(SudoMode::Auto);
        QVERIFY2(session, SshLab::why(session));
        QVERIFY(!m_lab.agents().isEmpty());
        session->reset();
        QTRY_VERIFY_WITH_TIMEOUT(
            m_lab.agents().isEmpty() &&
                m_lab.lab().pids(QStringLiteral("host1"), QStringLiteral("^sudo ")).isEmpty(),
            5000);
    }

private:
    /// Lines for sudoers; "gone": no sudo at all.
    void setRules(const QByteArray& rules) {
        if (rules == "gone")
            m_lab.sh("mv /usr/bin/sudo /usr/bin/sudo.gone");
        else
            m_lab.sh("printf '%s\\n' '" + rules +
                     "' >/etc/sudoers.d/test; chmod 440 /etc/sudoers.d/test");
    }
    Session open(SudoMode mode, const std::shared_ptr<ScriptedUser>& user = {},
                 HostSteps* steps = nullptr, const QString& name = QStringLiteral("user1")) {
        HostOptions o = m_lab.options();
        o.sudo = mode;
        o.secrets = user;
        return HostSession::open(SshLab::spec(name), o, {}, steps);
    }
    static HostStep step(const HostSteps& steps, HostStep::Kind kind) {
        for (const HostStep& one : steps.all()) {
            if (one.kind == kind)
                return one;
        }
        return {};
    }

    SshLab m_lab;
};

QTEST_GUILESS_MAIN(TestSshHostSudo)
#include "tst_sshhostsudo.moc"
