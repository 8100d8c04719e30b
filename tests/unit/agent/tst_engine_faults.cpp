// SPDX-License-Identifier: GPL-3.0-or-later
#include "peerprocess.h"

#include <QTest>

#include <csignal>
#include <memory>
#include <vector>

using namespace enginetest;
using knobscope::Json;
namespace errorcode = knobscope::protocol::errorcode;

/// How a test ends that does not end by itself.
class EngineFaultsTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void wrongCallsAreRefused();
    void cancelEndsBothEnds_data();
    void cancelEndsBothEnds();
    void destructionEndsTheTest();
    void peerIsKilled_data();
    void peerIsKilled();
    void peerIsStopped();
    void neverStartedPeer();
};

namespace {

TrafficConfig shortTest(const QString& kind) {
    TrafficConfig config;
    config.seconds = 0.3;
    config.streams = 2;
    if (kind == "rr")
        config.kind = "tcp_rr";
    if (kind == "crr")
        config.kind = "tcp_crr";
    if (kind == "udp rr")
        config.kind = "udp_rr";
    if (kind.startsWith("udp stream")) {
        config.kind = "udp_stream";
        config.message_size = 1000;
        config.rate = 1e7;
    }
    if (kind == "maerts")
        config.direction = "from_receiver";
    if (kind.endsWith("both"))
        config.direction = "both";
    if (kind == "shared thread")
        config.threads = 1;
    return config;
}

constexpr const char* kKinds[] = {"stream",     "maerts",          "both", "shared thread", "rr",
                                  "udp stream", "udp stream both", "crr",  "udp rr"};

void addKinds() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("role"); // of the end that stays
    for (const char* kind : kKinds) {
        for (const char* role : {"server", "client"})
            QTest::addRow("%s, %s stays", kind, role) << kind << role;
    }
}

/// An engine in this process against a peer in another.
struct Mixed {
    PeerProcess peer;
    Engine engine;

    QString prepare(const QString& role, const TrafficConfig& config) {
        if (role == "server") {
            const int port = engine.prepare(params("server", config)).port;
            const Json answer = peer.prepare(params("client", config, "127.0.0.1", port));
            return QString::fromStdString(answer.value("error", ""));
        }
        const Json answer = peer.prepare(params("server", config));
        if (answer.contains("error"))
            return QString::fromStdString(answer["error"].get<std::string>());
        engine.prepare(params("client", config, "127.0.0.1", answer["port"].get<int>()));
        return {};
    }
    bool moves() {
        QElapsedTimer timer;
        timer.start();
        while (timer.elapsed() < 5000) {
            const auto progress = engine.progress();
            if (progress.bytes_sent + progress.bytes_received > 0)
                return true;
            QTest::qWait(1);
        }
        return false;
    }
};

} // namespace

void EngineFaultsTest::initTestCase() {
    // What Qt sets up for its first child process stays, and is not the engine's.
    PeerProcess first;
    first.prepare(params("client", {}, "127.0.0.1", 1));
}

void EngineFaultsTest::wrongCallsAreRefused() {
    Engine engine;
    QVERIFY(errorOf([&] { engine.start(); }).contains("not been prepared"));
    QVERIFY(errorOf([&] { engine.takeResult(); }).contains("not ended"));
    engine.prepare(params("server", {}));
    QVERIFY(errorOf([&] { engine.prepare(params("server", {})); }).contains("already"));
    QVERIFY(errorOf([&] { engine.takeResult(); }).contains("not ended"));
    engine.start();
    QVERIFY(errorOf([&] { engine.start(); }).contains("already"));
}

void EngineFaultsTest::cancelEndsBothEnds_data() {
    addKinds();
}

