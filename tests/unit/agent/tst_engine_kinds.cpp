// SPDX-License-Identifier: GPL-3.0-or-later
#include "enginetest.h"

#include "agents/agent/engine/address.h"
#include "agents/agent/engine/fd.h"
#include "agents/protocol/histogram.h"

#include <QTest>

#include <cmath>

using namespace enginetest;
using knobscope::protocol::Datagrams;
using knobscope::protocol::Histogram;
using knobscope::protocol::StreamResult;

/// Each kind of test with its options: what the ends count, and that it comes to its end.
class EngineKindsTest : public QObject {
    Q_OBJECT

private slots:
    void countsAgree_data();
    void countsAgree();
    void limitsEndTheTest_data();
    void limitsEndTheTest();
    void bothWaysHaveTheirOwnStreams();
    void receiveMethodsTakeAllBytes_data();
    void receiveMethodsTakeAllBytes();
    void receiveSizesAreCounted();
    void latencyIsThatOfEachTransaction_data();
    void latencyIsThatOfEachTransaction();
    void paceIsKept();
    void datagramsAddUp_data();
    void datagramsAddUp();
    void rateIsKept();
    void unansweredRequestsAreLost();
    void optionsAreInForce();
    void portsAreOfTheRange();
    void strangersDoNotHoldUpConnections_data();
    void strangersDoNotHoldUpConnections();
    void intervalsTellOfTcp();
    void cpuIsToldByCpu();
};

namespace {

struct Run {
    Resources before;
    TrafficResult client;
    TrafficResult server;
    QString error;

    explicit Run(const TrafficConfig& config, const std::string& address = "127.0.0.1",
                 const std::function<void(Pair&)>& prepared = {}) {
        Pair pair;
        error = errorOf([&] { pair.prepare(config, address); });
        if (!error.isEmpty())
            return;
        if (prepared)
            prepared(pair);
        pair.start();
        const Outcome atClient = finish(pair.client);
        const Outcome atServer = finish(pair.server);
        error = atClient.error + atServer.error;
        if (!error.isEmpty())
            return;
        client = *atClient.result;
        server = *atServer.result;
    }
};

std::uint64_t sum(const TrafficResult& result, std::uint64_t StreamResult::*field) {
    std::uint64_t total = 0;
    for (const StreamResult& stream : result.streams)
        total += stream.*field;
    return total;
}

TrafficConfig configOf(const char* kind, double seconds = 0.3) {
    TrafficConfig config;
    config.kind = kind;
    config.seconds = seconds;
    if (config.kind == "udp_stream")
        config.message_size = 1000;
    return config;
}

} // namespace

void EngineKindsTest::countsAgree_data() {
    QTest::addColumn<QString>("address");
    QTest::addColumn<QString>("patch"); // merged into the JSON of the configuration
    const auto row = [](const char* name, const char* patch) {
        QTest::newRow(name) << "127.0.0.1" << patch;
        QTest::newRow((std::string(name) + ", IPv6").c_str()) << "::1" << patch;
    };
    row("crr", R"({"kind":"tcp_crr"})");
    row("crr, client closes", R"({"kind":"tcp_crr","close":"client","limit_transactions":500})");
    row("crr, reset", R"({"kind":"tcp_crr","close":"reset","streams":3})");
    row("crr, large", R"({"kind":"tcp_crr","request_size":100000,"response_size":300000})");
    row("rr, shared threads", R"({"kind":"tcp_rr","burst":8,"streams":6,"threads":2})");
    row("rr, shared thread, large",
        R"({"kind":"tcp_rr","burst":4,"streams":3,"threads":1,"request_size":200000,
            "response_size":300000})");
    row("rr, spinning", R"({"kind":"tcp_rr","spin":20,"burst":2})");
    row("rr, quick acknowledgements", R"({"kind":"tcp_rr","quickack":true})");
    row("stream, shared threads", R"({"streams":5,"threads":2})");
    row("stream, one thread, maerts",
        R"({"streams":5,"threads":1,"direction":"from_receiver","warmup_seconds":0.1})");
    row("stream, cork", R"({"cork":true,"message_size":999})");
    row("stream, large receives", R"({"receive_size":1048576,"rcvlowat":65536})");
    row("stream, zero copy", R"({"send_method":"zerocopy","streams":2})");
    row("stream, sendfile", R"({"send_method":"sendfile","streams":2})");
    row("stream, splice", R"({"send_method":"splice","streams":2})");
    row("udp rr", R"({"kind":"udp_rr","streams":2})");
    row("udp rr, burst", R"({"kind":"udp_rr","burst":32,"request_size":30,"response_size":500})");
}

