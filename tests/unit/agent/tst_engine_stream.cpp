// SPDX-License-Identifier: GPL-3.0-or-later
#include "enginetest.h"

#include <QTest>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <sched.h>

using namespace enginetest;
using knobscope::Json;

class EngineStreamTest : public QObject {
    Q_OBJECT

private slots:
    void movesTheSameAtBothEnds_data();
    void movesTheSameAtBothEnds();
    void intervalsAddUp();
    void warmupIsLeftOut();
    void receiverStartedLateLosesNothing();
    void senderStartedLateLosesNothing();
    void windowIsSetAndInherited_data();
    void windowIsSetAndInherited();
    void autoWindowIsLeftToTheKernel();
    void fastStreamsAreWokenLessOften_data();
    void fastStreamsAreWokenLessOften();
    void testKnobsAreInForce();
    void pinsToACpu();
    void progressGrows();
    void onlyStreamsPushOthersAside();
    void linkLocalAddress();
};

namespace {

void checkOutcome(const Outcome& outcome) {
    QVERIFY2(outcome.result, qPrintable(outcome.error));
}

std::int64_t sysctl(const char* path) {
    std::ifstream file(path);
    std::int64_t value = 0;
    file >> value;
    return value;
}

/// The first link-local address of the host with its interface; empty: none.
std::string linkLocal() {
    std::ifstream file("/proc/net/if_inet6");
    std::string address, index, length, scope, flags, name;
    while (file >> address >> index >> length >> scope >> flags >> name) {
        if (scope != "20")
            continue;
        std::string text;
        for (std::size_t i = 0; i < address.size(); i += 4)
            text += (i ? ":" : "") + address.substr(i, 4);
        return text + "%" + name;
    }
    return {};
}

/// How many threads of this process have the policy; proc(5): field 41 of stat.
int threadsOf(int policy) {
    int count = 0;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream file(task.path() / "stat");
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
        std::string field;
        for (int number = 3; number <= 41 && fields >> field; ++number) {
        }
        count += field == std::to_string(policy) ? 1 : 0;
    }
    return count;
}

} // namespace

void EngineStreamTest::movesTheSameAtBothEnds_data() {
    QTest::addColumn<QString>("address");
    QTest::addColumn<QString>("direction");
    QTest::addColumn<int>("streams");
    QTest::addColumn<int>("messageSize");
    QTest::newRow("one stream") << "127.0.0.1"
                                << "to_receiver" << 1 << 131072;
    QTest::newRow("maerts") << "127.0.0.1"
                            << "from_receiver" << 1 << 131072;
    QTest::newRow("IPv6") << "::1"
                          << "to_receiver" << 1 << 131072;
    QTest::newRow("IPv6 maerts") << "::1"
                                 << "from_receiver" << 2 << 131072;
    QTest::newRow("1-byte sends") << "127.0.0.1"
                                  << "to_receiver" << 1 << 1;
    QTest::newRow("odd size") << "127.0.0.1"
                              << "from_receiver" << 3 << 4999;
    QTest::newRow("64 streams") << "127.0.0.1"
                                << "to_receiver" << 64 << 16384;
    QTest::newRow("64 streams maerts") << "127.0.0.1"
                                       << "from_receiver" << 64 << 16384;
}

