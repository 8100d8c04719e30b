// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/intervals.h"

#include <QTest>

using namespace knobscope;
using protocol::Interval;

/// The intervals of several agents as those of a side.
class TestIntervals : public QObject {
    Q_OBJECT
private slots:
    void seriesAddUp_data();
    void seriesAddUp();
    void liveRatesAreSummed();
    void liveRatesGoOnWithoutOne();
};

void TestIntervals::seriesAddUp_data() {
    QTest::addColumn<QList<QList<double>>>("ends"); // of the intervals, by agent
    QTest::newRow("alike") << QList<QList<double>>{{0.1, 0.2, 0.3}, {0.1, 0.2, 0.3}};
    QTest::newRow("a little apart") << QList<QList<double>>{{0.1, 0.2, 0.3}, {0.11, 0.19, 0.31}};
    QTest::newRow("one ends early") << QList<QList<double>>{{0.1, 0.15}, {0.1, 0.2, 0.3, 0.4}};
    QTest::newRow("more intervals, earlier end")
        << QList<QList<double>>{{0.1, 0.2, 0.29, 0.3}, {0.1, 0.2, 0.32}};
    QTest::newRow("one told nothing") << QList<QList<double>>{{}, {0.1, 0.2}};
    QTest::newRow("three") << QList<QList<double>>{{0.1, 0.5}, {0.1, 0.2, 0.3}, {0.4}};
}

void TestIntervals::seriesAddUp() {
    QFETCH(QList<QList<double>>, ends);
    std::vector<std::vector<Interval>> told;
    std::uint64_t total = 0;
    std::uint64_t transactions = 0;
    for (const QList<double>& agent : ends) {
        std::vector<Interval> intervals;
        for (const double end : agent) {
            Interval interval;
            interval.time_s = end;
            interval.bytes_received = 1'000'000 * (intervals.size() + 1) + intervals.size() * 7;
            interval.transactions = 3 * (intervals.size() + 1);
            interval.retransmits = 2 * static_cast<std::int64_t>(intervals.size());
            interval.snd_cwnd = 10;
            interval.rtt_us = 50;
            intervals.push_back(interval);
        }
        total += intervals.empty() ? 0 : intervals.back().bytes_received;
        transactions += intervals.empty() ? 0 : intervals.back().transactions;
        told.push_back(intervals);
    }
    std::vector<const std::vector<Interval>*> parts;
    for (const auto& intervals : told)
        parts.push_back(&intervals);
    const std::vector<Interval> sums = summedIntervals(parts);
    QCOMPARE(sums.back().bytes_received, total);
    QCOMPARE(sums.back().transactions, transactions);
    double bits = 0;
    double last = 0;
    for (const SeriesPoint& point : seriesOf(sums, true)) {
        QVERIFY(point.endSeconds > last);
        bits += point.mbitPerSecond * 1e6 * (point.endSeconds - last);
        last = point.endSeconds;
    }
    QVERIFY(qAbs(bits - static_cast<double>(total) * 8) < 1);
    if (!ends.first().isEmpty()) {
        QCOMPARE(sums.front().snd_cwnd, 10 * ends.size());
        QCOMPARE(sums.front().rtt_us, 50.0);
    }
}

void TestIntervals::liveRatesAreSummed() {
    LiveSide side(Side::Receiver, 2);
    Interval now;
    now.time_s = 1;
    now.bytes_received = 1'000'000;
    QVERIFY(!side.add(0, now));
    now.time_s = 1.01;
    now.bytes_received = 2'020'000;
    const auto sum = side.add(1, now);
    QVERIFY(sum);
    QCOMPARE(sum->side, Side::Receiver);
    QCOMPARE(sum->seconds, 1.01);
    QCOMPARE(sum->mbitPerSecond, 8.0 + 16.0);
    side.begin();
    now.time_s = 0.5;
    now.bytes_received = 500'000;
    QVERIFY(!side.add(1, now)); // a new sample: the other has not told yet
    QCOMPARE(side.add(0, now)->mbitPerSecond, 16.0);
    LiveSide alone(Side::Sender, 1);
    QCOMPARE(alone.add(0, now)->mbitPerSecond, 8.0);
}

void TestIntervals::liveRatesGoOnWithoutOne() {
    LiveSide side(Side::Sender, 3);
    Interval now;
    for (int i = 1; i <= 3; ++i) {
        now.time_s = i;
        now.bytes_sent = 1'000'000 * static_cast<std::uint64_t>(i);
        const auto first = side.add(0, now);
        QCOMPARE(first.has_value(), i > 1); // tells again: not waited for the third
        if (first)
            QCOMPARE(first->mbitPerSecond, 16.0);
        QVERIFY(!side.add(1, now));
    }
}

QTEST_APPLESS_MAIN(TestIntervals)
#include "tst_intervals.moc"
