// SPDX-License-Identifier: GPL-3.0-or-later
// The system's keychain. The test brings a keyring of its own: without arguments it starts itself
// again inside a message bus and a GNOME keyring that are there for it alone.
#include "core/host/keychain.h"

#include <QElapsedTimer>
#include <QProcess>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <thread>

using namespace knobscope;
using namespace std::chrono_literals;

namespace {

SecretRequest request() {
    SecretRequest request;
    request.kind = SecretRequest::Kind::Password;
    request.account = QStringLiteral("op@10.0.0.1:22");
    return request;
}

class User final : public SecretSource {
public:
    Result<Secret> ask(const SecretRequest&, const CancelToken&) override {
        ++asked;
        return Secret("pässword", true);
    }
    int asked = 0;
};

} // namespace

class TestKeychain : public QObject {
    Q_OBJECT
private slots:
    void keepsReadsAndForgets() {
        if (!inKeyring())
            QSKIP("needs dbus-run-session and gnome-keyring-daemon");
        Keychain keychain;
        QVERIFY(keychain.usable());
        const QString id = QStringLiteral("password op@host");
        auto none = keychain.read(id, {});
        QVERIFY2(none, none ? "" : qPrintable(none.error().text()));
        QVERIFY(!none->has_value());
        const auto written = keychain.write(id, Secret("gehëim"));
        QVERIFY2(written, written ? "" : qPrintable(written.error().text()));
        const auto read = keychain.read(id, {});
        QVERIFY(read && read->has_value());
        QCOMPARE((*read)->view(), std::string_view("gehëim"));
        QVERIFY(keychain.remove(id));
        QVERIFY(keychain.remove(id)); // is not there any more
        QVERIFY(!keychain.read(id, {})->has_value());
    }

    void answersInTheNextProgram() {
        if (!inKeyring())
            QSKIP("needs dbus-run-session and gnome-keyring-daemon");
        const auto user = std::make_shared<User>();
        const auto keychain = std::make_shared<Keychain>();
        {
            KeptSecrets secrets(keychain, user);
            const auto answer = secrets.ask(request(), {});
            QVERIFY(answer);
            secrets.judge(request(), *answer, true);
        }
        KeptSecrets later(keychain, user);
        const auto answer = later.ask(request(), {});
        QVERIFY(answer);
        QCOMPARE(answer->view(), std::string_view("pässword"));
        QCOMPARE(user->asked, 1);
        QVERIFY(keychain->remove(request().id()));
    }

    void severalThreadsAtOnce() {
        if (!inKeyring())
            QSKIP("needs dbus-run-session and gnome-keyring-daemon");
        Keychain keychain;
        std::atomic<int> good{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 8; ++i)
            threads.emplace_back([&, i] {
                const QString id = QStringLiteral("thread %1").arg(i);
                const std::string text = "secret " + std::to_string(i);
                if (!keychain.usable() || !keychain.write(id, Secret(text)))
                    return;
                const auto read = keychain.read(id, {});
                if (read && *read && (*read)->view() == text && keychain.remove(id))
                    ++good;
            });
        for (std::thread& thread : threads)
            thread.join();
        QCOMPARE(good.load(), 8);
    }

    void withoutAKeychainTheUserIsAsked() {
        if (inKeyring())
            QSKIP("there is one");
        QElapsedTimer timer;
        timer.start();
        const auto keychain = std::make_shared<Keychain>();
        QVERIFY(!keychain->usable());
        const auto user = std::make_shared<User>();
        KeptSecrets secrets(keychain, user);
        const auto answer = secrets.ask(request(), {});
        QVERIFY(answer);
        secrets.judge(request(), *answer, true);
        QCOMPARE(user->asked, 1);
        QVERIFY2(timer.elapsed() < 6000, qPrintable(QString::number(timer.elapsed())));
    }

private:
    static bool inKeyring() { return qEnvironmentVariableIsSet("KNOBSCOPE_TEST_KEYRING"); }
};

int main(int argc, char** argv) {
    QCoreApplication app(argc, argv);
    TestKeychain test;
    const bool inside = qEnvironmentVariableIsSet("KNOBSCOPE_TEST_KEYRING");
    if (!inside) {
        // No bus of the user's own, whoever runs this: nothing is read or left in a real keychain.
        qputenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
        qunsetenv("DISPLAY");
    }
    const int status = QTest::qExec(&test, argc, argv);
    if (inside || status != 0 ||
        QStandardPaths::findExecutable(QStringLiteral("dbus-run-session")).isEmpty() ||
        QStandardPaths::findExecutable(QStringLiteral("gnome-keyring-daemon")).isEmpty())
        return status;
    QTemporaryDir home;
    qputenv("HOME", home.path().toLocal8Bit());
    qputenv("XDG_DATA_HOME", home.path().toLocal8Bit());
    qputenv("XDG_RUNTIME_DIR", home.path().toLocal8Bit());
    qunsetenv("DBUS_SESSION_BUS_ADDRESS");
    qputenv("KNOBSCOPE_TEST_KEYRING", "1");
    return QProcess::execute(
        QStringLiteral("dbus-run-session"),
        {QStringLiteral("--"), QStringLiteral("sh"), QStringLiteral("-c"),
         QStringLiteral("printf test | gnome-keyring-daemon --unlock --components=secrets "
                        ">/dev/null && exec \"$0\" \"$@\""),
         QCoreApplication::applicationFilePath()});
}

#include "tst_keychain.moc"