void EngineKindsTest::countsAgree() {
    QFETCH(QString, address);
    QFETCH(QString, patch);
    const Resources before;
    {
        knobscope::Json json = configOf("tcp_stream");
        json.merge_patch(knobscope::Json::parse(patch.toStdString()));
        const auto config = json.get<TrafficConfig>();
        const Run run(config, address.toStdString());
        QVERIFY2(run.error.isEmpty(), qPrintable(run.error));
        std::uint64_t moved = 0;
        for (std::size_t i = 0; i < run.client.streams.size(); ++i) {
            const StreamResult& client = run.client.streams[i];
            const StreamResult& server = run.server.streams[i];
            // A lost datagram is told as such and not answered.
            const std::uint64_t lost = client.datagrams ? client.datagrams->lost : 0;
            QVERIFY(client.total_bytes_sent >= server.total_bytes_received);
            if (lost == 0 && config.kind != "udp_rr")
                QCOMPARE(client.total_bytes_sent, server.total_bytes_received);
            QVERIFY(server.total_bytes_sent >= client.total_bytes_received);
            if (config.kind == "tcp_rr" || config.kind == "tcp_crr") {
                QCOMPARE(client.transactions, server.transactions);
                QCOMPARE(client.bytes_sent,
                         client.transactions * static_cast<std::uint64_t>(config.request_size));
                QCOMPARE(client.bytes_received,
                         client.transactions * static_cast<std::uint64_t>(config.response_size));
            }
            QVERIFY(client.sends != server.sends);
            moved += client.total_bytes_sent + client.total_bytes_received;
        }
        QVERIFY(moved > 0);
        QCOMPARE(run.server.strangers, 0);
    }
    QCOMPARE(Resources(), before);
}

void EngineKindsTest::limitsEndTheTest_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<int>("streams");
    QTest::addColumn<int>("threads");
    QTest::newRow("stream") << "tcp_stream" << 1 << 0;
    QTest::newRow("three streams") << "tcp_stream" << 3 << 0;
    QTest::newRow("three in one thread") << "tcp_stream" << 3 << 1;
    QTest::newRow("rr") << "tcp_rr" << 3 << 0;
    QTest::newRow("rr in one thread") << "tcp_rr" << 3 << 1;
    QTest::newRow("crr") << "tcp_crr" << 3 << 0;
    QTest::newRow("udp") << "udp_stream" << 3 << 0;
    QTest::newRow("udp rr") << "udp_rr" << 3 << 0;
}

void EngineKindsTest::limitsEndTheTest() {
    QFETCH(QString, kind);
    QFETCH(int, streams);
    QFETCH(int, threads);
    TrafficConfig config = configOf(kind.toUtf8().constData(), 30);
    config.streams = streams;
    config.threads = threads;
    const bool bytes = kind.endsWith("stream");
    if (bytes)
        config.limit_bytes = 1'000'000;
    else
        config.limit_transactions = 100;
    QElapsedTimer timer;
    timer.start();
    const Run run(config);
    QVERIFY2(run.error.isEmpty(), qPrintable(run.error));
    QVERIFY(timer.elapsed() < 10000);
    if (kind == "udp_stream") { // whole datagrams
        const auto sent = sum(run.client, &StreamResult::bytes_sent);
        QVERIFY(sent >= 1'000'000 && sent < 1'000'000 + 3000);
    } else if (bytes) {
        QCOMPARE(sum(run.client, &StreamResult::bytes_sent), std::uint64_t{1'000'000});
        QCOMPARE(sum(run.server, &StreamResult::bytes_received), std::uint64_t{1'000'000});
    } else {
        std::uint64_t done = sum(run.client, &StreamResult::transactions);
        for (const StreamResult& stream : run.client.streams)
            done += stream.datagrams ? stream.datagrams->lost : 0;
        QCOMPARE(done, std::uint64_t{100});
    }
}

void EngineKindsTest::bothWaysHaveTheirOwnStreams() {
    TrafficConfig config = configOf("tcp_stream");
    config.direction = "both";
    config.streams = 2;
    config.warmup_seconds = 0.1;
    const Run run(config);
    QVERIFY2(run.error.isEmpty(), qPrintable(run.error));
    QCOMPARE(run.client.streams.size(), std::size_t{4});
    for (std::size_t i = 0; i < 4; ++i) {
        const StreamResult& client = run.client.streams[i];
        const StreamResult& server = run.server.streams[i];
        QCOMPARE(client.sends, i < 2);
        QCOMPARE(server.sends, i >= 2);
        QCOMPARE(client.total_bytes_sent, server.total_bytes_received);
        QCOMPARE(server.total_bytes_sent, client.total_bytes_received);
        QVERIFY(client.total_bytes_sent + client.total_bytes_received > 0);
    }
    QVERIFY(lasted(run.client.elapsed_s, 0.3));
    QVERIFY(lasted(run.server.elapsed_s, 0.3));
}

