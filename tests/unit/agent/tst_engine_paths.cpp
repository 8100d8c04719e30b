// SPDX-License-Identifier: GPL-3.0-or-later
#include "peerprocess.h"
#include "tests/unit/agent/kernelnamespace.h"

#include <sys/wait.h>

#include <cstdio>
#include <cstring>

using namespace enginetest;
using knobscope::Json;
using knobscope::protocol::StreamResult;
using knobscope::test::enterOwnNetwork;
using knobscope::test::witness;

/// The engine between two hosts (network namespaces joined by a cable): MTUs, address families,
/// many streams, and paths on which nothing arrives.
class EnginePathsTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void cleanupTestCase();
    void everyMtu_data();
    void everyMtu();
    void manyStreams_data();
    void manyStreams();
    void deadPaths_data();
    void deadPaths();
    void addressesThatCannotBeUsed();

private:
    [[nodiscard]] QStringList there(const QStringList& command = {}) const {
        return QStringList{QStringLiteral("nsenter"), QStringLiteral("-t"),
                           QString::number(m_holder.processId()), QStringLiteral("-n")} +
               command;
    }
    void ip(const QString& arguments, bool other = false) const {
        const QStringList command = (other ? there() : QStringList()) +
                                    QStringList{QStringLiteral("ip")} + arguments.split(u' ');
        (void)witness(command.front(), command.mid(1)); // says itself what failed
    }
    void setUp(int mtu) const;

    QProcess m_holder; ///< keeps the other host's namespace alive
};

namespace {

PrepareParams paramsOf(const char* role, const TrafficConfig& config, const QString& own,
                       const QString& peer, int port = 0) {
    PrepareParams result = params(role, config, own.toStdString(), port);
    result.peer_address = peer.toStdString();
    return result;
}

std::uint64_t sum(const TrafficResult& result, std::uint64_t StreamResult::*field) {
    std::uint64_t total = 0;
    for (const StreamResult& stream : result.streams)
        total += stream.*field;
    return total;
}

/// The client here, the server on the other host.
struct Ends {
    PeerProcess peer;
    Engine engine;
    QString error;

    Ends(const QStringList& host, const TrafficConfig& config, const QString& own,
         const QString& other)
        : peer(host) {
        const Json answer = peer.prepare(paramsOf("server", config, other, own));
        if (answer.contains("error")) {
            error = QString::fromStdString(answer["error"].get<std::string>());
            return;
        }
        error = errorOf([&] {
            engine.prepare(paramsOf("client", config, own, other, answer["port"].get<int>()));
        });
    }
    /// Of the client; `server` is filled.
    Outcome run(TrafficResult& server) {
        peer.start();
        engine.start();
        Outcome outcome = finish(engine);
        const Json answer = peer.read();
        if (answer.contains("error"))
            outcome.error += " / " + QString::fromStdString(answer["error"].get<std::string>());
        else
            server = answer.get<TrafficResult>();
        return outcome;
    }
};

} // namespace

void EnginePathsTest::initTestCase() {
    m_holder.start(QStringLiteral("unshare"),
                   {QStringLiteral("--net"), QStringLiteral("sleep"), QStringLiteral("600")});
    QVERIFY(m_holder.waitForStarted());
    // Until unshare has become sleep, its namespace is still this one.
    QTRY_VERIFY(witness(QStringLiteral("readlink"),
                        {QStringLiteral("/proc/%1/ns/net").arg(m_holder.processId())}) !=
                witness(QStringLiteral("readlink"), {QStringLiteral("/proc/self/ns/net")}));
    ip(QStringLiteral("link set lo up"));
    ip(QStringLiteral("link set lo up"), true);
    ip(QStringLiteral("link add knob0 type veth peer name knob0 netns %1")
           .arg(m_holder.processId()));
}

void EnginePathsTest::cleanupTestCase() {
    m_holder.kill();
    m_holder.waitForFinished();
}

/// A link too small for IPv6 loses its addresses of that family, so they are set anew.
void EnginePathsTest::setUp(int mtu) const {
    for (const bool other : {false, true}) {
        const int end = other ? 2 : 1;
        ip(QStringLiteral("link set knob0 down"), other);
        ip(QStringLiteral("addr flush dev knob0"), other);
        ip(QStringLiteral("link set knob0 mtu %1 up").arg(mtu), other);
        ip(QStringLiteral("addr add 10.78.9.%1/24 dev knob0").arg(end), other);
        if (mtu < 1280)
            continue;
        ip(QStringLiteral("addr add fd00:78::%1/64 dev knob0 nodad").arg(end), other);
        ip(QStringLiteral("addr add fe80::78:%1/64 dev knob0 scope link nodad").arg(end), other);
    }
}

