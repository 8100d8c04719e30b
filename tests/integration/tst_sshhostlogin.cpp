// SPDX-License-Identifier: GPL-3.0-or-later
// Logging in with keys: files, passphrases, the ssh-agent.
#include "tests/lab/sshlab.h"

#include <QElapsedTimer>
#include <QFile>
#include <QProcess>
#include <QTest>

#include <csignal>
#include <thread>

#include <unistd.h>

using namespace knobscope;
using namespace knobscope::test;
using namespace std::chrono_literals;
using Code = Error::Code;

class TestSshHostLogin : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (geteuid() != 0)
            QSKIP("hosts in network namespaces need root");
        QVERIFY2(m_lab.up(), qPrintable(m_lab.error()));
        QVERIFY(keygen(m_lab.path(QStringLiteral("stranger")), QStringLiteral("stranger")));
    }

    void refusedKeyIsNamed() {
        const QString key = m_lab.path(QStringLiteral("stranger"));
        const Session session =
            m_lab.open(QStringLiteral("lab"), m_lab.options(" IdentityFile " + key.toUtf8() + "\n",
                                                            SshLab::Identity::None));
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Code::HostUnusable));
        for (const QString& word : {QStringLiteral("root"), QStringLiteral("lab"), key})
            QVERIFY2(session.error().text().contains(word), SshLab::why(session));
    }

    void keyWithPassphraseIsExplained() {
        const QString key = m_lab.path(QStringLiteral("locked"));
        QVERIFY(lockedCopy(key));
        const HostOptions o = m_lab.options(
            " IdentityFile " + key.toUtf8() + "\n IdentitiesOnly yes\n", SshLab::Identity::None);
        const Session session = m_lab.open(QStringLiteral("lab"), o);
        QVERIFY(!session);
        QVERIFY2(session.error().text().contains(QStringLiteral("passphrase")),
                 SshLab::why(session));
        // The agent that holds it may use it, though only named keys are allowed.
        KeyRing ring(m_lab.path(QStringLiteral("agent")));
        QVERIFY(ring.add(m_lab.path(QStringLiteral("stranger"))));
        QVERIFY(ring.add(m_lab.lab().identity()));
        const Session helped = m_lab.open(QStringLiteral("lab"), o);
        QVERIFY2(helped, SshLab::why(helped));
    }

    void agentWithManyKeys() {
        KeyRing ring(m_lab.path(QStringLiteral("agent")));
        for (int i = 0; i < 8; ++i) {
            const QString key = m_lab.path(QStringLiteral("many%1").arg(i));
            QVERIFY(keygen(key, QStringLiteral("many%1").arg(i)));
            QVERIFY(ring.add(key));
        }
        QElapsedTimer timer;
        timer.start();
        const Session refused =
            m_lab.open(QStringLiteral("lab"), m_lab.options({}, SshLab::Identity::None));
        QVERIFY2(timer.elapsed() < 8000, "refused, not hung");
        QVERIFY(!refused);
        QVERIFY2(refused.error().text().contains(QStringLiteral("many4")), SshLab::why(refused));
        QVERIFY2(refused.error().text().contains(QStringLiteral("3 more keys")),
                 SshLab::why(refused));
        // The ninth is the right one: named, it is found.
        QVERIFY(ring.add(m_lab.lab().identity()));
        const Session named =
            m_lab.open(QStringLiteral("lab"),
                       m_lab.options(" IdentityFile " + m_lab.lab().identity().toUtf8() +
                                         ".pub\n IdentitiesOnly yes\n",
                                     SshLab::Identity::None));
        QVERIFY2(named, SshLab::why(named));
    }

    void agentWithTheRightKey() {
        KeyRing ring(m_lab.path(QStringLiteral("agent")));
        QVERIFY(ring.add(m_lab.path(QStringLiteral("stranger"))));
        QVERIFY(ring.add(m_lab.lab().identity()));
        const Session session =
            m_lab.open(QStringLiteral("lab"), m_lab.options({}, SshLab::Identity::None));
        QVERIFY2(session, SshLab::why(session));
        const Session only = m_lab.open(
            QStringLiteral("lab"), m_lab.options(" IdentitiesOnly yes\n", SshLab::Identity::None));
        QVERIFY(!only);
        const Session none = m_lab.open(
            QStringLiteral("lab"), m_lab.options(" IdentityAgent none\n", SshLab::Identity::None));
        QVERIFY(!none);
    }

    void stoppedAgentDoesNotHang() {
        KeyRing ring(m_lab.path(QStringLiteral("agent")));
        kill(pid_t(ring.pid()), SIGSTOP);
        HostOptions o = m_lab.options({}, SshLab::Identity::None);
        o.connectTimeout = 1s;
        QElapsedTimer timer;
        timer.start();
        const Session session = m_lab.open(QStringLiteral("lab"), o);
        kill(pid_t(ring.pid()), SIGCONT);
        QVERIFY(!session);
        QVERIFY2(session.error().text().contains(QStringLiteral("the ssh-agent")),
                 SshLab::why(session));
        QVERIFY2(timer.elapsed() < 4000, "the limit counts for the agent too");
    }

    void passphraseIsAskedFor_data() {
        QTest::addColumn<QString>("format");
        QTest::addColumn<bool>("withPublicHalf");
        QTest::newRow("OpenSSH's own format") << QStringLiteral("RFC4716") << false;
        QTest::newRow("OpenSSH's own format with .pub") << QStringLiteral("RFC4716") << true;
        // The public half is not readable before the passphrase is there.
        QTest::newRow("PEM") << QStringLiteral("PEM") << false;
        QTest::newRow("PEM with .pub") << QStringLiteral("PEM") << true;
    }
    void passphraseIsAskedFor() {
        QFETCH(QString, format);
        QFETCH(bool, withPublicHalf);
        const QString key = m_lab.path(QStringLiteral("asked"));
        QFile::remove(key);
        QCOMPARE(
            QProcess::execute(QStringLiteral("ssh-keygen"),
                              {QStringLiteral("-q"), QStringLiteral("-t"), QStringLiteral("ecdsa"),
                               QStringLiteral("-m"), format, QStringLiteral("-N"),
                               QStringLiteral("open sesame"), QStringLiteral("-f"), key}),
            0);
        m_lab.sh("cp /etc/knobscope-lab/authorized_keys /run/kept; echo '" +
                 readFile(key + QStringLiteral(".pub")).trimmed() +
                 "' >>/etc/knobscope-lab/authorized_keys");
        if (!withPublicHalf)
            QFile::remove(key + QStringLiteral(".pub"));
        HostOptions o =
            m_lab.options(" IdentityFile " + key.toUtf8() + "\n", SshLab::Identity::None);
        // Wrong once.
        const auto user = std::make_shared<ScriptedUser>([](const SecretRequest& request) {
            return Secret(request.attempt == 1 ? "wrong" : "open sesame");
        });
        o.secrets = user;
        const Session session = m_lab.open(QStringLiteral("lab"), o);
        m_lab.sh("mv /run/kept /etc/knobscope-lab/authorized_keys");
        QVERIFY2(session, SshLab::why(session));
        QCOMPARE(user->verdicts(), QList<bool>({false, true}));
        const SecretRequest asked = user->asked().first();
        QCOMPARE(asked.kind, SecretRequest::Kind::KeyPassphrase);
        QCOMPARE(asked.keyFile, key);
        QVERIFY(!asked.echo && asked.prompt.contains(key));
    }

    void passphraseIsAskedForOnlyIfTheHostTakesTheKey() {
        const QString stranger = m_lab.path(QStringLiteral("locked-stranger"));
        QVERIFY(keygen(stranger, QStringLiteral("stranger"), QStringLiteral("secret")));
        HostOptions o = m_lab.options(" IdentityFile " + stranger.toUtf8() + "\n");
        const auto user = std::make_shared<ScriptedUser>("secret");
        o.secrets = user;
        const Session session = m_lab.open(QStringLiteral("lab"), o);
        QVERIFY2(session, SshLab::why(session));
        QVERIFY(user->asked().isEmpty());
    }

    void passphraseThatNobodyKnows_data() {
        QTest::addColumn<QByteArray>("answer");
        QTest::addColumn<QByteArray>("options");
        QTest::addColumn<int>("questions");
        QTest::addColumn<QString>("complaint");
        QTest::newRow("wrong") << QByteArray("wrong") << QByteArray() << 3
                               << QStringLiteral("passphrase is wrong");
        QTest::newRow("empty") << QByteArray() << QByteArray() << 1
                               << QStringLiteral("no passphrase was given");
        QTest::newRow("batch") << QByteArray("secret") << QByteArray(" BatchMode yes\n") << 0
                               << QStringLiteral("BatchMode");
    }
    void passphraseThatNobodyKnows() {
        QFETCH(QByteArray, answer);
        QFETCH(QByteArray, options);
        QFETCH(int, questions);
        QFETCH(QString, complaint);
        const QString key = m_lab.path(QStringLiteral("locked"));
        QVERIFY(lockedCopy(key));
        HostOptions o =
            m_lab.options(" IdentityFile " + key.toUtf8() + "\n" + options, SshLab::Identity::None);
        const auto user = std::make_shared<ScriptedUser>(answer);
        o.secrets = user;
        const Session session = m_lab.open(QStringLiteral("lab"), o);
        QVERIFY(!session);
        QCOMPARE(user->asked().size(), questions);
        QVERIFY2(session.error().text().contains(complaint), SshLab::why(session));
    }

    void userMayStopInsteadOfAnswering() {
        const QString key = m_lab.path(QStringLiteral("locked"));
        QVERIFY(lockedCopy(key));
        HostOptions o =
            m_lab.options(" IdentityFile " + key.toUtf8() + "\n", SshLab::Identity::None);
        o.secrets = std::make_shared<ScriptedUser>(
            [](const SecretRequest&) { return fail(Code::Cancelled, QStringLiteral("no")); });
        const Session session = m_lab.open(QStringLiteral("lab"), o);
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Code::Cancelled));
    }

    void userMayThinkLong() {
        const QString key = m_lab.path(QStringLiteral("locked"));
        QVERIFY(lockedCopy(key));
        HostOptions o =
            m_lab.options(" IdentityFile " + key.toUtf8() + "\n", SshLab::Identity::None);
        o.connectTimeout = 1s;
        o.secrets = std::make_shared<ScriptedUser>([](const SecretRequest&) {
            std::this_thread::sleep_for(1500ms);
            return Secret("secret");
        });
        const Session session = m_lab.open(QStringLiteral("lab"), o);
        QVERIFY2(session, SshLab::why(session));
    }

private:
    /// The lab's key with the passphrase "secret".
    bool lockedCopy(const QString& path) {
        QFile::remove(path);
        return writeFile(path, readFile(m_lab.lab().identity())) &&
               QFile::setPermissions(path, QFile::ReadOwner | QFile::WriteOwner) &&
               QProcess::execute(QStringLiteral("ssh-keygen"),
                                 {QStringLiteral("-q"), QStringLiteral("-p"), QStringLiteral("-N"),
                                  QStringLiteral("secret"), QStringLiteral("-f"), path}) == 0;
    }

private:
    SshLab m_lab;
};

QTEST_GUILESS_MAIN(TestSshHostLogin)
#include "tst_sshhostlogin.moc"
