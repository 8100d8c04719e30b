// SPDX-License-Identifier: GPL-3.0-or-later
// Who the host is: its key, what both ends speak, and hosts that cannot be reached.
#include "core/host/fd.h"
#include "tests/lab/sshlab.h"

#include <QElapsedTimer>
#include <QTest>

#include <thread>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace knobscope;
using namespace knobscope::test;
using namespace std::chrono_literals;
using Code = Error::Code;

class TestSshHostKeys : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (geteuid() != 0)
            QSKIP("hosts in network namespaces need root");
        QVERIFY2(m_lab.up(), qPrintable(m_lab.error()));
        QVERIFY(keygen(m_lab.path(QStringLiteral("stranger")), QStringLiteral("stranger")));
    }

    void hostKeys_data() {
        QTest::addColumn<QByteArray>("known"); // KEY stands for the host's, HOST for its address
        QTest::addColumn<QString>("complaint");
        QTest::addColumn<int>("line");
        const QByteArray other = readFile(m_lab.path(QStringLiteral("stranger.pub")));
        const QByteArray changed = "HOST " + other;
        QTest::newRow("known") << QByteArray("HOST KEY\n") << QString() << 0;
        QTest::newRow("known after others") << changed + "HOST KEY\n" << QString() << 0;
        QTest::newRow("unknown") << QByteArray() << QStringLiteral("not known yet") << 0;
        QTest::newRow("changed") << changed << QStringLiteral("has changed") << 1;
        QTest::newRow("changed after a malformed line")
            << "HOST ssh-ed25519 %%%\n" + changed << QStringLiteral("has changed") << 2;
        QTest::newRow("changed after an unknown type")
            << "HOST ssh-future AAAAC3NzaC1mdXR1cmU=\n" + changed << QStringLiteral("has changed")
            << 2;
        QTest::newRow("revoked") << QByteArray("HOST KEY\n@revoked * KEY\n")
                                 << QStringLiteral("is revoked") << 2;
        QTest::newRow("another kind")
            << QByteArray("HOST ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQ==\n")
            << QStringLiteral("another kind") << 1;
    }

    void hostKeys() {
        QFETCH(QByteArray, known);
        QFETCH(QString, complaint);
        QFETCH(int, line);
        const QString path = m_lab.path(QStringLiteral("known"));
        QVERIFY(writeFile(path, m_lab.fill(known)));
        HostOptions o = m_lab.options(" UserKnownHostsFile " + path.toUtf8() + "\n");
        const Session session = m_lab.open(QStringLiteral("lab"), o);
        QCOMPARE(readFile(path), m_lab.fill(known));
        if (complaint.isEmpty()) {
            QVERIFY2(session, SshLab::why(session));
            return;
        }
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Code::HostUnusable));
        const QString text = session.error().text();
        QVERIFY2(text.contains(complaint) && text.contains(QStringLiteral("SHA256:")),
                 SshLab::why(session));
        if (line > 0)
            QVERIFY2(text.contains(QStringLiteral("%1:%2").arg(path).arg(line)),
                     SshLab::why(session));
        // A new key may be let in; a changed or revoked one never.
        o.acceptNewHostKeys = true;
        const Session accepted = m_lab.open(QStringLiteral("lab"), o);
        QCOMPARE(accepted.has_value(), line == 0);
        QCOMPARE(readFile(path) == m_lab.fill(known), line > 0);
        o.acceptNewHostKeys = false;
        QCOMPARE(m_lab.open(QStringLiteral("lab"), o).has_value(), line == 0);
    }

    void hostKeyAlias() {
        const QString path = m_lab.path(QStringLiteral("known"));
        QVERIFY(writeFile(path, m_lab.fill("pool KEY\n")));
        const QByteArray files = " UserKnownHostsFile " + path.toUtf8() + "\n";
        const Session plain = m_lab.open(QStringLiteral("lab"), m_lab.options(files));
        QVERIFY(!plain);
        const Session aliased =
            m_lab.open(QStringLiteral("lab"), m_lab.options(files + " HostKeyAlias pool\n"));
        QVERIFY2(aliased, SshLab::why(aliased));
    }

    void noCommonAlgorithmIsExplained_data() {
        QTest::addColumn<QByteArray>("ours");
        QTest::addColumn<QByteArray>("theirs");
        QTest::newRow("key exchange") << QByteArray("KexAlgorithms ecdh-sha2-nistp256")
                                      << QByteArray("KexAlgorithms curve25519-sha256");
        QTest::newRow("cipher") << QByteArray("Ciphers aes128-ctr")
                                << QByteArray("Ciphers aes256-gcm@openssh.com");
        QTest::newRow("mac") << QByteArray("MACs hmac-sha2-256\n Ciphers aes128-ctr")
                             << QByteArray("MACs hmac-sha2-512\nCiphers aes128-ctr");
        QTest::newRow("host key") << QByteArray("HostKeyAlgorithms rsa-sha2-256")
                                  << QByteArray("HostKeyAlgorithms ssh-ed25519");
    }
    void noCommonAlgorithmIsExplained() {
        QFETCH(QByteArray, ours);
        QFETCH(QByteArray, theirs);
        const LabSshd sshd(m_lab, 2203, theirs);
        const Session session =
            m_lab.open(QStringLiteral("lab"), m_lab.options(" Port 2203\n " + ours + "\n"));
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Code::HostUnusable));
        for (const QByteArray& settings : {ours, theirs}) {
            const QByteArray name = settings.split('\n').first().split(' ').last();
            QVERIFY2(session.error().text().contains(QString::fromUtf8(name)),
                     SshLab::why(session));
        }
        QVERIFY2(session.error().message.contains(QStringLiteral("in common")),
                 SshLab::why(session));
    }

    void unknownAlgorithmIsNamed() {
        const Session session =
            m_lab.open(QStringLiteral("lab"),
                       m_lab.options(" KexAlgorithms sntrup761x25519-sha512@openssh.com\n"));
        QVERIFY(!session);
        QVERIFY2(session.error().text().contains(QStringLiteral("sntrup761")),
                 SshLab::why(session));
    }

    void newKeyIsAskedAbout_data() {
        QTest::addColumn<QByteArray>("options");
        QTest::addColumn<bool>("trusting");
        QTest::addColumn<bool>("asked");
        QTest::newRow("trusted") << QByteArray() << true << true;
        QTest::newRow("not trusted") << QByteArray() << false << true;
        QTest::newRow("strict") << QByteArray(" StrictHostKeyChecking yes\n") << true << false;
        QTest::newRow("batch") << QByteArray(" BatchMode yes\n") << true << false;
    }
    void newKeyIsAskedAbout() {
        QFETCH(QByteArray, options);
        QFETCH(bool, trusting);
        QFETCH(bool, asked);
        const QString path = m_lab.path(QStringLiteral("known"));
        QVERIFY(writeFile(path, {}));
        HostOptions o = m_lab.options(" UserKnownHostsFile " + path.toUtf8() + "\n" + options);
        const auto user = std::make_shared<ScriptedUser>(QByteArray());
        user->trusting = trusting;
        o.secrets = user;
        const Session session = m_lab.open(QStringLiteral("lab"), o);
        QCOMPARE(session.has_value(), trusting && asked);
        QCOMPARE(user->keys().size(), asked ? 1 : 0);
        QCOMPARE(readFile(path), session ? m_lab.fill("HOST KEY\n") : QByteArray());
        if (asked)
            QVERIFY(user->keys().first().fingerprint.startsWith(QStringLiteral("SHA256:")));
        else
            QVERIFY2(session.error().text().contains(QStringLiteral("not known yet")),
                     SshLab::why(session));
    }

    void changedKeyIsNeverAskedAbout() {
        const QString path = m_lab.path(QStringLiteral("known"));
        QVERIFY(writeFile(
            path, m_lab.fill("HOST " + readFile(m_lab.path(QStringLiteral("stranger.pub"))))));
        HostOptions o = m_lab.options(" UserKnownHostsFile " + path.toUtf8() + "\n");
        const auto user = std::make_shared<ScriptedUser>(QByteArray());
        user->trusting = true;
        o.secrets = user;
        const Session session = m_lab.open(QStringLiteral("lab"), o);
        QVERIFY(!session);
        QVERIFY(user->keys().isEmpty());
    }

    void portThatIsNoSshdIsExplained() {
        const Fd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        QCOMPARE(bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
        QCOMPARE(listen(listener.get(), 1), 0);
        getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
        std::thread closer([&] { const Fd closed(accept(listener.get(), nullptr, nullptr)); });
        const Session session =
            m_lab.open(QStringLiteral("lab"),
                       m_lab.options(" HostName 127.0.0.1\n Port " +
                                     QByteArray::number(ntohs(address.sin_port)) + "\n"));
        closer.join();
        QVERIFY(!session);
        QVERIFY2(session.error().text().contains(QStringLiteral("before it said anything of SSH")),
                 SshLab::why(session));
    }

    void unreachableHosts_data() {
        QTest::addColumn<QByteArray>("config");
        QTest::addColumn<QString>("complaint");
        QTest::newRow("no sshd at that port") << QByteArray("HostName 127.0.0.1\n Port 1\n")
                                              << QStringLiteral("refuses the connection");
        QTest::newRow("no such name") << QByteArray("HostName no-such-host.invalid\n")
                                      << QStringLiteral("no-such-host.invalid");
        QTest::newRow("no route") << QByteArray("HostName 240.0.0.1\n") << QString();
    }

    void unreachableHosts() {
        QFETCH(QByteArray, config);
        QFETCH(QString, complaint);
        const QString path = m_lab.path(QStringLiteral("config"));
        QVERIFY(writeFile(path, "Host lab\n " + config));
        HostOptions o;
        o.sshConfig = path;
        o.connectTimeout = 3s;
        QElapsedTimer timer;
        timer.start();
        const Session session = m_lab.open(QStringLiteral("lab"), o);
        QVERIFY(timer.elapsed() < 6000);
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Code::HostUnusable));
        QVERIFY2(session.error().text().contains(complaint), SshLab::why(session));
    }

private:
    SshLab m_lab;
};

QTEST_GUILESS_MAIN(TestSshHostKeys)
#include "tst_sshhostkeys.moc"