void EnginePathsTest::everyMtu_data() {
    QTest::addColumn<int>("mtu");
    QTest::addColumn<QString>("net"); // without the last digit
    QTest::addColumn<QString>("scope");
    for (const int mtu : {576, 1280, 1500, 9000, 65535}) {
        QTest::addRow("IPv4, MTU %d", mtu) << mtu << "10.78.9." << QString();
        if (mtu < 1280)
            continue;
        QTest::addRow("IPv6, MTU %d", mtu) << mtu << "fd00:78::" << QString();
        QTest::addRow("IPv6 link-local, MTU %d", mtu) << mtu << "fe80::78:"
                                                      << "%knob0";
    }
}

void EnginePathsTest::everyMtu() {
    QFETCH(int, mtu);
    QFETCH(QString, net);
    QFETCH(QString, scope);
    setUp(mtu);
    for (const char* kind : {"tcp_stream", "tcp_rr", "tcp_crr", "udp_stream", "udp_rr"}) {
        TrafficConfig config;
        config.kind = kind;
        config.seconds = 0.1;
        if (config.kind == "udp_stream") {
            config.message_size = 30000; // in fragments, but for the largest MTU
            config.rate = 1e8;
        }
        config.request_size = 3000;
        config.response_size = 5000;
        Ends ends(there(), config, net + "1" + scope, net + "2" + scope);
        QVERIFY2(ends.error.isEmpty(), qPrintable(kind + (": " + ends.error)));
        TrafficResult server;
        const Outcome client = ends.run(server);
        QVERIFY2(client.result.has_value(), qPrintable(kind + (": " + client.error)));
        QVERIFY2(client.error.isEmpty(), qPrintable(client.error));
        QVERIFY(sum(server, &StreamResult::bytes_received) > 0);
        if (config.kind == "tcp_stream" || config.kind == "tcp_rr") {
            QCOMPARE(sum(server, &StreamResult::total_bytes_received),
                     sum(*client.result, &StreamResult::total_bytes_sent));
            // The MSS that is read back is the MTU without the headers and TCP's options.
            const auto mss = client.result->streams[0].mss.value_or(0);
            const int headers = net.contains(u':') ? 60 : 40;
            QVERIFY2(mss <= mtu - headers && mss >= mtu - headers - 40,
                     qPrintable(QString::number(mss)));
        }
        if (config.kind == "tcp_rr" || config.kind == "udp_rr")
            QVERIFY(sum(*client.result, &StreamResult::transactions) > 0);
    }
}

void EnginePathsTest::manyStreams_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<int>("threads");
    QTest::newRow("stream, a thread each") << "tcp_stream" << 0;
    QTest::newRow("stream, 4 threads") << "tcp_stream" << 4;
    QTest::newRow("round trips, a thread each") << "tcp_rr" << 0;
    QTest::newRow("connections, a thread each") << "tcp_crr" << 0;
    QTest::newRow("datagrams, a thread each") << "udp_stream" << 0;
}

void EnginePathsTest::manyStreams() {
    QFETCH(QString, kind);
    QFETCH(int, threads);
    setUp(1500);
    TrafficConfig config;
    config.kind = kind.toStdString();
#ifdef __SANITIZE_THREAD__
    constexpr int kStreams = 64; // more threads do not start in 5 s under it
#else
    constexpr int kStreams = 512;
#endif
    config.streams = kStreams;
    config.threads = threads;
    config.seconds = 1;
    if (kind == "udp_stream") {
        config.message_size = 500;
        config.rate = 1e5;
    }
    Ends ends(there(), config, QStringLiteral("10.78.9.1"), QStringLiteral("10.78.9.2"));
    QVERIFY2(ends.error.isEmpty(), qPrintable(ends.error));
    TrafficResult server;
    const Outcome client = ends.run(server);
    QVERIFY2(client.result.has_value() && client.error.isEmpty(), qPrintable(client.error));
    QCOMPARE(server.streams.size(), std::size_t{kStreams});
    QCOMPARE(client.result->streams.size(), std::size_t{kStreams});
    if (kind == "tcp_stream") {
        for (std::size_t i = 0; i < server.streams.size(); ++i)
            QCOMPARE(server.streams[i].total_bytes_received,
                     client.result->streams[i].total_bytes_sent);
        QCOMPARE(server.intervals.back().bytes_received,
                 sum(server, &StreamResult::total_bytes_received));
    } else {
        QVERIFY(sum(*client.result, &StreamResult::transactions) > kStreams);
    }
}

