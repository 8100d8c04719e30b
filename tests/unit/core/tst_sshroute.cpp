// SPDX-License-Identifier: GPL-3.0-or-later
// The way to a host (ProxyJump, ProxyCommand), its keys and certificates, and the words of sudo.
#include "core/host/bootstrapscript.h"
#include "core/host/sshkeys.h"
#include "core/host/sshroute.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

using namespace knobscope;
using namespace std::chrono_literals;

class TestSshRoute : public QObject {
    Q_OBJECT
private slots:
    void jumpHosts_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("host"); // empty: refused
        QTest::addColumn<QString>("user");
        QTest::addColumn<int>("port");
        const auto row = [](const char* text, const char* host, const char* user = "",
                            int port = 0) {
            QTest::newRow(text) << QString::fromUtf8(text) << QString::fromUtf8(host)
                                << QString::fromUtf8(user) << port;
        };
        row("gate", "gate");
        row(" gate ", "gate");
        row("user@gate", "gate", "user");
        row("user@gate:2222", "gate", "user", 2222);
        row("gate:22", "gate", "", 22);
        row("user@realm@gate:22", "gate", "user@realm", 22);
        row("[10.0.0.1]:2222", "10.0.0.1", "", 2222);
        row("user@[fe80::1]:22", "fe80::1", "user", 22);
        row("[::1]", "::1");
        row("ssh://user@gate:2222", "gate", "user", 2222);
        row("", "");
        row("user@", "");
        row("@gate", "");
        row("gate:", "");
        row("gate:0", "");
        row("gate:65536", "");
        row("gate:x", "");
        row("::1", ""); // as ssh has it: an address needs its brackets here
        row("[::1", "");
        row("-oProxyCommand=evil", "");
        row("user@-l", "");
        row("gate;reboot", "");
        row("gate two", "");
    }
    void jumpHosts() {
        QFETCH(QString, text);
        QFETCH(QString, host);
        const auto target = SshTarget::parseJump(text);
        QCOMPARE(target.has_value(), !host.isEmpty());
        if (!target)
            return;
        QCOMPARE(target->host, host);
        QTEST(target->user, "user");
        QTEST(target->port, "port");
    }

    void routes_data() {
        QTest::addColumn<QByteArray>("config"); // of the host "far"
        QTest::addColumn<QStringList>("accounts");
        QTest::addColumn<QString>("command");
        const auto row = [](const char* name, const QByteArray& config, const QStringList& accounts,
                            const QString& command = {}) {
            QTest::newRow(name) << config << accounts << command;
        };
        const QString far = QStringLiteral("me@10.9.9.9:22");
        row("direct", "", {far});
        row("one", " ProxyJump you@gate:2200\n", {QStringLiteral("you@10.0.0.1:2200"), far});
        row("two", " ProxyJump gate,wall\n",
            {QStringLiteral("me@10.0.0.1:22"), QStringLiteral("me@10.0.0.2:22"), far});
        row("tokens", " ProxyJump %r@gate\n", {QStringLiteral("me@10.0.0.1:22"), far});
        // The first jump host's own way counts; that of the others does not, as they are reached
        // through the one before.
        row("jump host behind a jump host", " ProxyJump hidden\n",
            {QStringLiteral("me@10.0.0.1:22"), QStringLiteral("me@10.0.0.3:22"), far});
        row("second jump host behind another", " ProxyJump wall,hidden\n",
            {QStringLiteral("me@10.0.0.2:22"), QStringLiteral("me@10.0.0.3:22"), far});
        row("jump host behind a program", " ProxyJump program\n",
            {QStringLiteral("me@10.0.0.4:22"), far}, QStringLiteral("nc %h %p"));
        row("second jump host behind a program", " ProxyJump gate,program\n",
            {QStringLiteral("me@10.0.0.1:22"), QStringLiteral("me@10.0.0.4:22"), far});
        row("program", " ProxyCommand nc %h %p\n", {far}, QStringLiteral("nc %h %p"));
        row("none", " ProxyJump none\n ProxyCommand none\n", {far});
        row("circle", " ProxyJump one\n", {});
        row("long circle", " ProxyJump two\n", {});
        row("socket of a program", " ProxyCommand nc %h %p\n ProxyUseFdpass yes\n", {});
        row("nonsense", " ProxyJump gate,gate;reboot\n", {});
    }
    void routes() {
        QFETCH(QByteArray, config);
        QFETCH(QStringList, accounts);
        QFETCH(QString, command);
        QTemporaryDir dir;
        QFile file(dir.filePath(QStringLiteral("config")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("Host far\n HostName 10.9.9.9\n" + config +
                   "Host gate\n HostName 10.0.0.1\nHost wall\n HostName 10.0.0.2\n"
                   "Host hidden\n HostName 10.0.0.3\n ProxyJump gate\n"
                   "Host program\n HostName 10.0.0.4\n ProxyCommand nc %h %p\n"
                   "Host one\n ProxyJump far\nHost two\n ProxyJump one\n"
                   "Host *\n User me\n");
        file.close();
        const Patience patience(QStringLiteral("far"), 20s, {});
        const auto route =
            SshRoute::resolve({QStringLiteral("far"), {}, 0}, file.fileName(), patience);
        QCOMPARE(route.has_value(), !accounts.isEmpty());
        if (!route) {
            QVERIFY(!route.error().text().isEmpty());
            return;
        }
        QStringList found;
        for (const SshConfig& hop : route->hops)
            found << hop.account();
        QCOMPARE(found, accounts);
        QCOMPARE(route->hops.first().proxyCommand, command);
        for (const SshConfig& hop : route->hops)
            QVERIFY(hop.proxyJump.isEmpty());
    }

    void certificatesBelongToTheirKeys_data() {
        QTest::addColumn<QString>("type");
        for (const char* type : {"ed25519", "rsa", "ecdsa"})
            QTest::newRow(type) << QString::fromUtf8(type);
    }
    void certificatesBelongToTheirKeys() {
        QFETCH(QString, type);
        QTemporaryDir dir;
        const QString key = dir.filePath(QStringLiteral("key"));
        const QString authority = dir.filePath(QStringLiteral("ca"));
        QVERIFY(keygen({QStringLiteral("-t"), type, QStringLiteral("-N"), QString(),
                        QStringLiteral("-f"), key}));
        QVERIFY(keygen({QStringLiteral("-t"), QStringLiteral("ed25519"), QStringLiteral("-N"),
                        QString(), QStringLiteral("-f"), authority}));
        QVERIFY(keygen({QStringLiteral("-s"), authority, QStringLiteral("-I"), QStringLiteral("x"),
                        key + QStringLiteral(".pub")}));
        const QByteArray plain = readPublicKey(key + QStringLiteral(".pub"));
        const QByteArray certificate = readPublicKey(key + QStringLiteral("-cert.pub"));
        QVERIFY(!plain.isEmpty() && !certificate.isEmpty() && plain != certificate);
        QCOMPARE(plainKeyOf(certificate), plain);
        QCOMPARE(plainKeyOf(plain), plain);
        QCOMPARE(publicBlobOf(loadPrivateKey(key, nullptr)), plain);
        // The first is the certificate, and it carries a private key of its own.
        SshConfig config;
        config.identityFiles = QStringList{key, dir.filePath(QStringLiteral("no-such-file"))};
        QStringList unusable;
        const QList<Identity> identities = fileIdentities(config, unusable);
        QCOMPARE(identities.size(), 2);
        QCOMPARE(identities[0].shown, certificate);
        QCOMPARE(identities[1].shown, plain);
        QVERIFY(identities[0].key != identities[1].key);
        QVERIFY(unusable.isEmpty());
        // Cut short, it is nobody's.
        for (qsizetype size = 0; size < certificate.size(); size += 7) {
            const QByteArray cut = plainKeyOf(certificate.left(size));
            QVERIFY(cut != plain || size > plain.size());
        }
    }

    void lockedKeysAreSeen() {
        QTemporaryDir dir;
        const QString key = dir.filePath(QStringLiteral("key"));
        QVERIFY(keygen({QStringLiteral("-t"), QStringLiteral("ed25519"), QStringLiteral("-N"),
                        QStringLiteral("secret"), QStringLiteral("-f"), key}));
        bool locked = false;
        QVERIFY(!loadPrivateKey(key, nullptr, &locked));
        QVERIFY(locked);
        QVERIFY(!loadPrivateKey(key, "wrong"));
        QVERIFY(loadPrivateKey(key, "secret", &locked));
        QVERIFY(!locked);
        QVERIFY(!loadPrivateKey(dir.filePath(QStringLiteral("none")), nullptr, &locked));
        QVERIFY(!locked);
    }

    void filesThatAreNoKeysAreNamed() {
        QTemporaryDir dir;
        QFile file(dir.filePath(QStringLiteral("key")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("hello\n");
        file.close();
        SshConfig config;
        config.identityFiles = QStringList{file.fileName()};
        QStringList unusable;
        QVERIFY(fileIdentities(config, unusable).isEmpty());
        QVERIFY(unusable.value(0).contains(file.fileName()));
    }

    void scriptsSurviveEveryShell_data() {
        QTest::addColumn<int>("mode");
        QTest::newRow("none") << int(SudoMode::None);
        QTest::newRow("auto") << int(SudoMode::Auto);
        QTest::newRow("password") << int(SudoMode::Password);
    }
    void scriptsSurviveEveryShell() {
        QFETCH(int, mode);
        const QList<AgentBinary> agents{{QStringLiteral("x86_64"), {}, 1000, QByteArray(64, 'a')},
                                        {QStringLiteral("aarch64"), {}, 2000, QByteArray(64, 'b')}};
        const QByteArray command = bootstrapCommand(agents, "abc123", SudoMode(mode));
        QVERIFY(!command.contains('\n') && !command.contains('!') && !command.contains('\\'));
        QCOMPARE(command.count('\''), mode == int(SudoMode::None) ? 2 : 4);
        QVERIFY(!command.contains('@'));
        QCOMPARE(command.contains("sudo -S -k"), mode == int(SudoMode::Password));
        QCOMPARE(command.contains("sudo -n"), mode == int(SudoMode::Auto));
        // A shell finds nothing wrong with it.
        QProcess shell;
        shell.start(QStringLiteral("sh"),
                    {QStringLiteral("-n"), QStringLiteral("-c"), QString::fromUtf8(command)});
        QVERIFY(shell.waitForFinished());
        QCOMPARE(shell.exitCode(), 0);
    }

    void wordsOfSudo_data() {
        QTest::addColumn<QString>("words");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* words, const char* message) {
            QTest::newRow(words) << QString::fromUtf8(words) << QString::fromUtf8(message);
        };
        row("command not found", "host1 has no sudo");
        row("sudo: sorry, you must have a tty to run sudo", "demands a terminal");
        row("op is not in the sudoers file.", "does not let op become root");
        row("Sorry, user op is not allowed to execute '/bin/sh -c x' as root on host1.",
            "does not let op become root");
        row("Sorry, user op may not run sudo on host1.", "does not let op become root");
        row("sudo: 3 incorrect password attempts", "does not take the password of op");
        row("sudo: a password is required", "asks op for a password");
        row("sudo: unable to initialize policy plugin", "does not make op root");
        row("", "does not make op root");
    }
    void wordsOfSudo() {
        QFETCH(QString, words);
        QFETCH(QString, message);
        const Error error = sudoError(QStringLiteral("host1"), QStringLiteral("op"), words);
        QCOMPARE(int(error.code), int(Error::Code::HostUnusable));
        QVERIFY2(error.message.contains(message), qPrintable(error.message));
        QVERIFY2(!error.detail.isEmpty(), "what to do is said");
        QVERIFY(!error.text().contains(QStringLiteral("/bin/sh")));
    }

private:
    static bool keygen(const QStringList& arguments) {
        return QProcess::execute(QStringLiteral("ssh-keygen"),
                                 QStringList{QStringLiteral("-q")} + arguments) == 0;
    }
};

QTEST_GUILESS_MAIN(TestSshRoute)
#include "tst_sshroute.moc"
