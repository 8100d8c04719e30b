// SPDX-License-Identifier: GPL-3.0-or-later
// Logging in with passwords and by the host's own questions, alone and after a key.
#include "core/host/hoststeps.h"
#include "tests/lab/sshlab.h"

#include <QElapsedTimer>
#include <QTest>

#include <thread>

#include <unistd.h>

using namespace knobscope;
using namespace knobscope::test;
using namespace std::chrono_literals;
using Code = Error::Code;
using Kind = SecretRequest::Kind;

namespace {

const QByteArray kPassword = "correct horse";
const QByteArray kPam = "UsePAM yes\nKbdInteractiveAuthentication yes\n";

} // namespace

class TestSshHostPassword : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (geteuid() != 0)
            QSKIP("hosts in network namespaces need root");
        QVERIFY2(m_lab.up(), qPrintable(m_lab.error()));
        m_lab.sh(
            "printf '%s\\n' 'auth required pam_unix.so nodelay' 'account required pam_unix.so' "
            "'password required pam_unix.so' 'session required pam_permit.so' "
            ">/etc/pam.d/sshd");
    }
    void init() {
        m_lab.sh("usermod -s /bin/bash -p $(openssl passwd -6 '" + kPassword +
                 "') op; chage -d 20000 -M -1 op");
    }

    void ways_data() {
        QTest::addColumn<QByteArray>("settings");
        QTest::addColumn<QList<int>>("kinds"); // of the questions
        QTest::addColumn<QString>("how");
        const QString password = QStringLiteral("with a password");
        const QString answers = QStringLiteral("with answers to its questions");
        const auto kinds = [](std::initializer_list<Kind> list) {
            QList<int> numbers;
            for (const Kind kind : list)
                numbers << int(kind);
            return numbers;
        };
        QTest::newRow("password") << QByteArray("PasswordAuthentication yes\n")
                                  << kinds({Kind::Password}) << password;
        QTest::newRow("questions") << kPam << kinds({Kind::KeyboardInteractive}) << answers;
        QTest::newRow("both are offered: questions come first")
            << kPam + "PasswordAuthentication yes\n"
            << kinds({Kind::KeyboardInteractive}) << answers;
        QTest::newRow("key, then password")
            << QByteArray("PasswordAuthentication yes\nAuthenticationMethods publickey,password\n")
            << kinds({Kind::Password}) << QStringLiteral("with ");
        QTest::newRow("key, then questions")
            << kPam + "AuthenticationMethods publickey,keyboard-interactive\n"
            << kinds({Kind::KeyboardInteractive}) << QStringLiteral("with ");
        QTest::newRow("password, then questions, then key")
            << kPam + "PasswordAuthentication yes\n"
                      "AuthenticationMethods password,keyboard-interactive,publickey\n"
            << kinds({Kind::Password, Kind::KeyboardInteractive}) << password + ", then ";
    }
    void ways() {
        QFETCH(QByteArray, settings);
        QFETCH(QList<int>, kinds);
        QFETCH(QString, how);
        const LabSshd sshd(m_lab, 2205, settings);
        const bool needsKey = settings.contains("publickey");
        const auto user = std::make_shared<ScriptedUser>(kPassword);
        HostOptions o = options(needsKey ? SshLab::Identity::Lab : SshLab::Identity::None);
        o.secrets = user;
        HostSteps steps;
        const Session session =
            HostSession::open(SshLab::spec(QStringLiteral("lab")), o, {}, &steps);
        QVERIFY2(session, SshLab::why(session));
        QCOMPARE((*session)->hello().uid, 7701);
        QList<int> asked;
        for (const SecretRequest& request : user->asked()) {
            asked << int(request.kind);
            QVERIFY(!request.echo);
            QCOMPARE(request.user, QStringLiteral("op"));
            QCOMPARE(request.host, QStringLiteral("lab"));
            QVERIFY(request.lasting());
        }
        QCOMPARE(asked, kinds);
        QCOMPARE(user->verdicts(), QList<bool>(kinds.size(), true));
        const QString text = login(steps).text;
        QVERIFY2(text.contains(how), qPrintable(text));
    }

    void wrongPasswordIsAskedForAgain() {
        const LabSshd sshd(m_lab, 2205, "PasswordAuthentication yes\n");
        const auto user = std::make_shared<ScriptedUser>([](const SecretRequest& request) {
            return Secret(request.attempt == 3 ? kPassword.toStdString() : "wrong");
        });
        HostOptions o = options(SshLab::Identity::None);
        o.secrets = user;
        const Session session = m_lab.open(QStringLiteral("lab"), o);
        QVERIFY2(session, SshLab::why(session));
        QCOMPARE(user->verdicts(), QList<bool>({false, false, true}));
    }

    void wrongPasswordEndsClearly_data() {
        QTest::addColumn<QByteArray>("settings");
        QTest::newRow("password") << QByteArray("PasswordAuthentication yes\n");
        QTest::newRow("questions") << kPam;
        QTest::newRow("both") << kPam + "PasswordAuthentication yes\n";
        QTest::newRow("host that hangs up soon")
            << QByteArray("PasswordAuthentication yes\nMaxAuthTries 2\n");
    }
    void wrongPasswordEndsClearly() {
        QFETCH(QByteArray, settings);
        const LabSshd sshd(m_lab, 2205, settings);
        const auto user = std::make_shared<ScriptedUser>("wrong");
        HostOptions o = options(SshLab::Identity::None);
        o.secrets = user;
        const Session session = m_lab.open(QStringLiteral("lab"), o);
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Code::HostUnusable));
        QCOMPARE(user->asked().size(), settings.contains("MaxAuthTries") ? 2 : 3);
        QVERIFY(!user->verdicts().contains(true));
        QVERIFY2(session.error().message.contains(QStringLiteral("refuses the login as op")),
                 SshLab::why(session));
        // No secret is in any text.
        QVERIFY(!session.error().text().contains(QStringLiteral("wrong")));
    }

    void severalRoundsOfQuestions() {
        const LabSshd sshd(m_lab, 2205, kPam);
        m_lab.sh("chage -d 0 op"); // the host wants a new password at once
        const auto user = std::make_shared<ScriptedUser>([](const SecretRequest& request) {
            return Secret(request.prompt.contains(QStringLiteral("ew password"))
                              ? "another battery staple"
                              : kPassword.toStdString());
        });
        HostOptions o = options(SshLab::Identity::None);
        o.secrets = user;
        const Session session = m_lab.open(QStringLiteral("lab"), o);
        QVERIFY2(session, SshLab::why(session));
        QVERIFY2(user->asked().size() >= 3, "the old one, and the new one twice");
        // What is asked for once must not be remembered.
        QVERIFY(!user->asked().last().lasting());
    }

    void nobodyToAsk_data() {
        QTest::addColumn<QByteArray>("settings");
        QTest::addColumn<QByteArray>("options");
        QTest::addColumn<QString>("complaint");
        QTest::newRow("password") << QByteArray(
                                         "PasswordAuthentication yes\nPubkeyAuthentication no\n")
                                  << QByteArray() << QStringLiteral("nobody can be asked");
        QTest::newRow("questions") << kPam << QByteArray() << QStringLiteral("nobody can be asked");
        QTest::newRow("batch") << QByteArray("PasswordAuthentication yes\n")
                               << QByteArray(" BatchMode yes\n") << QStringLiteral("BatchMode");
        QTest::newRow("second step")
            << QByteArray("PasswordAuthentication yes\nAuthenticationMethods publickey,password\n")
            << QByteArray() << QStringLiteral("wants more (password)");
        QTest::newRow("not wanted")
            << QByteArray("PasswordAuthentication yes\n")
            << QByteArray(" PasswordAuthentication no\n") << QStringLiteral("no key was offered");
    }
    void nobodyToAsk() {
        QFETCH(QByteArray, settings);
        QFETCH(QByteArray, options);
        QFETCH(QString, complaint);
        const LabSshd sshd(m_lab, 2205, settings);
        const auto identity =
            settings.contains("publickey,") ? SshLab::Identity::Lab : SshLab::Identity::None;
        const Session session = m_lab.open(QStringLiteral("lab"), this->options(identity, options));
        QVERIFY(!session);
        QVERIFY2(session.error().text().contains(complaint), SshLab::why(session));
    }

    void cancelWhileTheUserIsAsked() {
        const LabSshd sshd(m_lab, 2205, "PasswordAuthentication yes\n");
        CancelToken cancel;
        HostOptions o = options(SshLab::Identity::None);
        o.secrets = std::make_shared<ScriptedUser>([&](const SecretRequest&) -> Result<Secret> {
            cancel.cancel();
            return Secret(kPassword.toStdString());
        });
        const Session session = HostSession::open(SshLab::spec(QStringLiteral("lab")), o, cancel);
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Code::Cancelled));
    }

    void rememberedPasswordIsNotAskedForAgain() {
        const LabSshd sshd(m_lab, 2205, "PasswordAuthentication yes\n");
        const auto user = std::make_shared<ScriptedUser>(kPassword);
        HostOptions o = options(SshLab::Identity::None);
        o.secrets = std::make_shared<SecretMemory>(user);
        Session first{tl::unexpected<Error>(Error{})};
        std::thread other([&] { first = m_lab.open(QStringLiteral("lab"), o); });
        const Session second = m_lab.open(QStringLiteral("lab"), o);
        other.join();
        QVERIFY2(first, SshLab::why(first));
        QVERIFY2(second, SshLab::why(second));
        QCOMPARE(user->asked().size(), 1);
    }

    void repeatedFailuresSlowDown() {
        const HostOptions o = options(SshLab::Identity::None, " Port 22\n");
        QElapsedTimer timer;
        for (int i = 0; i < 2; ++i)
            QVERIFY(!m_lab.open(QStringLiteral("lab"), o));
        timer.start();
        QVERIFY(!m_lab.open(QStringLiteral("lab"), o));
        QVERIFY2(timer.elapsed() >= 800, qPrintable(QString::number(timer.elapsed())));
        // Other options know nothing of it, and a cancel does not wait.
        CancelToken cancel;
        std::thread canceller([&] {
            std::this_thread::sleep_for(100ms);
            cancel.cancel();
        });
        timer.start();
        const Session stopped = HostSession::open(SshLab::spec(QStringLiteral("lab")), o, cancel);
        canceller.join();
        QCOMPARE(int(stopped.error().code), int(Code::Cancelled));
        QVERIFY(timer.elapsed() < 800);
    }

private:
    HostOptions options(SshLab::Identity identity, const QByteArray& more = {}) {
        return m_lab.options(more + " Port 2205\n User op\n", identity);
    }
    static HostStep login(const HostSteps& steps) {
        for (const HostStep& step : steps.all()) {
            if (step.kind == HostStep::Kind::Login)
                return step;
        }
        return {};
    }

    SshLab m_lab;
};

QTEST_GUILESS_MAIN(TestSshHostPassword)
#include "tst_sshhostpassword.moc"
