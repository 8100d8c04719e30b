// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/protocol/histogram.h"
#include "core/model/knobcatalogue.h"
#include "core/model/metrics.h"
#include "core/run/intervals.h"
#include "core/run/sidemetrics.h"
#include "core/run/trafficsetup.h"
#include "toldsample.h"

#include <QTest>

using namespace knobscope;
using protocol::StreamResult;

/// What the kinds of test and their options become on the way to the agents and back.
class TestRunKinds : public QObject {
    Q_OBJECT
private slots:
    void everyTestKnobReachesTheAgent_data();
    void everyTestKnobReachesTheAgent();
    void bothWaysAreToldApart();
    void datagramsAreTold();
    void unansweredRequestsAreTold();
    void latencyIsTold();
    void fairness_data();
    void fairness();
    void aCpuWithoutTimeIsFlagged_data();
    void aCpuWithoutTimeIsFlagged();
    void receiveSizesAreKept();
    void seriesTellOfTcp();
    void allMetricsAreExplained();
};

namespace {
Experiment experimentOf(const char* kind) {
    Experiment experiment;
    experiment.sender.local = experiment.receiver.local = true;
    experiment.sender.address = experiment.receiver.address = QStringLiteral("127.0.0.1");
    experiment.sender.interface = experiment.receiver.interface = QStringLiteral("lo");
    experiment.test.kind = QString::fromLatin1(kind);
    return experiment;
}

SampleRecord filled(const Experiment& experiment, const SideResult& sender,
                    const SideResult& receiver) {
    SampleRecord sample;
    fillSample(sample, experiment, expandMatrix(experiment).first(), sender, receiver);
    return sample;
}

StreamResult sending(std::uint64_t bytes, double seconds = 1) {
    StreamResult stream;
    stream.sends = true;
    stream.bytes_sent = stream.total_bytes_sent = bytes;
    stream.elapsed_s = seconds;
    return stream;
}

StreamResult receiving(std::uint64_t bytes, double seconds = 1) {
    StreamResult stream;
    stream.bytes_received = stream.total_bytes_received = bytes;
    stream.elapsed_s = seconds;
    return stream;
}

SideResult side(const std::vector<StreamResult>& streams, double seconds = 1) {
    SideResult result;
    result.traffic.streams = streams;
    result.traffic.elapsed_s = seconds;
    return result;
}

/// A value of the knob that is not what the agent does without it.
QString otherValue(const KnobEntry& knob) {
    switch (knob.kind) {
    case ValueKind::Switch:
        return QStringLiteral("on");
    case ValueKind::Word:
        return knob.words.last();
    case ValueKind::Name:
        return QStringLiteral("reno");
    case ValueKind::Ports:
        return QStringLiteral("40000-40100");
    case ValueKind::Text:
        return QStringLiteral("x");
    case ValueKind::Size:
    case ValueKind::Number:
        break;
    }
    return QString::number(std::clamp<qint64>(77, knob.minimum, knob.maximum));
}
} // namespace

void TestRunKinds::everyTestKnobReachesTheAgent_data() {
    QTest::addColumn<QString>("knob");
    for (const KnobEntry& entry : knobCatalogue().knobs) {
        if (entry.info.scope == KnobScope::Test)
            QTest::newRow(qPrintable(entry.info.name)) << entry.info.name;
    }
}

/// A knob that changed nothing would be measured in silence as if it had been set.
void TestRunKinds::everyTestKnobReachesTheAgent() {
    QFETCH(QString, knob);
    const KnobEntry entry = findKnob(knob).value();
    Experiment experiment =
        experimentOf(entry.tests.isEmpty() ? "tcp_stream" : qPrintable(entry.tests.first()));
    const KnobValue value(otherValue(entry));
    QVERIFY2(checkKnobValue(entry.info, value), qPrintable(value.text));
    const auto configOf = [&] {
        return Json(trafficConfig(experiment, expandMatrix(experiment).first(), Side::Sender));
    };
    const Json plain = configOf();
    experiment.axes = {Axis{knob, Side::Both, {value}}};
    QVERIFY2(configOf() != plain, qPrintable(value.text));
    for (const QString& word : entry.words) {
        if (entry.kind == ValueKind::Word)
            continue;
        experiment.axes = {Axis{knob, Side::Both, {KnobValue(word)}}}; // "auto", "none"...
        QVERIFY2(configOf() == plain, qPrintable(word));
    }
}