void EngineStreamTest::movesTheSameAtBothEnds() {
    QFETCH(QString, address);
    QFETCH(QString, direction);
    QFETCH(int, streams);
    QFETCH(int, messageSize);
    const Resources before;
    {
        TrafficConfig config;
        config.direction = direction.toStdString();
        config.seconds = 0.4;
        config.streams = streams;
        config.message_size = messageSize;
        Pair pair;
        pair.prepare(config, address.toStdString());
        pair.start();
        const Outcome client = finish(pair.client);
        const Outcome server = finish(pair.server);
        checkOutcome(client);
        checkOutcome(server);
        const bool toReceiver = direction == "to_receiver";
        const TrafficResult& sender = toReceiver ? *client.result : *server.result;
        const TrafficResult& receiver = toReceiver ? *server.result : *client.result;
        QCOMPARE(sender.streams.size(), static_cast<std::size_t>(streams));
        QCOMPARE(receiver.streams.size(), static_cast<std::size_t>(streams));
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < sender.streams.size(); ++i) {
            const auto& out = sender.streams[i];
            const auto& in = receiver.streams[i];
            if (streams < 8) // of many, a busy host may let some starve
                QVERIFY(out.total_bytes_sent > 0);
            total += out.total_bytes_sent;
            QCOMPARE(in.total_bytes_received, out.total_bytes_sent);
            QCOMPARE(in.bytes_received, in.total_bytes_received); // there was no warm-up
            QCOMPARE(out.bytes_sent, out.total_bytes_sent);
            QCOMPARE(out.total_bytes_received, std::uint64_t{0});
            QCOMPARE(in.total_bytes_sent, std::uint64_t{0});
            QVERIFY(out.send_calls >= out.bytes_sent / static_cast<std::uint64_t>(messageSize));
            QVERIFY(in.recv_calls > 0 || in.bytes_received == 0);
            QVERIFY(in.sndbuf_initial && in.rcvbuf_initial && in.sndbuf_final && in.rcvbuf_final);
            QVERIFY(in.mss && in.congestion_control);
            QVERIFY(out.tcp_info.at("bytes_sent") >=
                    static_cast<std::int64_t>(out.total_bytes_sent));
            QVERIFY(out.tcp_info.contains("total_retrans"));
            QVERIFY(out.tcp_info.at("snd_cwnd") > 0);
            QVERIFY(in.tcp_info.at("rcv_space") > 0);
        }
        QVERIFY(total > 0);
        QVERIFY2(lasted(sender.elapsed_s, 0.4), qPrintable(QString::number(sender.elapsed_s)));
        QVERIFY2(lasted(receiver.elapsed_s, 0.4), qPrintable(QString::number(receiver.elapsed_s)));
        QVERIFY(receiver.cpu);
        QVERIFY(receiver.cpu->cpus >= 1);
        QVERIFY(lasted(sender.cpu->elapsed_s, 0.4));
        QCOMPARE(server.result->strangers, 0);
    }
    QCOMPARE(Resources(), before);
}

void EngineStreamTest::intervalsAddUp() {
    TrafficConfig config;
    config.seconds = 0.5;
    config.warmup_seconds = 0.1;
    config.interval_seconds = 0.05;
    config.streams = 3;
    Pair pair;
    pair.prepare(config);
    pair.start();
    const Outcome ends[] = {finish(pair.client), finish(pair.server)};
    for (const Outcome& end : ends) {
        checkOutcome(end);
        const auto& intervals = end.result->intervals;
        QVERIFY2(intervals.size() >= 8 && intervals.size() <= 13,
                 qPrintable(QString::number(intervals.size())));
        std::uint64_t sent = 0;
        std::uint64_t received = 0;
        for (const auto& stream : end.result->streams) {
            sent += stream.total_bytes_sent;
            received += stream.total_bytes_received;
        }
        QCOMPARE(intervals.back().bytes_sent, sent);
        QCOMPARE(intervals.back().bytes_received, received);
        for (std::size_t i = 1; i < intervals.size(); ++i) {
            QVERIFY(intervals[i].time_s > intervals[i - 1].time_s);
            QVERIFY(intervals[i].bytes_sent >= intervals[i - 1].bytes_sent);
            QVERIFY(intervals[i].bytes_received >= intervals[i - 1].bytes_received);
        }
        QVERIFY(lasted(intervals.back().time_s, 0.6));
    }
    const auto last = pair.client.progress();
    QCOMPARE(last.bytes_sent, ends[0].result->intervals.back().bytes_sent);
    QCOMPARE(last.time_s, ends[0].result->intervals.back().time_s);
}

void EngineStreamTest::warmupIsLeftOut() {
    TrafficConfig config;
    config.seconds = 0.3;
    config.warmup_seconds = 0.3;
    Pair pair;
    pair.prepare(config);
    pair.start();
    const Outcome client = finish(pair.client);
    const Outcome server = finish(pair.server);
    checkOutcome(client);
    checkOutcome(server);
    const auto& in = server.result->streams[0];
    QVERIFY(lasted(in.elapsed_s, 0.3));
    QVERIFY(lasted(client.result->elapsed_s, 0.3));
    QCOMPARE(in.total_bytes_received, client.result->streams[0].total_bytes_sent);
    // Half of the time was warm-up; wide bounds, since other programs share the CPUs.
    const double share =
        static_cast<double>(in.bytes_received) / static_cast<double>(in.total_bytes_received);
    QVERIFY2(share > 0.15 && share < 0.85, qPrintable(QString::number(share)));
    QVERIFY(lasted(server.result->cpu->elapsed_s, 0.3));
}