void EngineKindsTest::receiveMethodsTakeAllBytes_data() {
    QTest::addColumn<QString>("method");
    for (const char* method : {"recv", "truncate", "splice"})
        QTest::newRow(method) << method;
}

void EngineKindsTest::receiveMethodsTakeAllBytes() {
    QFETCH(QString, method);
    TrafficConfig config = configOf("tcp_stream");
    config.receive_method = method.toStdString();
    config.limit_bytes = 50'000'001;
    const Run run(config);
    QVERIFY2(run.error.isEmpty(), qPrintable(run.error));
    QCOMPARE(sum(run.server, &StreamResult::bytes_received), std::uint64_t{50'000'001});
}

void EngineKindsTest::receiveSizesAreCounted() {
    TrafficConfig config = configOf("tcp_rr");
    config.request_size = 100;
    config.response_size = 5;
    const Run run(config);
    QVERIFY2(run.error.isEmpty(), qPrintable(run.error));
    const auto calls = [](const TrafficResult& result) {
        std::uint64_t total = 0;
        for (const std::uint64_t count : result.receive_sizes)
            total += count;
        return total;
    };
    QCOMPARE(calls(run.client), sum(run.client, &StreamResult::recv_calls));
    QCOMPARE(run.client.receive_sizes.size(), std::size_t{3}); // 4 to 7 bytes
    QCOMPARE(run.server.receive_sizes.size(), std::size_t{7}); // 64 to 127 bytes
}

void EngineKindsTest::latencyIsThatOfEachTransaction_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<int>("burst");
    QTest::newRow("rr") << "tcp_rr" << 1;
    QTest::newRow("rr, burst") << "tcp_rr" << 16;
    QTest::newRow("crr") << "tcp_crr" << 1;
    QTest::newRow("udp rr") << "udp_rr" << 1;
    QTest::newRow("udp rr, burst") << "udp_rr" << 16;
}

void EngineKindsTest::latencyIsThatOfEachTransaction() {
    QFETCH(QString, kind);
    QFETCH(int, burst);
    TrafficConfig config = configOf(kind.toUtf8().constData());
    config.burst = burst;
    config.streams = 2;
    config.warmup_seconds = 0.1;
    const Run run(config);
    QVERIFY2(run.error.isEmpty(), qPrintable(run.error));
    QVERIFY(run.client.latency);
    QVERIFY(!run.server.latency);
    const Histogram latency(*run.client.latency);
    QCOMPARE(latency.count(), sum(run.client, &StreamResult::transactions));
    QVERIFY(latency.min() > 500); // ns; less than any round trip
    QVERIFY(latency.min() <= latency.percentile(0.5));
    QVERIFY(latency.percentile(0.5) <= latency.percentile(0.99));
    QVERIFY(latency.percentile(0.99) <= latency.max());
    // Little's law: what is in flight on a stream is its rate times the time it takes.
    const double rate = static_cast<double>(latency.count()) / run.client.elapsed_s / 2;
    const double inFlight = rate * latency.mean() / 1e9;
    QVERIFY2(inFlight < burst * 1.1 + 0.1, qPrintable(QString::number(inFlight)));
    QVERIFY2(inFlight > burst * 0.5, qPrintable(QString::number(inFlight)));
}

void EngineKindsTest::paceIsKept() {
    for (const char* kind : {"tcp_rr", "tcp_crr", "udp_rr"}) {
        TrafficConfig config = configOf(kind, 0.5);
        config.pace = 200;
        const Run run(config);
        QVERIFY2(run.error.isEmpty(), qPrintable(run.error));
        const double rate = static_cast<double>(sum(run.client, &StreamResult::transactions)) /
                            run.client.elapsed_s;
        QVERIFY2(rate > 180 && rate < 210, qPrintable(QString::number(rate)));
    }
}

