// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/counterdeltas.h"
#include "core/run/intervals.h"
#include "core/run/trafficsetup.h"
#include "toldsample.h"

#include <QTest>

using namespace knobscope;
using protocol::Interval;
using protocol::Snapshot;
using protocol::StreamResult;

namespace {
Experiment streamExperiment() {
    Experiment experiment;
    experiment.sender.local = experiment.receiver.local = true;
    experiment.sender.address = experiment.receiver.address = QStringLiteral("127.0.0.1");
    experiment.sender.interface = experiment.receiver.interface = QStringLiteral("lo");
    experiment.test.seconds = 2;
    return experiment;
}

SideResult sideResult(std::uint64_t sent, std::uint64_t received, double elapsed) {
    StreamResult stream;
    stream.bytes_sent = stream.total_bytes_sent = sent;
    stream.bytes_received = stream.total_bytes_received = received;
    stream.send_calls = sent == 0 ? 0 : 100;
    stream.recv_calls = received == 0 ? 0 : 400;
    stream.tcp_info = {{"total_retrans", 3}, {"rtt", 120}};
    stream.sends = sent > 0;
    stream.elapsed_s = elapsed;
    SideResult side;
    side.traffic.elapsed_s = elapsed;
    side.traffic.streams = {stream, stream};
    protocol::CpuUse cpu;
    cpu.user_s = 0.25;
    cpu.system_s = 0.75;
    cpu.idle_s = 3;
    cpu.elapsed_s = 2;
    cpu.cpus = 2;
    cpu.agent_user_s = 0.1;
    cpu.agent_system_s = 0.4;
    side.traffic.cpu = cpu;
    return side;
}
} // namespace

class TestRunResult : public QObject {
    Q_OBJECT
private slots:
    void deltas_data();
    void deltas();
    void absentIsNotZero();
    void streamMetrics();
    void maertsCountsAtTheSenderHost();
    void transactionMetrics();
    void nothingMeasuredIsAbsent();
    void clampedWindowIsFlagged_data();
    void clampedWindowIsFlagged();
    void segmentSizeAllowsOptions_data();
    void segmentSizeAllowsOptions();
    void bytesThatDisagreeAreFlagged();
    void nothingThatArrivesIsFlagged();
    void pathMtusThatDifferAreFlagged_data();
    void pathMtusThatDifferAreFlagged();
    void seriesAddUp();
    void liveRatesStartAnew_data();
    void liveRatesStartAnew();
    void tokensAreFreshAndHex();
};

void TestRunResult::deltas_data() {
    QTest::addColumn<quint64>("before");
    QTest::addColumn<quint64>("after");
    QTest::addColumn<qint64>("delta");
    const quint64 wrap = quint64{1} << 32;
    QTest::newRow("rise") << quint64{10} << quint64{25} << qint64{15};
    QTest::newRow("64 bit") << (wrap << 8) << (wrap << 8) + 7 << qint64{7};
    QTest::newRow("32-bit wrap") << wrap - 100 << quint64{50} << qint64{150};
    QTest::newRow("gauge falls") << quint64{12} << quint64{9} << qint64{-3};
    QTest::newRow("64 bit falls, no wrap")
        << (wrap << 4) << quint64{5} << -static_cast<qint64>((wrap << 4) - 5);
}

void TestRunResult::deltas() {
    QFETCH(quint64, before);
    QFETCH(quint64, after);
    QFETCH(qint64, delta);
    Snapshot first;
    Snapshot second;
    first.counters["snmp"]["Counter"] = before;
    second.counters["snmp"]["Counter"] = after;
    SampleRecord sample;
    addDeltas(sample, Side::Receiver, first, second);
    QCOMPARE(sample.deltas.size(), 1);
    QCOMPARE(sample.deltas.first(), (CounterDelta{Side::Receiver, QStringLiteral("snmp"),
                                                  QStringLiteral("Counter"), delta}));
}