void EngineStreamTest::receiverStartedLateLosesNothing() {
    TrafficConfig config;
    config.seconds = 0.3;
    Pair pair;
    pair.prepare(config);
    pair.client.start();
    pollfd ended{pair.client.finishedFd(), POLLIN, 0};
    QCOMPARE(::poll(&ended, 1, 1000), 0); // waits for the receiver
    QCOMPARE(pair.client.progress().bytes_sent, std::uint64_t{0});
    pair.server.start();
    const Outcome client = finish(pair.client);
    const Outcome server = finish(pair.server);
    checkOutcome(client);
    checkOutcome(server);
    QVERIFY(lasted(server.result->elapsed_s, 0.3));
    QVERIFY(lasted(client.result->elapsed_s, 0.3));
}

void EngineStreamTest::senderStartedLateLosesNothing() {
    TrafficConfig config;
    config.seconds = 0.3;
    Pair pair;
    pair.prepare(config);
    pair.server.start();
    pollfd ended{pair.server.finishedFd(), POLLIN, 0};
    QCOMPARE(::poll(&ended, 1, 1000), 0);
    pair.client.start();
    const Outcome client = finish(pair.client);
    const Outcome server = finish(pair.server);
    checkOutcome(client);
    checkOutcome(server);
    QVERIFY(lasted(server.result->elapsed_s, 0.3));
}

void EngineStreamTest::windowIsSetAndInherited_data() {
    QTest::addColumn<qint64>("window");
    QTest::newRow("64K") << qint64{65536};
    QTest::newRow("more than the host allows") << (qint64{1} << 30);
}

void EngineStreamTest::windowIsSetAndInherited() {
    QFETCH(qint64, window);
    const std::int64_t send =
        2 * std::min<std::int64_t>(window, sysctl("/proc/sys/net/core/wmem_max"));
    const std::int64_t receive =
        2 * std::min<std::int64_t>(window, sysctl("/proc/sys/net/core/rmem_max"));
    TrafficConfig config;
    config.seconds = 0.2;
    config.window = window;
    Pair pair;
    pair.prepare(config);
    pair.start();
    for (Engine* engine : {&pair.client, &pair.server}) {
        const Outcome end = finish(*engine);
        checkOutcome(end);
        const auto& stream = end.result->streams[0];
        QCOMPARE(stream.sndbuf_initial.value(), send);
        QCOMPARE(stream.rcvbuf_initial.value(), receive);
        QCOMPARE(stream.sndbuf_final.value(), send); // a set buffer is not autotuned
        QCOMPARE(stream.rcvbuf_final.value(), receive);
    }
}

void EngineStreamTest::autoWindowIsLeftToTheKernel() {
    TrafficConfig config;
    config.seconds = 0.3;
    Pair pair;
    pair.prepare(config);
    pair.start();
    const Outcome client = finish(pair.client);
    const Outcome server = finish(pair.server);
    checkOutcome(client);
    checkOutcome(server);
    std::ifstream file("/proc/sys/net/ipv4/tcp_rmem");
    std::int64_t min = 0;
    std::int64_t initial = 0;
    file >> min >> initial;
    QCOMPARE(server.result->streams[0].rcvbuf_initial.value(), initial);
    QVERIFY(server.result->streams[0].rcvbuf_final.value() >= initial);
}

/// The receiver chooses its low water mark only where the test leaves it to the engine.
void EngineStreamTest::fastStreamsAreWokenLessOften_data() {
    QTest::addColumn<QString>("patch");
    QTest::addColumn<qint64>("mark");
    QTest::newRow("fast") << "{}" << qint64{131072};
    QTest::newRow("fast, threads shared") << R"({"threads":1})" << qint64{131072};
    QTest::newRow("slow") << R"({"pacing_rate":2000000})" << qint64{1};
    QTest::newRow("own mark") << R"({"rcvlowat":4096})" << qint64{4096};
    QTest::newRow("own mark of one byte") << R"({"rcvlowat":1})" << qint64{1};
    QTest::newRow("own receive size") << R"({"receive_size":65536})" << qint64{1};
    QTest::newRow("own window") << R"({"window":4194304})" << qint64{1};
    QTest::newRow("own receive window") << R"({"receive_window":4194304})" << qint64{1};
    QTest::newRow("own way") << R"({"receive_method":"truncate"})" << qint64{1};
}

