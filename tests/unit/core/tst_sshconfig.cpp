// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/sshconfig.h"

#include <QDir>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

using namespace knobscope;
using namespace std::chrono_literals;

class TestSshConfig : public QObject {
    Q_OBJECT
private slots:
    void targets_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("host"); // empty: refused
        QTest::addColumn<QString>("user");
        QTest::addColumn<int>("port");
        const auto row = [](const char* text, const char* host, const char* user = "",
                            int port = 0) {
            QTest::newRow(text) << QString::fromUtf8(text) << QString::fromUtf8(host)
                                << QString::fromUtf8(user) << port;
        };
        row("host1", "host1");
        row("  host1 ", "host1");
        row("user@host1", "host1", "user");
        row("user@realm@host1", "host1", "user@realm");
        row("ssh://host1", "host1");
        row("ssh://host1/", "host1");
        row("ssh://user@host1:2222", "host1", "user", 2222);
        row("ssh://user@[fe80::1]:22", "fe80::1", "user", 22);
        row("::1", "::1");
        row("10.0.0.1", "10.0.0.1");
        row("", "");
        row("@host1", "");
        row("user@", "");
        row("-oProxyCommand=evil", "");
        row("user@-oProxyCommand=evil", "");
        row("-l@host1", "");
        row("ssh://-oProxyCommand=evil", "");
        row("host1 host2", "");
        row("host1;reboot", "");
        row("$(reboot)", "");
        row("host1\nhost2", "");
        row("ssh://", "");
        row("ssh://host1:0", "");
        row("ssh://host1:65536", "");
        row("ssh://host1:x", "");
        row("ssh://user:secret@host1", "");
        row("ssh://host1/path", "");
    }
    void targets() {
        QFETCH(QString, text);
        QFETCH(QString, host);
        const auto target = SshTarget::parse(text);
        QCOMPARE(target.has_value(), !host.isEmpty());
        if (!target) {
            QCOMPARE(int(target.error().code), int(Error::Code::BadInput));
            QVERIFY(!target.error().message.isEmpty());
            return;
        }
        QCOMPARE(target->host, host);
        QTEST(target->user, "user");
        QTEST(target->port, "port");
    }

    void readsTheOutputOfSsh() {
        const auto config = SshConfig::parse("host foo\n"
                                             "user root\n"
                                             "hostname 10.0.0.1\n"
                                             "port 2222\n"
                                             "addressfamily inet\n"
                                             "identitiesonly yes\n"
                                             "identityfile ~/.ssh/id_a\n"
                                             "identityfile /keys/id b\n"
                                             "hostkeyalias pool\n"
                                             "stricthostkeychecking accept-new\n"
                                             "userknownhostsfile /a/known /b/known\n"
                                             "globalknownhostsfile none\n"
                                             "pubkeyauthentication true\n"
                                             "connecttimeout 5\n"
                                             "proxyjump gate\n"
                                             "somethingnew value\n"
                                             "novalue\n"
                                             " \n",
                                             QStringLiteral("foo"));
        QVERIFY(config);
        QCOMPARE(config->hostname, QStringLiteral("10.0.0.1"));
        QCOMPARE(config->port, 2222);
        QCOMPARE(config->identityFiles,
                 QStringList({QStringLiteral("~/.ssh/id_a"), QStringLiteral("/keys/id b")}));
        QVERIFY(config->identitiesOnly);
        QVERIFY(config->acceptNew);
        QVERIFY(config->pubkeyAuthentication);
        QCOMPARE(config->hostKeyAlias, QStringLiteral("pool"));
        QCOMPARE(config->userKnownHosts,
                 QStringList({QStringLiteral("/a/known"), QStringLiteral("/b/known")}));
        QVERIFY(config->globalKnownHosts.isEmpty());
        QCOMPARE(config->connectTimeoutSeconds, 5);
        QCOMPARE(config->proxyJump, QStringLiteral("gate"));
        QVERIFY(config->proxyCommand.isEmpty());
    }

    void refusesOutputWithoutTheEssentials_data() {
        QTest::addColumn<QByteArray>("output");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("no user") << QByteArray("hostname a\nport 22\n");
        QTest::newRow("no host") << QByteArray("user a\nport 22\n");
        QTest::newRow("no port") << QByteArray("user a\nhostname a\n");
        QTest::newRow("port 0") << QByteArray("user a\nhostname a\nport 0\n");
        QTest::newRow("port too big") << QByteArray("user a\nhostname a\nport 65536\n");
        QTest::newRow("binary") << QByteArray("\0\xff\n\n  \n", 8);
    }
    void refusesOutputWithoutTheEssentials() {
        QFETCH(QByteArray, output);
        const auto config = SshConfig::parse(output, QStringLiteral("foo"));
        QVERIFY(!config);
        QCOMPARE(int(config.error().code), int(Error::Code::HostUnusable));
    }

    void expandsPaths_data() {
        QTest::addColumn<QString>("path");
        QTest::addColumn<QString>("expanded");
        const QString home = QDir::homePath();
        QTest::newRow("plain") << QStringLiteral("/a/b") << QStringLiteral("/a/b");
        QTest::newRow("home") << QStringLiteral("~/.ssh/k") << home + QStringLiteral("/.ssh/k");
        QTest::newRow("home of a user") << QStringLiteral("~root/k") << QStringLiteral("/root/k");
        QTest::newRow("tokens") << QStringLiteral("%d/%h/%n/%p/%r/%k/%%")
                                << home + QStringLiteral("/10.0.0.1/foo/22/me/pool/%");
        QTest::newRow("unknown token") << QStringLiteral("/a%Z") << QStringLiteral("/a%Z");
        QTest::newRow("lone percent") << QStringLiteral("/a%") << QStringLiteral("/a%");
    }
    void expandsPaths() {
        QFETCH(QString, path);
        SshConfig config;
        config.name = QStringLiteral("foo");
        config.hostname = QStringLiteral("10.0.0.1");
        config.user = QStringLiteral("me");
        config.hostKeyAlias = QStringLiteral("pool");
        QTEST(config.expanded(path), "expanded");
    }

    void resolvesWithTheRealSsh() {
        QTemporaryDir dir;
        const QString path = write(dir, "Host foo\n HostName 127.0.0.9\n User me\n Port 2200\n"
                                        " HostKeyAlias pool\n IdentityFile /k/one\n"
                                        " IdentityFile /k/two\n StrictHostKeyChecking no\n"
                                        " ProxyCommand none\n");
        const Patience patience(QStringLiteral("foo"), 10s, {});
        const auto config = SshConfig::resolve({QStringLiteral("foo"), {}, 0}, path, patience);
        QVERIFY2(config, config ? "" : qPrintable(config.error().text()));
        QCOMPARE(config->hostname, QStringLiteral("127.0.0.9"));
        QCOMPARE(config->user, QStringLiteral("me"));
        QCOMPARE(config->port, 2200);
        QCOMPARE(config->hostKeyAlias, QStringLiteral("pool"));
        QCOMPARE(config->identityFiles,
                 QStringList({QStringLiteral("/k/one"), QStringLiteral("/k/two")}));
        QVERIFY(config->acceptNew);
        QVERIFY(config->proxyCommand.isEmpty());
        const auto typed = SshConfig::resolve({QStringLiteral("foo"), QStringLiteral("you"), 2300},
                                              path, patience);
        QVERIFY(typed);
        QCOMPARE(typed->user, QStringLiteral("you"));
        QCOMPARE(typed->port, 2300);
    }

    void badConfigurationIsNamed() {
        QTemporaryDir dir;
        const QString path = write(dir, "Host foo\n NoSuchOption yes\n");
        const auto config = SshConfig::resolve({QStringLiteral("foo"), {}, 0}, path,
                                               Patience(QStringLiteral("foo"), 10s, {}));
        QVERIFY(!config);
        QVERIFY(
            config.error().text().contains(QStringLiteral("nosuchoption"), Qt::CaseInsensitive));
    }

    void cancelEndsTheWait() {
        QTemporaryDir dir;
        const QString path = write(dir, "Match exec \"exec sleep 30\"\n User me\n");
        CancelToken cancel;
        cancel.cancel();
        QElapsedTimer timer;
        timer.start();
        const auto config = SshConfig::resolve({QStringLiteral("foo"), {}, 0}, path,
                                               Patience(QStringLiteral("foo"), 10s, cancel));
        QVERIFY(!config);
        QCOMPARE(int(config.error().code), int(Error::Code::Cancelled));
        QVERIFY(timer.elapsed() < 2000);
    }

private:
    static QString write(const QTemporaryDir& dir, const QByteArray& content) {
        QFile file(dir.filePath(QStringLiteral("config")));
        if (!file.open(QIODevice::WriteOnly))
            qFatal("cannot write");
        file.write(content);
        return file.fileName();
    }
};

QTEST_GUILESS_MAIN(TestSshConfig)
#include "tst_sshconfig.moc"