void TestRunResult::absentIsNotZero() {
    Snapshot first;
    Snapshot second;
    first.counters["snmp"] = {{"Steady", 5}, {"Gone", 1}};
    second.counters["snmp"] = {{"Steady", 5}, {"New", 2}};
    second.counters["ethtool"] = {{"rx", 1}};
    SampleRecord sample;
    addDeltas(sample, Side::Sender, first, second);
    QVERIFY(sample.deltas.isEmpty());
    const auto present = sample.presentCounters.value(Side::Sender);
    QCOMPARE(present.value(QStringLiteral("snmp")), QStringList{QStringLiteral("Steady")});
    QVERIFY(!present.contains(QStringLiteral("ethtool")));
}

void TestRunResult::streamMetrics() {
    const Experiment experiment = streamExperiment();
    const Cell cell = expandMatrix(experiment).first();
    SampleRecord sample;
    // Two streams of 125,000,000 bytes each way counted over 2 s: 1000 Mbit/s.
    fillSample(sample, experiment, cell, sideResult(125'000'000, 0, 2.0),
               sideResult(0, 125'000'000, 2.0));
    QCOMPARE(sample.metric(QStringLiteral("throughput_mbit_s")), 1000.0);
    QCOMPARE(sample.metric(QStringLiteral("elapsed_s")), 2.0);
    QCOMPARE(sample.metric(QStringLiteral("cpu_percent"), Side::Sender), 25.0);
    QCOMPARE(sample.metric(QStringLiteral("agent_cpu_percent"), Side::Sender), 25.0);
    // 1 CPU second over 250,000,000 bytes in units of 1024 bytes.
    QCOMPARE(sample.metric(QStringLiteral("service_demand_us_kb"), Side::Receiver),
             1e6 / (250'000'000.0 / 1024));
    QCOMPARE(sample.metric(QStringLiteral("retransmits"), Side::Sender), 6.0);
    QCOMPARE(sample.metric(QStringLiteral("retransmits")), 12.0);
    QCOMPARE(sample.metric(QStringLiteral("tcpi_rtt"), Side::Sender), 120.0);
    QCOMPARE(sample.metric(QStringLiteral("bytes_per_send"), Side::Sender), 1'250'000.0);
    QCOMPARE(sample.metric(QStringLiteral("bytes_per_recv"), Side::Receiver), 312'500.0);
    QVERIFY(!sample.metric(QStringLiteral("bytes_per_send"), Side::Receiver));
    QVERIFY(!sample.metric(QStringLiteral("transactions_s")));
    QVERIFY2(sample.flags.isEmpty(), qPrintable(sample.flags.join(u'\n')));
}

void TestRunResult::maertsCountsAtTheSenderHost() {
    Experiment experiment = streamExperiment();
    experiment.test.options.insert(QStringLiteral("direction"),
                                   KnobValue(QStringLiteral("from_receiver")));
    const Cell cell = expandMatrix(experiment).first();
    SampleRecord sample;
    fillSample(sample, experiment, cell, sideResult(0, 125'000'000, 2.0),
               sideResult(125'000'000, 0, 1.9));
    QCOMPARE(sample.metric(QStringLiteral("throughput_mbit_s")), 1000.0);
}

void TestRunResult::transactionMetrics() {
    Experiment experiment = streamExperiment();
    experiment.test.kind = QStringLiteral("tcp_rr");
    const Cell cell = expandMatrix(experiment).first();
    SideResult sender = sideResult(1000, 1000, 2.0);
    for (StreamResult& stream : sender.traffic.streams)
        stream.transactions = 50'000;
    SampleRecord sample;
    fillSample(sample, experiment, cell, sender, sideResult(1000, 1000, 2.0));
    QCOMPARE(sample.metric(QStringLiteral("transactions_s")), 50'000.0);
    QCOMPARE(sample.metric(QStringLiteral("service_demand_us_tr"), Side::Sender), 10.0);
    QVERIFY(!sample.metric(QStringLiteral("throughput_mbit_s")));
}

void TestRunResult::nothingMeasuredIsAbsent() {
    const Experiment experiment = streamExperiment();
    const Cell cell = expandMatrix(experiment).first();
    SampleRecord sample;
    fillSample(sample, experiment, cell, SideResult{}, SideResult{});
    QVERIFY(!sample.metric(QStringLiteral("throughput_mbit_s")));
    QVERIFY(!sample.metric(QStringLiteral("retransmits")));
    QVERIFY(!sample.metric(QStringLiteral("cpu_percent"), Side::Sender));
    for (const Metric& metric : sample.metrics)
        QVERIFY(qIsFinite(metric.value));
}

void TestRunResult::clampedWindowIsFlagged_data() {
    QTest::addColumn<qint64>("sndbuf");
    QTest::addColumn<qint64>("rcvbuf");
    QTest::addColumn<QString>("accepted");
    QTest::newRow("as asked") << qint64{131072} << qint64{131072} << "64K";
    QTest::newRow("send clamped") << qint64{106496} << qint64{131072} << "52K";
    QTest::newRow("receive clamped") << qint64{131072} << qint64{106496} << "52K";
}

void TestRunResult::clampedWindowIsFlagged() {
    QFETCH(qint64, sndbuf);
    QFETCH(qint64, rcvbuf);
    QFETCH(QString, accepted);
    Experiment experiment = streamExperiment();
    experiment.axes = {
        Axis{QStringLiteral("window"), Side::Both, {KnobValue(QStringLiteral("64K"))}}};
    const Cell cell = expandMatrix(experiment).first();
    SideResult sender = sideResult(1000, 0, 1);
    for (StreamResult& stream : sender.traffic.streams) {
        stream.sndbuf_initial = sndbuf;
        stream.rcvbuf_initial = rcvbuf;
    }
    SampleRecord sample;
    fillSample(sample, experiment, cell, sender, sideResult(0, 1000, 1));
    QCOMPARE(sample.flags.size(), accepted == QLatin1String("64K") ? 0 : 1);
    QCOMPARE(sample.knobs.first().requested, QStringLiteral("64K"));
    QCOMPARE(sample.knobs.first().accepted, accepted);
}

void TestRunResult::segmentSizeAllowsOptions_data() {
    QTest::addColumn<qint64>("taken");
    QTest::addColumn<bool>("flagged");
    QTest::newRow("exact") << qint64{1000} << false;
    QTest::newRow("less time stamps") << qint64{988} << false;
    QTest::newRow("ignored") << qint64{1448} << true;
    QTest::newRow("clamped") << qint64{536} << true;
}

void TestRunResult::segmentSizeAllowsOptions() {
    QFETCH(qint64, taken);
    QFETCH(bool, flagged);
    Experiment experiment = streamExperiment();
    experiment.axes = {Axis{QStringLiteral("mss"), Side::Sender, {KnobValue(qint64{1000})}}};
    const Cell cell = expandMatrix(experiment).first();
    SideResult sender = sideResult(1000, 0, 1);
    for (StreamResult& stream : sender.traffic.streams)
        stream.mss = taken;
    SampleRecord sample;
    fillSample(sample, experiment, cell, sender, sideResult(0, 1000, 1));
    QCOMPARE(!sample.flags.isEmpty(), flagged);
}

void TestRunResult::bytesThatDisagreeAreFlagged() {
    const Experiment experiment = streamExperiment();
    SampleRecord sample;
    fillSample(sample, experiment, expandMatrix(experiment).first(), sideResult(1000, 0, 1),
               sideResult(0, 999, 1));
    QCOMPARE(sample.flags.size(), 1);
    QVERIFY(sample.flags.first().contains(QStringLiteral("disagree")));
}

void TestRunResult::nothingThatArrivesIsFlagged() {
    Experiment experiment = streamExperiment();
    const Cell cell = expandMatrix(experiment).first();
    SampleRecord stream;
    fillSample(stream, experiment, cell, sideResult(0, 0, 2.0), sideResult(0, 0, 2.0));
    QCOMPARE(stream.flags, QStringList{QStringLiteral("Nothing arrived in the measured time")});
    experiment.test.kind = QStringLiteral("tcp_rr");
    SampleRecord transactions;
    fillSample(transactions, experiment, cell, sideResult(1, 0, 2.0), sideResult(0, 1, 2.0));
    QCOMPARE(transactions.flags,
             QStringList{QStringLiteral("No transaction ended in the measured time")});
}

void TestRunResult::pathMtusThatDifferAreFlagged_data() {
    QTest::addColumn<int>("sender"); // 0: the kernel does not tell
    QTest::addColumn<int>("receiver");
    QTest::addColumn<QString>("flag");
    QTest::newRow("same") << 1500 << 1500 << "";
    QTest::newRow("sender unknown") << 0 << 1500 << "";
    QTest::newRow("sender smaller")
        << 552 << 1500 << "The ends see different path MTUs: sender 552, receiver 1500";
    QTest::newRow("receiver smaller")
        << 9000 << 1500 << "The ends see different path MTUs: sender 9000, receiver 1500";
}

void TestRunResult::pathMtusThatDifferAreFlagged() {
    QFETCH(int, sender);
    QFETCH(int, receiver);
    QFETCH(QString, flag);
    const Experiment experiment = streamExperiment();
    SideResult sides[] = {sideResult(1000, 0, 2.0), sideResult(0, 1000, 2.0)};
    const int mtus[] = {sender, receiver};
    for (int i = 0; i < 2; ++i) {
        for (StreamResult& stream : sides[i].traffic.streams) {
            if (mtus[i] > 0)
                stream.tcp_info["pmtu"] = mtus[i];
        }
    }
    SampleRecord sample;
    fillSample(sample, experiment, expandMatrix(experiment).first(), sides[0], sides[1]);
    QCOMPARE(sample.flags, flag.isEmpty() ? QStringList() : QStringList{flag});
}

void TestRunResult::seriesAddUp() {
    const std::vector<Interval> intervals = {{0.1, 0, 1'250'000, 10, {}, {}, {}},
                                             {0.2, 0, 1'250'000, 10, {}, {}, {}},
                                             {0.25, 0, 2'500'000, 30, {}, {}, {}}};
    const auto series = seriesOf(intervals, true);
    QCOMPARE(series.size(), 3);
    double bits = 0;
    double transactions = 0;
    double last = 0;
    for (const SeriesPoint& point : series) {
        bits += point.mbitPerSecond * 1e6 * (point.endSeconds - last);
        transactions += point.transactionsPerSecond * (point.endSeconds - last);
        last = point.endSeconds;
    }
    QVERIFY(qAbs(bits - 2'500'000 * 8) < 1);
    QVERIFY(qAbs(transactions - 30) < 1e-6);
    QCOMPARE(series.at(1).mbitPerSecond, 0.0);
}

void TestRunResult::liveRatesStartAnew_data() {
    QTest::addColumn<double>("seconds"); // of the notification after 1 s and 1,000,000 bytes
    QTest::addColumn<quint64>("bytes");
    QTest::addColumn<double>("mbit");
    QTest::newRow("goes on") << 1.5 << quint64{2'000'000} << 16.0;
    QTest::newRow("new sample, earlier") << 0.5 << quint64{500'000} << 8.0;
    QTest::newRow("new sample, later") << 1.6 << quint64{200'000} << 1.0;
    QTest::newRow("nothing moved") << 2.0 << quint64{1'000'000} << 0.0;
}

void TestRunResult::liveRatesStartAnew() {
    QFETCH(double, seconds);
    QFETCH(quint64, bytes);
    Interval last;
    Interval now;
    now.time_s = 1;
    now.bytes_received = 1'000'000;
    QCOMPARE(liveInterval(Side::Receiver, now, last)->mbitPerSecond, 8.0);
    now.time_s = seconds;
    now.bytes_received = bytes;
    QTEST(liveInterval(Side::Receiver, now, last)->mbitPerSecond, "mbit");
    QVERIFY(!liveInterval(Side::Receiver, Interval{}, last)); // no time has passed
}

void TestRunResult::tokensAreFreshAndHex() {
    const std::string first = newToken();
    QCOMPARE(first.size(), std::size_t{32});
    QCOMPARE(first.find_first_not_of("0123456789abcdef"), std::string::npos);
    QVERIFY(first != newToken());
}

QTEST_APPLESS_MAIN(TestRunResult)
#include "tst_runresult.moc"