void EngineStreamTest::fastStreamsAreWokenLessOften() {
    QFETCH(QString, patch);
    QFETCH(qint64, mark);
    Json json = TrafficConfig{};
    json.merge_patch(Json::parse(patch.toStdString()));
    auto config = json.get<TrafficConfig>();
    config.seconds = 0.5;
    Pair pair;
    pair.prepare(config);
    pair.start();
    const Outcome client = finish(pair.client);
    const Outcome server = finish(pair.server);
    checkOutcome(client);
    checkOutcome(server);
    QCOMPARE(server.result->streams[0].rcvlowat.value(), mark);
    QCOMPARE(client.result->streams[0].rcvlowat.value(), 1);
    QCOMPARE(server.result->streams[0].total_bytes_received,
             client.result->streams[0].total_bytes_sent);
}

void EngineStreamTest::testKnobsAreInForce() {
    TrafficConfig config;
    config.seconds = 0.2;
    config.mss = 1000;
    config.nodelay = true;
    config.congestion_control = "reno";
    Pair pair;
    pair.prepare(config);
    pair.start();
    for (Engine* engine : {&pair.client, &pair.server}) {
        const Outcome end = finish(*engine);
        checkOutcome(end);
        const auto& stream = end.result->streams[0];
        QCOMPARE(QString::fromStdString(stream.congestion_control.value()), QString("reno"));
        QVERIFY2(stream.mss.value() <= 1000 && stream.mss.value() > 900,
                 qPrintable(QString::number(stream.mss.value())));
    }
}

void EngineStreamTest::pinsToACpu() {
    TrafficConfig config;
    config.seconds = 0.2;
    config.cpu = 0;
    config.streams = 2;
    Pair pair;
    pair.prepare(config);
    pair.start();
    checkOutcome(finish(pair.client));
    checkOutcome(finish(pair.server));
}

void EngineStreamTest::progressGrows() {
    TrafficConfig config;
    config.seconds = 0.4;
    config.interval_seconds = 0;
    Pair pair;
    QCOMPARE(pair.server.progress().bytes_received, std::uint64_t{0});
    pair.prepare(config);
    pair.start();
    QTRY_VERIFY(pair.server.progress().bytes_received > 0);
    const auto early = pair.server.progress();
    QTRY_VERIFY(pair.server.progress().bytes_received > early.bytes_received);
    QVERIFY(pair.server.progress().time_s > early.time_s);
    checkOutcome(finish(pair.client));
    const Outcome server = finish(pair.server);
    checkOutcome(server);
    QCOMPARE(server.result->intervals.size(), std::size_t{1}); // none but the total
}

/// The thread that leads an end wakes at each interval; it must not take the CPU from the streams.
void EngineStreamTest::onlyStreamsPushOthersAside() {
    TrafficConfig config;
    config.seconds = 1;
    Pair pair;
    pair.prepare(config, "127.0.0.1");
    pair.start();
    QTRY_COMPARE_WITH_TIMEOUT(threadsOf(SCHED_BATCH), 2, 900);
    QVERIFY(threadsOf(SCHED_OTHER) >= 3); // this one, and those of the streams
    checkOutcome(finish(pair.client));
    checkOutcome(finish(pair.server));
    QCOMPARE(threadsOf(SCHED_BATCH), 0);
}

void EngineStreamTest::linkLocalAddress() {
    const std::string address = linkLocal();
    if (address.empty())
        QSKIP("this host has no link-local address");
    TrafficConfig config;
    config.seconds = 0.1;
    Pair pair;
    pair.prepare(config, address);
    pair.start();
    checkOutcome(finish(pair.client));
    checkOutcome(finish(pair.server));
    Engine unscoped;
    const QString error = errorOf(
        [&] { unscoped.prepare(params("server", config, address.substr(0, address.find('%')))); });
    QVERIFY2(error.contains("needs its interface"), qPrintable(error));
}

QTEST_GUILESS_MAIN(EngineStreamTest)
#include "tst_engine_stream.moc"