void EnginePathsTest::deadPaths_data() {
    QTest::addColumn<QString>("peer");
    QTest::addColumn<QString>("here"); // what ip does on this host before
    QTest::addColumn<QString>("over"); // and on the other
    QTest::addColumn<QString>("says");
    QTest::newRow("no route") << "203.0.113.7"
                              << ""
                              << ""
                              << "etwork is unreachable";
    QTest::newRow("nobody has the address") << "10.78.9.77"
                                            << ""
                                            << ""
                                            << "o route to host";
    QTest::newRow("forbidden here") << "198.51.100.7"
                                    << "route add prohibit 198.51.100.0/24"
                                    << ""
                                    << "forbids it";
    QTest::newRow("unreachable beyond") << "192.0.2.7"
                                        << "route add unreachable 192.0.2.0/24"
                                        << ""
                                        << "o route to host";
    QTest::newRow("dropped in silence") << "10.78.9.2"
                                        << ""
                                        << "route add blackhole 10.78.9.1/32"
                                        << "no answer";
    QTest::newRow("the cable is pulled") << "10.78.9.2"
                                         << ""
                                         << "link set knob0 down"
                                         << "";
    QTest::newRow("nothing listens") << "10.78.9.2"
                                     << ""
                                     << ""
                                     << "refused";
}

void EnginePathsTest::deadPaths() {
    QFETCH(QString, peer);
    QFETCH(QString, here);
    QFETCH(QString, says);
    QFETCH(QString, over);
    setUp(1500);
    if (!here.isEmpty())
        ip(here);
    if (!over.isEmpty())
        ip(over, true);
    // All kinds make a TCP connection first.
    const Resources before;
    QElapsedTimer timer;
    timer.start();
    QString error;
    {
        Engine engine;
        error = errorOf([&] {
            engine.prepare(paramsOf("client", {}, QStringLiteral("10.78.9.1"), peer, 45001));
        });
    }
    QVERIFY2(error.contains(says) && error.contains(peer), qPrintable(error));
    QVERIFY2(timer.elapsed() < 5500, qPrintable(QString::number(timer.elapsed())));
    QCOMPARE(Resources(), before);
    if (over.startsWith(QLatin1String("route add")))
        ip(QString(over).replace(QLatin1String("route add"), QLatin1String("route del")), true);
}

void EnginePathsTest::addressesThatCannotBeUsed() {
    setUp(1500);
    TrafficConfig config;
    Engine elsewhere;
    QVERIFY(errorOf([&] {
                elsewhere.prepare(paramsOf("server", config, QStringLiteral("10.78.9.99"),
                                           QStringLiteral("10.78.9.2")));
            }).contains("no interface of this host has it"));
    config.local_ports = "45101-45101";
    Engine first;
    first.prepare(
        paramsOf("server", config, QStringLiteral("10.78.9.1"), QStringLiteral("10.78.9.2")));
    Engine second;
    const QString taken = errorOf([&] {
        second.prepare(
            paramsOf("server", config, QStringLiteral("10.78.9.1"), QStringLiteral("10.78.9.2")));
    });
    QVERIFY2(taken.contains("45101-45101 are in use"), qPrintable(taken));
    // Of a link-local address the interface must be told.
    Engine unscoped;
    const QString error = errorOf([&] {
        unscoped.prepare(
            paramsOf("server", {}, QStringLiteral("fe80::78:1"), QStringLiteral("fe80::78:2")));
    });
    QVERIFY2(error.contains("fe80::78:1"), qPrintable(error));
}

int main(int argc, char** argv) {
    if (!enterOwnNetwork()) {
        std::fprintf(stderr, "no network namespace for the test: %s\n", std::strerror(errno));
        return 1;
    }
    QCoreApplication application(argc, argv);
    EnginePathsTest tests;
    return QTest::qExec(&tests, argc, argv);
}
#include "tst_engine_paths.moc"