void TestRunKinds::bothWaysAreToldApart() {
    Experiment experiment = experimentOf("tcp_stream");
    experiment.test.options.insert(QStringLiteral("direction"), KnobValue(QStringLiteral("both")));
    // 1000 Mbit/s to the receiver, 500 from it over 2 s.
    const SampleRecord sample =
        filled(experiment, side({sending(125'000'000), receiving(125'000'000, 2)}, 2),
               side({receiving(125'000'000), sending(125'000'000, 2)}, 1));
    QCOMPARE(sample.metric(QStringLiteral("throughput_to_receiver_mbit_s")), 1000.0);
    QCOMPARE(sample.metric(QStringLiteral("throughput_from_receiver_mbit_s")), 500.0);
    QCOMPARE(sample.metric(QStringLiteral("throughput_mbit_s")), 1500.0);
    QCOMPARE(sample.metric(QStringLiteral("sent_mbit_s"), Side::Sender), 1000.0);
    QCOMPARE(sample.metric(QStringLiteral("sent_mbit_s"), Side::Receiver), 500.0);
    QCOMPARE(sample.flags, QStringList());
    const SampleRecord lost =
        filled(experiment, side({sending(1000), receiving(0)}), side({receiving(999), sending(1)}));
    QCOMPARE(lost.flags.size(), 2);
    QVERIFY(lost.flags.contains(QStringLiteral("sender: nothing arrived in the measured time")));
    QVERIFY(lost.flags.last().contains(QStringLiteral("disagree")));
}