void EngineKindsTest::datagramsAddUp_data() {
    QTest::addColumn<QString>("patch");
    QTest::newRow("plain") << "{}";
    QTest::newRow("warm-up") << R"({"warmup_seconds":0.1})";
    QTest::newRow("two streams maerts") << R"({"streams":2,"direction":"from_receiver"})";
    QTest::newRow("both ways") << R"({"streams":2,"direction":"both","rate":2e7})";
    QTest::newRow("smallest") << R"({"message_size":16})";
    QTest::newRow("largest") << R"({"message_size":65507})";
    QTest::newRow("as long as a token") << R"({"message_size":20,"rate":1e6})";
    QTest::newRow("GSO") << R"({"udp_gso":true})";
    QTest::newRow("GRO") << R"({"udp_gso":true,"udp_gro":true})";
    QTest::newRow("small receive buffer") << R"({"receive_window":4096})";
}

void EngineKindsTest::datagramsAddUp() {
    QFETCH(QString, patch);
    knobscope::Json json = configOf("udp_stream");
    json.merge_patch(knobscope::Json::parse(patch.toStdString()));
    const auto config = json.get<TrafficConfig>();
    const Run run(config);
    QVERIFY2(run.error.isEmpty(), qPrintable(run.error));
    for (std::size_t i = 0; i < run.client.streams.size(); ++i) {
        const StreamResult& client = run.client.streams[i];
        const StreamResult& out = client.sends ? client : run.server.streams[i];
        const StreamResult& in = client.sends ? run.server.streams[i] : client;
        QVERIFY(out.datagrams && in.datagrams);
        const Datagrams& got = *in.datagrams;
        QVERIFY(got.received > 0);
        QCOMPARE(got.sent, out.datagrams->sent);
        QCOMPARE(got.sent, got.received + got.lost);
        QCOMPARE(out.datagrams->lost, got.lost);
        QCOMPARE(got.duplicates, std::uint64_t{0});
        QCOMPARE(got.reordered, std::uint64_t{0});
        QVERIFY(got.jitter_us);
        QCOMPARE(out.bytes_sent, got.sent * static_cast<std::uint64_t>(config.message_size));
        if (config.warmup_seconds == 0)
            QCOMPARE(in.bytes_received,
                     got.received * static_cast<std::uint64_t>(config.message_size));
    }
}

void EngineKindsTest::rateIsKept() {
    TrafficConfig config = configOf("udp_stream", 0.5);
    config.rate = 8e6; // a thousand datagrams a second
    config.streams = 2;
    const Run run(config);
    QVERIFY2(run.error.isEmpty(), qPrintable(run.error));
    for (const StreamResult& stream : run.client.streams) {
        const double rate = static_cast<double>(stream.datagrams->sent) / stream.elapsed_s;
        QVERIFY2(rate > 900 && rate < 1050, qPrintable(QString::number(rate)));
    }
}

/// A server that never answers: the client gives up on each request, and says so.
void EngineKindsTest::unansweredRequestsAreLost() {
    TrafficConfig config = configOf("udp_rr", 0.5);
    config.timeout_seconds = 0.02;
    TrafficConfig other = config;
    other.request_size = 2; // so the server drops what the client sends
    Engine server;
    Engine client;
    const int port = server.prepare(params("server", other)).port;
    client.prepare(params("client", config, "127.0.0.1", port));
    server.start();
    client.start();
    const Outcome end = finish(client);
    QVERIFY2(end.result, qPrintable(end.error));
    QCOMPARE(end.result->streams[0].transactions, std::uint64_t{0});
    const Datagrams& datagrams = end.result->streams[0].datagrams.value();
    QVERIFY2(datagrams.lost >= 10 && datagrams.lost <= 26,
             qPrintable(QString::number(datagrams.lost)));
    QCOMPARE(datagrams.received, std::uint64_t{0});
    // The server has nothing to tell.
    QVERIFY(finish(server).error.contains("nothing was moved"));
}

void EngineKindsTest::optionsAreInForce() {
    TrafficConfig config = configOf("tcp_stream");
    config.send_window = 50000;
    config.receive_window = 30000;
    config.tos = 184;
    config.ttl = 5;
    config.priority = 3;
    config.pacing_rate = 12'500'000; // bytes a second: 100 Mbit/s
    config.notsent_lowat = 16384;
    config.busy_poll = 0;
    config.bind_interface = "lo";
    config.cpu = 0;
    const Run run(config);
    QVERIFY2(run.error.isEmpty(), qPrintable(run.error));
    const StreamResult& sender = run.client.streams[0];
    QCOMPARE(sender.sndbuf_initial.value(), std::int64_t{100000});
    QCOMPARE(sender.rcvbuf_initial.value(), std::int64_t{60000});
    QCOMPARE(sender.tcp_info.at("max_pacing_rate"), std::int64_t{12'500'000});
    const double mbit = static_cast<double>(sum(run.server, &StreamResult::bytes_received)) * 8 /
                        run.server.elapsed_s / 1e6;
    QVERIFY2(mbit < 130, qPrintable(QString::number(mbit)));
}

