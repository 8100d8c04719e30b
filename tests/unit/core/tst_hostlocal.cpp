// SPDX-License-Identifier: GPL-3.0-or-later
// Sessions on this computer: the real agent, programs that only look like one, and none at all.
#include "core/host/agentbinary.h"
#include "core/host/hostsession.h"

#include <QCryptographicHash>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <thread>

#include <sys/utsname.h>
#include <unistd.h>

using namespace knobscope;
using namespace std::chrono_literals;
using Code = Error::Code;

namespace {

QString thisArch() {
    utsname system{};
    uname(&system);
    return QString::fromLatin1(system.machine);
}

bool write(const QString& path, const QByteArray& content) {
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(content) == content.size() &&
           file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
}

HostSpec here() {
    HostSpec host;
    host.local = true;
    return host;
}

} // namespace

class TestHostLocal : public QObject {
    Q_OBJECT
private slots:
    void init() {
        m_dir = std::make_unique<QTemporaryDir>();
        qputenv("KNOBSCOPE_AGENT_DIR", QFile::encodeName(m_dir->path()));
    }

    void realAgent() {
        qputenv("KNOBSCOPE_AGENT_DIR", KNOBSCOPE_BINARY_DIR);
        auto session = HostSession::open(here(), {}, {});
        QVERIFY2(session, session ? "" : qPrintable(session.error().text()));
        const protocol::HelloResult hello = (*session)->hello();
        QCOMPARE(hello.uid, int(geteuid()));
        QCOMPARE(QString::fromStdString(hello.arch), thisArch());
        auto call = (*session)->call("no.such.method", Json::object(), 5s);
        QCOMPARE(int(call.get().error().code), int(Code::Protocol));
        QVERIFY(!(*session)->lost());
        session->reset();
        QVERIFY(kill(pid_t(hello.guardian_pid), 0) != 0);
    }

    void killedAgentIsNoticed() {
        qputenv("KNOBSCOPE_AGENT_DIR", KNOBSCOPE_BINARY_DIR);
        const auto session = HostSession::open(here(), {}, {});
        QVERIFY2(session, session ? "" : qPrintable(session.error().text()));
        kill(pid_t((*session)->hello().pid), SIGKILL);
        QTRY_VERIFY_WITH_TIMEOUT((*session)->lost(), 5000);
        auto call = (*session)->call(protocol::method::kPing, Json::object(), 5s);
        QCOMPARE(int(call.get().error().code), int(Code::LinkLost));
    }

    void impostors_data() {
        QTest::addColumn<QByteArray>("script");
        QTest::addColumn<QString>("complaint");
        const auto row = [](const char* name, const QByteArray& body, const char* complaint) {
            QTest::newRow(name) << "#!/bin/sh\n" + body + '\n' << QString::fromUtf8(complaint);
        };
        row("ends at once", "exit 7", "status 7");
        row("says why it ends", "echo no memory >&2; exit 1", "no memory");
        row("killed", "kill -SEGV $$", "signal 11");
        row("talks nonsense", "echo hello; cat >/dev/null", "hello");
        row("never answers", "cat >/dev/null", "did not answer");
        row("result of another kind", R"(read l; echo '{"id":1,"result":[1]}'; cat)", "introduce");
        row("other protocol", R"(read l; echo '{"id":1,"result":{"protocol":99}}'; cat)",
            "version 99");
        row("other build", R"(read l; echo '{"id":1,"result":{"protocol":1,"build":"0123"}}'; cat)",
            "another build");
        row("busy", R"(read l; echo '{"id":1,"error":{"code":3,"message":"held by x"}}'; cat)",
            "held by x");
        QTest::newRow("no program") << QByteArray("\x7f"
                                                  "ELF and so on")
                                    << QStringLiteral("cannot start");
    }
    void impostors() {
        QFETCH(QByteArray, script);
        QFETCH(QString, complaint);
        QVERIFY(write(agentPath(), script));
        HostOptions options;
        options.connectTimeout = 1s;
        QElapsedTimer timer;
        timer.start();
        const auto session = HostSession::open(here(), options, {});
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Code::HostUnusable));
        QVERIFY2(session.error().text().contains(complaint), qPrintable(session.error().text()));
        QVERIFY(timer.elapsed() < 6000);
    }

    void agentThatIgnoresTheEndIsKilled() {
        const QString pidFile = m_dir->filePath(QStringLiteral("pid"));
        QVERIFY(write(agentPath(), "#!/bin/sh\ntrap '' TERM\necho $$ >" + pidFile.toUtf8() +
                                       "\nwhile :; do sleep 0.1; done\n"));
        HostOptions options;
        options.connectTimeout = 500ms;
        QElapsedTimer timer;
        timer.start();
        QVERIFY(!HostSession::open(here(), options, {}));
        QVERIFY2(timer.elapsed() < 6000, "bounded");
        QFile file(pidFile);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY(kill(pid_t(file.readAll().trimmed().toInt()), 0) != 0);
    }

    void noisyStderrDoesNotStall() {
        QVERIFY(write(agentPath(),
                      "#!/bin/sh\nhead -c 8000000 /dev/zero >&2\nread l\n"
                      "echo '{\"id\":1,\"error\":{\"code\":3,\"message\":\"ok\"}}'\n"));
        const auto session = HostSession::open(here(), {}, {});
        QVERIFY(!session);
        QCOMPARE(session.error().message, QStringLiteral("ok"));
    }

    void cancelEndsTheWait() {
        QVERIFY(write(agentPath(), "#!/bin/sh\ncat >/dev/null\n"));
        CancelToken cancel;
        std::thread canceller([&cancel] {
            std::this_thread::sleep_for(100ms);
            cancel.cancel();
        });
        const auto session = HostSession::open(here(), {}, cancel);
        canceller.join();
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Code::Cancelled));
    }

    void missingAgents() {
        const QStringList empty{m_dir->path()};
        const auto path = agentPathFor(thisArch(), empty);
        QVERIFY(!path);
        QVERIFY(path.error().text().contains(m_dir->path()));
        QVERIFY(!findAgents(empty));
    }

    void otherArchitectures() {
        const QStringList folders{m_dir->path()};
        QVERIFY(write(m_dir->filePath(QStringLiteral("knobscope-agent-pdp11")), "x"));
        QVERIFY(write(m_dir->filePath(QStringLiteral("knobscope-agent-a;b")), "x"));
        const auto path = agentPathFor(QStringLiteral("vax"), folders);
        QVERIFY(!path);
        QCOMPARE(int(path.error().code), int(Code::HostUnusable));
        QVERIFY(path.error().text().contains(QStringLiteral("vax")));
        QVERIFY(path.error().text().contains(QStringLiteral("supported: pdp11")));
        const auto agents = findAgents(folders);
        QVERIFY(agents);
        QCOMPARE(agents->size(), 1);
        QCOMPARE(agents->first().arch, QStringLiteral("pdp11"));
        QCOMPARE(agents->first().size, 1);
        QCOMPARE(agents->first().sha256,
                 QCryptographicHash::hash("x", QCryptographicHash::Sha256).toHex());
    }

private:
    [[nodiscard]] QString agentPath() const {
        return m_dir->filePath(QStringLiteral("knobscope-agent-") + thisArch());
    }

    std::unique_ptr<QTemporaryDir> m_dir;
};

QTEST_GUILESS_MAIN(TestHostLocal)
#include "tst_hostlocal.moc"
