// SPDX-License-Identifier: GPL-3.0-or-later
#include "enginetest.h"

#include "agents/agent/engine/fd.h"

#include <QTest>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <thread>
#include <vector>

using namespace enginetest;
using knobscope::Json;
using knobscope::agent::Fd;
namespace errorcode = knobscope::protocol::errorcode;

/// Who may connect, and what is said when it does not work.
class EngineConnectTest : public QObject {
    Q_OBJECT

private slots:
    void refusesBadParameters_data();
    void refusesBadParameters();
    void refusedPort();
    void silentServer();
    void wrongTokenIsDroppedAndCounted();
    void strangersDoNotDelayTheTest();
    void strangerFromAnotherAddress();
    void tokenWorksOnce();
    void cancelWhileConnecting();
    void clientThatNeverComes();
};

namespace {

TrafficConfig twoStreams() {
    TrafficConfig config;
    config.seconds = 0.3;
    config.streams = 2;
    return config;
}

/// A plain connection to a port of this host, from the address given.
Fd stranger(int port, const char* from = "127.0.0.1") {
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    ::inet_pton(AF_INET, from, &address.sin_addr);
    ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
        return {};
    return socket;
}

/// Waits until the other end has closed; false when it does not within 2 s.
bool isDropped(const Fd& socket) {
    pollfd ended{socket.get(), POLLIN, 0};
    char byte = 0;
    return ::poll(&ended, 1, 2000) == 1 && ::recv(socket.get(), &byte, 1, 0) <= 0;
}

/// A listening socket that nobody serves: the kernel completes the handshake, and that is all.
struct SilentServer {
    Fd socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    int port = 0;
    SilentServer() {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t length = sizeof address;
        auto* generic = reinterpret_cast<sockaddr*>(&address);
        if (::bind(socket.get(), generic, length) == 0 && ::listen(socket.get(), 16) == 0 &&
            ::getsockname(socket.get(), generic, &length) == 0)
            port = ntohs(address.sin_port);
    }
};

} // namespace

void EngineConnectTest::refusesBadParameters_data() {
    QTest::addColumn<QString>("patch"); // merged into the JSON of good parameters
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const char* patch, const char* says) {
        QTest::newRow(name) << patch << says;
    };
    row("role", R"({"role":"boss"})", "boss");
    row("kind", R"({"config":{"kind":"udp_magic"}})", "udp_magic");
    row("direction", R"({"config":{"direction":"sideways"}})", "sideways");
    row("no time", R"({"config":{"seconds":0}})", "seconds");
    row("negative warm-up", R"({"config":{"warmup_seconds":-1}})", "warmup_seconds");
    row("tiny interval", R"({"config":{"interval_seconds":1e-9}})", "interval_seconds");
    row("too many intervals", R"({"config":{"interval_seconds":0.001,"seconds":600000}})",
        "interval_seconds");
    row("no streams", R"({"config":{"streams":0}})", "streams 0");
    row("too many streams", R"({"config":{"streams":100000}})", "streams 100000");
    row("negative message", R"({"config":{"message_size":-5}})", "message_size -5");
    row("huge response", R"({"config":{"response_size":99999999999}})", "response_size");
    row("too much memory", R"({"config":{"message_size":67108864,"streams":1000}})", "1 GiB");
    row("burst", R"({"config":{"burst":0}})", "burst 0");
    row("window", R"({"config":{"window":-1}})", "window -1");
    row("huge window", R"({"config":{"window":99999999999}})", "window 99999999999");
    row("mss", R"({"config":{"mss":3}})", "mss 3 was refused");
    row("congestion control", R"({"config":{"congestion_control":"warp"}})", "\"warp\"");
    row("long congestion control",
        R"({"config":{"congestion_control":"a-name-that-is-longer-than-any-of-them"}})",
        "longer-than-any");
    row("no such CPU", R"({"config":{"cpu":4000}})", "CPU 4000");
    row("negative CPU", R"({"config":{"cpu":-1}})", "CPU -1");
    row("CPU beyond all", R"({"config":{"cpu":2000000000}})", "CPU 2000000000");
    row("send method", R"({"config":{"send_method":"mail"}})", "\"mail\" is none of");
    row("receive method", R"({"config":{"receive_method":"mail"}})", "\"mail\" is none of");
    row("who closes", R"({"config":{"close":"nobody"}})", "\"nobody\" is none of");
    row("tiny datagram", R"({"config":{"kind":"udp_stream","message_size":15}})", "16 to 65507");
    row("huge datagram", R"({"config":{"kind":"udp_stream","message_size":65508}})", "16 to 65507");
    row("huge request", R"({"config":{"kind":"udp_rr","request_size":65508}})", "65507");
    row("mss of UDP", R"({"config":{"kind":"udp_rr","mss":1000}})",
        "mss means nothing to a udp_rr");
    row("GSO of TCP", R"({"config":{"udp_gso":true}})", "udp_gso means nothing");
    row("rate of TCP", R"({"config":{"rate":1000}})", "rate means nothing");
    row("negative rate", R"({"config":{"kind":"udp_stream","message_size":64,"rate":-1}})", "rate");
    row("pace of a stream", R"({"config":{"pace":5}})", "pace means nothing");
    row("threads of UDP", R"({"config":{"kind":"udp_rr","threads":2}})", "threads means nothing");
    row("burst of connections", R"({"config":{"kind":"tcp_crr","burst":2}})",
        "burst means nothing");
    row("both ways of rr", R"({"config":{"kind":"tcp_rr","direction":"both"}})", "direction means");
    row("spin", R"({"config":{"spin":-1}})", "spin");
    row("limit", R"({"config":{"limit_bytes":-1}})", "limit_bytes");
    row("timeout", R"({"config":{"kind":"udp_rr","timeout_seconds":0}})", "timeout_seconds");
    row("ports", R"({"config":{"local_ports":"9-3"}})", "\"9-3\" is no range");
    row("port 0", R"({"config":{"local_ports":"0-3"}})", "\"0-3\" is no range");
    row("interface", R"({"config":{"bind_interface":"nosuchif0"}})", "nosuchif0");
    row("tos", R"({"config":{"tos":300}})", "tos 300");
    row("ttl", R"({"config":{"ttl":1000}})", "ttl 1000 was refused");
    row("node", R"({"config":{"numa_node":4000}})", "NUMA node 4000");
    row("real-time", R"({"config":{"realtime":1000}})", "real-time priority 1000");
    row("short token", R"({"token":"00ff"})", "token");
    row("empty token", R"({"token":""})", "token");
    row("token not hex", R"({"token":"0011223344556677zz99aabbccddeeff"})", "token");
    row("signed token", R"({"token":"+0112233445566778899aabbccddeef-"})", "token");
    row("not an address", R"({"address":"localhost"})", "\"localhost\"");
    row("empty address", R"({"address":""})", "\"\"");
    row("address of another host", R"({"address":"192.0.2.77"})", "192.0.2.77");
    row("two families", R"({"peer_address":"::1"})", "one family");
    row("no such interface", R"({"address":"fe80::1%nosuchif0"})", "nosuchif0");
    row("link-local without interface", R"({"peer_address":"fe80::1"})", "fe80::1%");
}