void TestRunKinds::datagramsAreTold() {
    const Experiment experiment = experimentOf("udp_stream");
    StreamResult out = sending(100'000);
    out.datagrams = protocol::Datagrams{100, 90, 10, 0, 0, std::nullopt};
    StreamResult in = receiving(90'000);
    in.datagrams = protocol::Datagrams{100, 90, 10, 3, 2, 12.5};
    const SampleRecord sample = filled(experiment, side({out, out}), side({in, in}));
    QCOMPARE(sample.metric(QStringLiteral("throughput_mbit_s")), 2 * 0.72);
    QCOMPARE(sample.metric(QStringLiteral("sent_mbit_s"), Side::Sender), 2 * 0.8);
    QCOMPARE(sample.metric(QStringLiteral("datagrams_sent")), 200.0);
    QCOMPARE(sample.metric(QStringLiteral("datagrams_received")), 180.0);
    QCOMPARE(sample.metric(QStringLiteral("datagrams_lost")), 20.0);
    QCOMPARE(sample.metric(QStringLiteral("loss_percent")), 10.0);
    QCOMPARE(sample.metric(QStringLiteral("datagrams_reordered")), 6.0);
    QCOMPARE(sample.metric(QStringLiteral("datagrams_duplicate")), 4.0);
    QCOMPARE(sample.metric(QStringLiteral("jitter_us")), 12.5);
    QVERIFY(!sample.metric(QStringLiteral("retransmits"))); // UDP has none: not 0
    QCOMPARE(sample.flags, QStringList());                  // what got lost is no disagreement
}

void TestRunKinds::unansweredRequestsAreTold() {
    StreamResult client = sending(30);
    client.transactions = 30;
    client.datagrams = protocol::Datagrams{40, 30, 10, 0, 0, std::nullopt};
    const SampleRecord sample =
        filled(experimentOf("udp_rr"), side({client}, 2), side({receiving(30)}));
    QCOMPARE(sample.metric(QStringLiteral("transactions_s")), 15.0);
    QCOMPARE(sample.metric(QStringLiteral("loss_percent")), 25.0);
    QVERIFY(!sample.metric(QStringLiteral("jitter_us")));
    QVERIFY(!sample.metric(QStringLiteral("throughput_mbit_s")));
}

void TestRunKinds::latencyIsTold() {
    protocol::Histogram histogram;
    for (std::uint64_t us = 1; us <= 1000; ++us)
        histogram.record(us * 1000);
    SideResult client = side({sending(1000)});
    client.traffic.streams[0].transactions = 1000;
    client.traffic.latency = histogram.toLatency();
    const SampleRecord sample = filled(experimentOf("tcp_rr"), client, side({receiving(1000)}));
    const auto close = [&](const char* name, double exact) {
        const double value = sample.metric(QString::fromLatin1(name)).value_or(-1);
        return qAbs(value - exact) <= exact / 1000;
    };
    QCOMPARE(sample.metric(QStringLiteral("latency_min_us")), 1.0);
    QCOMPARE(sample.metric(QStringLiteral("latency_max_us")), 1000.0);
    QVERIFY(close("latency_mean_us", 500.5));
    QVERIFY(close("latency_p50_us", 500));
    QVERIFY(close("latency_p90_us", 900));
    QVERIFY(close("latency_p99_us", 990));
    QVERIFY(close("latency_p999_us", 999));
    QCOMPARE(sample.distributions.size(), 1);
    QCOMPARE(sample.distributions.first().name, QStringLiteral("latency_ns"));
    QCOMPARE(sample.distributions.first().buckets.size(), qsizetype(1000));
}

void TestRunKinds::fairness_data() {
    QTest::addColumn<QList<double>>("amounts");
    QTest::addColumn<double>("index"); // -1: none
    QTest::newRow("none") << QList<double>{} << -1.0;
    QTest::newRow("one") << QList<double>{5} << -1.0;
    QTest::newRow("nothing moved") << QList<double>{0, 0} << -1.0;
    QTest::newRow("equal") << QList<double>{3, 3, 3} << 1.0;
    QTest::newRow("one has all") << QList<double>{4, 0, 0, 0} << 0.25;
    QTest::newRow("1 2 3 4") << QList<double>{1, 2, 3, 4} << 5.0 / 6;
}

void TestRunKinds::fairness() {
    QFETCH(QList<double>, amounts);
    QTEST(knobscope::fairness(amounts).value_or(-1), "index");
    if (amounts.size() == 4 && amounts[1] == 2) {
        std::vector<StreamResult> in;
        for (const double amount : amounts)
            in.push_back(receiving(static_cast<std::uint64_t>(amount * 1000)));
        const SampleRecord sample =
            filled(experimentOf("tcp_stream"), side({sending(10000)}), side(in));
        QVERIFY(qAbs(sample.metric(QStringLiteral("fairness")).value_or(0) - 5.0 / 6) < 1e-9);
    }
}

void TestRunKinds::aCpuWithoutTimeIsFlagged_data() {
    QTest::addColumn<QList<double>>("busy");
    QTest::addColumn<double>("seconds");
    QTest::addColumn<QString>("flag");
    QTest::newRow("idle") << QList<double>{3, 4} << 1.0 << "";
    QTest::newRow("busy") << QList<double>{97, 90} << 1.0 << "";
    QTest::newRow("one of many") << QList<double>{1, 2, -1, 99.5} << 1.0
                                 << "receiver: CPU 3 had no time left; it may be the limit";
    QTest::newRow("two") << QList<double>{100, 100} << 1.0
                         << "receiver: CPU 0, 1 had no time left; it may be the limit";
    QTest::newRow("too short to tell") << QList<double>{100} << 0.1 << "";
}

void TestRunKinds::aCpuWithoutTimeIsFlagged() {
    QFETCH(QList<double>, busy);
    QFETCH(double, seconds);
    QFETCH(QString, flag);
    SideResult receiver = side({receiving(1000)});
    receiver.traffic.cpu.emplace();
    receiver.traffic.cpu->elapsed_s = seconds;
    receiver.traffic.cpu->busy_percent = {busy.begin(), busy.end()};
    const SampleRecord sample = filled(experimentOf("tcp_stream"), side({sending(1000)}), receiver);
    QCOMPARE(sample.flags, flag.isEmpty() ? QStringList() : QStringList{flag});
}

void TestRunKinds::receiveSizesAreKept() {
    SideResult receiver = side({receiving(3000)});
    receiver.traffic.streams[0].recv_calls = 3;
    receiver.traffic.receive_sizes = {0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2};
    const SampleRecord sample = filled(experimentOf("tcp_stream"), side({sending(3000)}), receiver);
    const Distribution expected{Side::Receiver,   QStringLiteral("receive_bytes"), 4, 2047, 1000,
                                {{2, 1}, {10, 2}}};
    QCOMPARE(sample.distributions.size(), 1);
    QVERIFY(sample.distributions.first() == expected);
}

void TestRunKinds::seriesTellOfTcp() {
    const auto series = seriesOf({{0.1, 0, 1, 0, 10, 55.5, 2}, {0.2, 0, 2, 0, 12, 60.5, 7}}, true);
    QCOMPARE(series.size(), 2);
    QCOMPARE(series[1].congestionWindow, 12.0);
    QCOMPARE(series[1].roundTripUs, 60.5);
    QCOMPARE(series[0].retransmits, 2.0);
    QCOMPARE(series[1].retransmits, 5.0);
    const auto udp = seriesOf({{0.1, 0, 1, 0, {}, {}, {}}}, true);
    QVERIFY(!udp[0].congestionWindow && !udp[0].roundTripUs && !udp[0].retransmits);
}

void TestRunKinds::allMetricsAreExplained() {
    QSet<QString> names;
    for (const MetricInfo& metric : knownMetrics()) {
        QVERIFY2(!names.contains(metric.name), qPrintable(metric.name));
        names.insert(metric.name);
        QVERIFY(!metric.title.isEmpty() && metric.help.endsWith(u'.'));
    }
}

QTEST_APPLESS_MAIN(TestRunKinds)
#include "tst_runkinds.moc"