void EngineKindsTest::portsAreOfTheRange() {
    for (const char* kind : {"tcp_stream", "tcp_crr", "udp_stream"}) {
        TrafficConfig config = configOf(kind, 0.1);
        config.local_ports = "47100-47160";
        const Run run(config);
        QVERIFY2(run.error.isEmpty(), qPrintable(run.error));
        for (const TrafficResult* result : {&run.client, &run.server}) {
            const int port = result->streams[0].local_port;
            QVERIFY2((port >= 47100 && port <= 47160) || port == 0,
                     qPrintable(QString::number(port)));
        }
    }
    TrafficConfig narrow = configOf("udp_stream", 0.1);
    narrow.streams = 3;
    narrow.local_ports = "47200-47201";
    const Run refused(narrow);
    QVERIFY2(refused.error.contains("47200-47201 are in use"), qPrintable(refused.error));
}

void EngineKindsTest::strangersDoNotHoldUpConnections_data() {
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("nothing") << QByteArray();
    QTest::newRow("a part of a token") << QByteArray("abc");
    QTest::newRow("a wrong token") << QByteArray(40, 'x');
}

/// A port of tcp_crr is open as long as the test: anybody may connect to it.
void EngineKindsTest::strangersDoNotHoldUpConnections() {
    QFETCH(QByteArray, says);
    TrafficConfig config = configOf("tcp_crr", 1.5);
    TrafficConfig atServer = config;
    atServer.local_ports = "47300-47301"; // the control connection, then the stream
    Engine server;
    Engine client;
    const int port = server.prepare(params("server", atServer)).port;
    client.prepare(params("client", config, "127.0.0.1", port));
    const knobscope::agent::Fd stranger(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto door = knobscope::agent::Address::parse("127.0.0.1", 47301);
    QCOMPARE(::connect(stranger.get(), door.data(), door.length()), 0);
    if (!says.isEmpty())
        QCOMPARE(::send(stranger.get(), says.constData(), static_cast<std::size_t>(says.size()), 0),
                 static_cast<ssize_t>(says.size()));
    server.start();
    client.start();
    const Outcome atClient = finish(client);
    const Outcome end = finish(server);
    QVERIFY2(atClient.result, qPrintable(atClient.error));
    QVERIFY2(end.result, qPrintable(end.error));
    QCOMPARE(end.result->strangers, 1);
    QVERIFY(sum(*atClient.result, &StreamResult::transactions) > 50);
}

void EngineKindsTest::intervalsTellOfTcp() {
    TrafficConfig config = configOf("tcp_stream");
    config.interval_seconds = 0.05;
    config.streams = 2;
    const Run run(config);
    QVERIFY2(run.error.isEmpty(), qPrintable(run.error));
    QVERIFY(run.client.intervals.size() > 2);
    for (const auto& interval : run.client.intervals) {
        QVERIFY(interval.snd_cwnd.value() >= 2);
        QVERIFY(interval.rtt_us.value() > 0);
        QVERIFY(interval.retransmits.value() >= 0);
    }
    const Run datagrams(configOf("udp_stream"));
    QVERIFY2(datagrams.error.isEmpty(), qPrintable(datagrams.error));
    QVERIFY(!datagrams.client.intervals.back().rtt_us);
}

void EngineKindsTest::cpuIsToldByCpu() {
    const Run run(configOf("tcp_stream"));
    QVERIFY2(run.error.isEmpty(), qPrintable(run.error));
    const auto& cpu = run.client.cpu.value();
    double busiest = 0;
    int online = 0;
    for (const double busy : cpu.busy_percent) {
        QVERIFY(busy >= -1 && busy <= 100);
        online += busy >= 0 ? 1 : 0;
        busiest = std::max(busiest, busy);
    }
    QCOMPARE(online, cpu.cpus);
    QCOMPARE(busiest, cpu.busiest_cpu_percent);
    QVERIFY(cpu.context_switches > 0);
    QVERIFY(cpu.agent_voluntary_switches + cpu.agent_involuntary_switches > 0);
}

QTEST_GUILESS_MAIN(EngineKindsTest)
#include "tst_engine_kinds.moc"