void EngineConnectTest::refusesBadParameters() {
    QFETCH(QString, patch);
    QFETCH(QString, says);
    const Resources before;
    for (const char* role : {"server", "client"}) {
        Json json = params(role, {}, "127.0.0.1", 1);
        json.merge_patch(Json::parse(patch.toStdString()));
        Engine engine;
        const QString error = errorOf([&] { engine.prepare(json.get<PrepareParams>()); });
        QVERIFY2(error.contains(says), qPrintable(error));
        QVERIFY2(!errorOf([&] { engine.start(); }).isEmpty(), "a test that was refused started");
    }
    QCOMPARE(Resources(), before);
}

void EngineConnectTest::refusedPort() {
    const Resources before;
    {
        int port = 0;
        {
            SilentServer closed;
            port = closed.port;
        }
        Engine engine;
        const QString error =
            errorOf([&] { engine.prepare(params("client", {}, "127.0.0.1", port)); });
        QVERIFY2(error.contains("127.0.0.1 port " + QString::number(port)), qPrintable(error));
        QVERIFY2(error.contains("refused"), qPrintable(error));
    }
    QCOMPARE(Resources(), before);
}

void EngineConnectTest::silentServer() {
    const Resources before;
    {
        SilentServer server;
        Engine engine;
        QElapsedTimer timer;
        timer.start();
        const QString error =
            errorOf([&] { engine.prepare(params("client", {}, "127.0.0.1", server.port)); });
        QVERIFY2(error.contains("no answer from 127.0.0.1"), qPrintable(error));
        QVERIFY(timer.elapsed() < 6000);
    }
    QCOMPARE(Resources(), before);
}

