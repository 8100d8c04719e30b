// SPDX-License-Identifier: GPL-3.0-or-later
#include "enginetest.h"

#include <QTest>

using namespace enginetest;

class EngineRrTest : public QObject {
    Q_OBJECT

private slots:
    void countsTheSameAtBothEnds_data();
    void countsTheSameAtBothEnds();
    void warmupIsLeftOut();
    void largeMessagesInABurstDoNotDeadlock();
};

void EngineRrTest::countsTheSameAtBothEnds_data() {
    QTest::addColumn<int>("request");
    QTest::addColumn<int>("response");
    QTest::addColumn<int>("burst");
    QTest::addColumn<int>("streams");
    QTest::newRow("1/1") << 1 << 1 << 1 << 1;
    QTest::newRow("burst 16") << 1 << 1 << 16 << 1;
    QTest::newRow("burst 64") << 1 << 1 << 64 << 1;
    QTest::newRow("large response") << 64 << 100000 << 1 << 1;
    QTest::newRow("large request") << 3000000 << 1 << 1 << 1;
    QTest::newRow("8 streams") << 128 << 512 << 4 << 8;
}

void EngineRrTest::countsTheSameAtBothEnds() {
    QFETCH(int, request);
    QFETCH(int, response);
    QFETCH(int, burst);
    QFETCH(int, streams);
    const Resources before;
    {
        TrafficConfig config;
        config.kind = "tcp_rr";
        config.seconds = 0.4;
        config.request_size = request;
        config.response_size = response;
        config.burst = burst;
        config.streams = streams;
        config.nodelay = true;
        Pair pair;
        pair.prepare(config);
        pair.start();
        const Outcome client = finish(pair.client);
        const Outcome server = finish(pair.server);
        QVERIFY2(client.result, qPrintable(client.error));
        QVERIFY2(server.result, qPrintable(server.error));
        std::uint64_t transactions = 0;
        for (std::size_t i = 0; i < client.result->streams.size(); ++i) {
            const auto& asked = client.result->streams[i];
            const auto& answered = server.result->streams[i];
            QVERIFY(asked.transactions > 0);
            QCOMPARE(answered.transactions, asked.transactions); // no warm-up, all were answered
            QCOMPARE(asked.total_bytes_sent,
                     asked.transactions * static_cast<std::uint64_t>(request));
            QCOMPARE(asked.total_bytes_received,
                     asked.transactions * static_cast<std::uint64_t>(response));
            QCOMPARE(answered.total_bytes_received, asked.total_bytes_sent);
            QCOMPARE(answered.total_bytes_sent, asked.total_bytes_received);
            if (request == 1) // one call a request: nothing is coalesced
                QCOMPARE(asked.send_calls, asked.transactions);
            transactions += asked.transactions;
        }
        QCOMPARE(client.result->intervals.back().transactions, transactions);
        QCOMPARE(server.result->intervals.back().transactions, transactions);
        QVERIFY(lasted(client.result->elapsed_s, 0.4));
        QVERIFY(lasted(server.result->elapsed_s, 0.4));
    }
    QCOMPARE(Resources(), before);
}

void EngineRrTest::warmupIsLeftOut() {
    TrafficConfig config;
    config.kind = "tcp_rr";
    config.seconds = 0.3;
    config.warmup_seconds = 0.2;
    config.burst = 4;
    config.nodelay = true;
    Pair pair;
    pair.prepare(config);
    pair.start();
    for (Engine* engine : {&pair.client, &pair.server}) {
        const Outcome end = finish(*engine);
        QVERIFY2(end.result, qPrintable(end.error));
        QVERIFY(lasted(end.result->elapsed_s, 0.3));
        const auto& stream = end.result->streams[0];
        QVERIFY(stream.transactions > 0);
        QVERIFY(stream.transactions < end.result->intervals.back().transactions);
    }
}

void EngineRrTest::largeMessagesInABurstDoNotDeadlock() {
    // Far more in flight than the buffers of both ends hold.
    TrafficConfig config;
    config.kind = "tcp_rr";
    config.seconds = 0.4;
    config.request_size = 300000;
    config.response_size = 300000;
    config.burst = 64;
    config.window = 16384;
    Pair pair;
    pair.prepare(config);
    pair.start();
    const Outcome client = finish(pair.client);
    const Outcome server = finish(pair.server);
    QVERIFY2(client.result, qPrintable(client.error));
    QVERIFY2(server.result, qPrintable(server.error));
    QCOMPARE(client.result->streams[0].transactions, server.result->streams[0].transactions);
    QVERIFY(client.result->streams[0].transactions > 0);
}

QTEST_GUILESS_MAIN(EngineRrTest)
#include "tst_engine_rr.moc"
