// SPDX-License-Identifier: GPL-3.0-or-later
#include "enginetest.h"

#include <QTest>

#include <atomic>
#include <cstdlib>
#include <new>

using namespace enginetest;

namespace {
std::atomic<std::uint64_t> allocations{0};
}

// Every allocation of this program, by whichever thread.
void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size))
        return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

/// The loops that move the bytes allocate nothing: a test that lasts longer needs no more memory.
class EngineAllocationsTest : public QObject {
    Q_OBJECT

private slots:
    void longTestsAllocateNoMore_data();
    void longTestsAllocateNoMore();
};

void EngineAllocationsTest::longTestsAllocateNoMore_data() {
    QTest::addColumn<QString>("config");
    QTest::newRow("stream") << R"({})";
    QTest::newRow("both ways") << R"({"direction":"both"})";
    QTest::newRow("streams that share threads") << R"({"streams":4,"threads":2})";
    QTest::newRow("rr") << R"({"kind":"tcp_rr"})";
    QTest::newRow("rr, burst") << R"({"kind":"tcp_rr","burst":16,"nodelay":true})";
    QTest::newRow("rr, shared thread") << R"({"kind":"tcp_rr","burst":4,"streams":4,"threads":1})";
    QTest::newRow("crr") << R"({"kind":"tcp_crr"})";
    QTest::newRow("udp stream") << R"({"kind":"udp_stream","message_size":1472})";
    QTest::newRow("udp stream at a rate")
        << R"({"kind":"udp_stream","message_size":1472,"rate":1e8})";
    QTest::newRow("udp rr") << R"({"kind":"udp_rr","burst":4})";
}

void EngineAllocationsTest::longTestsAllocateNoMore() {
    QFETCH(QString, config);
    const auto need = [&](double seconds) {
        knobscope::Json json = TrafficConfig{};
        json.merge_patch(knobscope::Json::parse(config.toStdString()));
        auto parsed = json.get<TrafficConfig>();
        parsed.seconds = seconds;
        parsed.interval_seconds = 0;
        Pair pair;
        pair.prepare(parsed);
        const std::uint64_t before = allocations.load();
        pair.start();
        const Outcome client = finish(pair.client);
        const Outcome server = finish(pair.server);
        if (!client.result || !server.result)
            qFatal("%s", qPrintable(client.error + server.error));
        return static_cast<std::int64_t>(allocations.load() - before);
    };
    (void)need(0.1); // what is made once in a process
    const std::int64_t brief = need(0.1);
    const std::int64_t lasting = need(0.5);
    // Tens of thousands of calls lie between the two.
    QVERIFY2(lasting - brief < 200,
             qPrintable(QStringLiteral("%1, then %2").arg(brief).arg(lasting)));
}

QTEST_GUILESS_MAIN(EngineAllocationsTest)
#include "tst_engine_allocations.moc"