void EngineConnectTest::wrongTokenIsDroppedAndCounted() {
    const Resources before;
    {
        const TrafficConfig config = twoStreams();
        Pair pair;
        pair.port = pair.server.prepare(params("server", config)).port;
        Engine impostor;
        PrepareParams wrong = params("client", config, "127.0.0.1", pair.port);
        wrong.token = kOtherToken;
        const QString error = errorOf([&] { impostor.prepare(wrong); });
        QVERIFY2(error.contains("dropped the connection"), qPrintable(error));
        pair.client.prepare(params("client", config, "127.0.0.1", pair.port));
        pair.start();
        const Outcome client = finish(pair.client);
        const Outcome server = finish(pair.server);
        QVERIFY2(client.result, qPrintable(client.error));
        QVERIFY2(server.result, qPrintable(server.error));
        QCOMPARE(server.result->strangers, 3); // two streams and the control connection
    }
    QCOMPARE(Resources(), before);
}

void EngineConnectTest::strangersDoNotDelayTheTest() {
    const Resources before;
    {
        const TrafficConfig config = twoStreams();
        Pair pair;
        pair.port = pair.server.prepare(params("server", config)).port;
        std::vector<Fd> silent;
        for (int i = 0; i < 40; ++i)
            silent.push_back(stranger(pair.port));
        Fd half = stranger(pair.port);
        QCOMPARE(::send(half.get(), "\x00\x11\x22", 3, 0), 3);
        Fd loud = stranger(pair.port);
        const std::string noise(100000, 'x');
        ::send(loud.get(), noise.data(), noise.size(), MSG_NOSIGNAL);
        QElapsedTimer timer;
        timer.start();
        pair.client.prepare(params("client", config, "127.0.0.1", pair.port));
        QVERIFY2(timer.elapsed() < 1000, qPrintable(QString::number(timer.elapsed())));
        // Nobody listens now, and the silent ones are gone.
        QVERIFY(!stranger(pair.port));
        QVERIFY(isDropped(silent[0]));
        QVERIFY(isDropped(half));
        pair.start();
        const Outcome client = finish(pair.client);
        const Outcome server = finish(pair.server);
        QVERIFY2(client.result, qPrintable(client.error));
        QVERIFY2(server.result, qPrintable(server.error));
        QCOMPARE(server.result->strangers, 42);
    }
    QCOMPARE(Resources(), before);
}

void EngineConnectTest::strangerFromAnotherAddress() {
    const TrafficConfig config = twoStreams();
    Pair pair;
    pair.port = pair.server.prepare(params("server", config)).port;
    const Fd other = stranger(pair.port, "127.0.0.2");
    QVERIFY(isDropped(other));
    // Even with the right token.
    PrepareParams elsewhere = params("client", config, "127.0.0.3", pair.port);
    elsewhere.peer_address = "127.0.0.1";
    Engine thief;
    const QString error = errorOf([&] { thief.prepare(elsewhere); });
    QVERIFY2(error.contains("127.0.0.1 port"), qPrintable(error));
    pair.client.prepare(params("client", config, "127.0.0.1", pair.port));
    pair.start();
    QVERIFY(finish(pair.client).result);
    const Outcome server = finish(pair.server);
    QVERIFY2(server.result, qPrintable(server.error));
    QVERIFY(server.result->strangers >= 2);
}

void EngineConnectTest::tokenWorksOnce() {
    const TrafficConfig config = twoStreams();
    Pair pair;
    pair.prepare(config);
    Engine second;
    const QString error =
        errorOf([&] { second.prepare(params("client", config, "127.0.0.1", pair.port)); });
    QVERIFY2(error.contains("refused"), qPrintable(error));
    pair.start();
    QVERIFY(finish(pair.client).result);
    QVERIFY(finish(pair.server).result);
}

void EngineConnectTest::cancelWhileConnecting() {
    SilentServer server;
    Engine engine;
    std::optional<int> code;
    std::thread connecting([&] {
        try {
            engine.prepare(params("client", {}, "127.0.0.1", server.port));
        } catch (const AgentError& error) {
            code = error.code();
        }
    });
    // The connection has reached the server: the client waits for its answer.
    pollfd ready{server.socket.get(), POLLIN, 0};
    QCOMPARE(::poll(&ready, 1, 2000), 1);
    QElapsedTimer timer;
    timer.start();
    engine.cancel();
    connecting.join();
    QCOMPARE(code, std::optional<int>(errorcode::kCancelled));
    QVERIFY(timer.elapsed() < 1000);
}

void EngineConnectTest::clientThatNeverComes() {
    const Resources before;
    {
        Engine engine;
        engine.prepare(params("server", {}));
        engine.start();
        const Outcome outcome = finish(engine);
        QVERIFY2(outcome.error.contains("did not connect"), qPrintable(outcome.error));
        QVERIFY(outcome.seconds < 6);
    }
    QCOMPARE(Resources(), before);
}

QTEST_GUILESS_MAIN(EngineConnectTest)
#include "tst_engine_connect.moc"