void EngineFaultsTest::cancelEndsBothEnds() {
    QFETCH(QString, kind);
    QFETCH(QString, role);
    const Resources before;
    {
        TrafficConfig config = shortTest(kind);
        config.seconds = 60;
        config.streams = 8;
        Pair pair;
        pair.prepare(config);
        pair.start();
        QTRY_VERIFY(pair.client.progress().bytes_sent + pair.client.progress().bytes_received > 0);
        Engine& stopped = role == "server" ? pair.client : pair.server;
        Engine& other = role == "server" ? pair.server : pair.client;
        stopped.cancel();
        const Outcome cancelled = finish(stopped);
        QCOMPARE(cancelled.code, errorcode::kCancelled);
        QVERIFY2(cancelled.seconds < 1, qPrintable(QString::number(cancelled.seconds)));
        const Outcome left = finish(other);
        QCOMPARE(left.code, errorcode::kTraffic);
        QVERIFY2(left.error.contains("127.0.0.1"), qPrintable(left.error));
        QVERIFY2(left.seconds < 1, qPrintable(QString::number(left.seconds)));
    }
    QCOMPARE(Resources(), before);
}

void EngineFaultsTest::destructionEndsTheTest() {
    const Resources before;
    QElapsedTimer timer;
    timer.start();
    {
        TrafficConfig config = shortTest("stream");
        config.seconds = 60;
        Pair pair;
        pair.prepare(config);
        pair.start();
        QTRY_VERIFY(pair.server.progress().bytes_received > 0);
    }
    QVERIFY(timer.elapsed() < 2000);
    QCOMPARE(Resources(), before);
}

void EngineFaultsTest::peerIsKilled_data() {
    addKinds();
}

void EngineFaultsTest::peerIsKilled() {
    QFETCH(QString, kind);
    QFETCH(QString, role);
    TrafficConfig config = shortTest(kind);
    config.seconds = 30;
    Mixed ends;
    QCOMPARE(ends.prepare(role, config), QString());
    ends.peer.start();
    ends.engine.start();
    QVERIFY(ends.moves());
    ends.peer.signal(SIGKILL);
    const Outcome outcome = finish(ends.engine);
    QCOMPARE(outcome.code, errorcode::kTraffic);
    QVERIFY2(outcome.error.contains("127.0.0.1"), qPrintable(outcome.error));
    QVERIFY2(outcome.seconds < 1, qPrintable(QString::number(outcome.seconds)));
}

void EngineFaultsTest::peerIsStopped() {
    // All at once, since each takes the full time.
    std::vector<std::unique_ptr<Mixed>> tests;
    for (const char* kind : kKinds) {
        for (const char* role : {"server", "client"}) {
            Mixed& ends = *tests.emplace_back(std::make_unique<Mixed>());
            TrafficConfig config = shortTest(kind);
            config.seconds = 1;
            QCOMPARE(ends.prepare(role, config), QString());
            ends.peer.start();
            ends.engine.start();
            QVERIFY2(ends.moves(), kind);
            ends.peer.signal(SIGSTOP);
        }
    }
    for (const auto& ends : tests) {
        const Outcome outcome = finish(ends->engine);
        QCOMPARE(outcome.code, errorcode::kTraffic);
        QVERIFY2(outcome.error.contains("had not ended 5 s after") ||
                     outcome.error.contains("nothing came from 127.0.0.1 for 5 s"),
                 qPrintable(outcome.error));
        QVERIFY2(outcome.seconds < 6.5, qPrintable(QString::number(outcome.seconds)));
    }
}

void EngineFaultsTest::neverStartedPeer() {
    const Resources before;
    {
        Pair pair;
        pair.prepare(shortTest("stream"));
        pair.client.start();
        const Outcome client = finish(pair.client);
        QVERIFY2(client.error.contains("did not start within 5 s"), qPrintable(client.error));
        const Outcome server = finish(pair.server);
        QVERIFY2(server.error.contains("closed its connection"), qPrintable(server.error));
    }
    QCOMPARE(Resources(), before);
}

QTEST_GUILESS_MAIN(EngineFaultsTest)
#include "tst_engine_faults.moc"
