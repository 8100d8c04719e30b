// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/protocol/histogram.h"
#include "core/run/counterdeltas.h"
#include "core/run/sampleresult.h"

#include <QTest>

using namespace knobscope;
using protocol::StreamResult;
using protocol::TrafficResult;

namespace {

Experiment experimentOf(int senders, int receivers, const char* kind = "tcp_stream") {
    Experiment experiment;
    const auto spec = [](const char* name, int number) {
        return HostSpec{false, QStringLiteral("%1%2").arg(QLatin1String(name)).arg(number),
                        QStringLiteral("10.0.0.%1").arg(number), QStringLiteral("test0")};
    };
    experiment.sender = spec("s", 1);
    experiment.receiver = spec("r", 101);
    for (int i = 2; i <= senders; ++i)
        experiment.moreSenders << spec("s", i);
    for (int i = 2; i <= receivers; ++i)
        experiment.moreReceivers << spec("r", 100 + i);
    experiment.test.kind = QString::fromLatin1(kind);
    return experiment;
}

StreamResult stream(bool sends, std::uint64_t bytes, double seconds) {
    StreamResult result;
    result.sends = sends;
    (sends ? result.bytes_sent : result.bytes_received) = bytes;
    (sends ? result.total_bytes_sent : result.total_bytes_received) = bytes;
    (sends ? result.send_calls : result.recv_calls) = 10;
    result.elapsed_s = seconds;
    result.tcp_info = {{"total_retrans", sends ? 2 : 0}, {"rtt", 100}, {"pmtu", 1500}};
    return result;
}

/// A host that is busy for `busy` of the time, with its agent for a tenth of a CPU.
protocol::CpuUse cpu(double busy, double seconds, double busiest) {
    protocol::CpuUse use;
    use.system_s = busy * seconds;
    use.idle_s = (1 - busy) * seconds;
    use.elapsed_s = seconds;
    use.cpus = 1;
    use.busiest_cpu_percent = busiest;
    use.context_switches = 1000;
    use.agent_system_s = seconds / 10;
    return use;
}

/// One instance that moves `mbit` in `seconds`.
InstanceResult instance(double mbit, double seconds = 1) {
    const auto bytes = static_cast<std::uint64_t>(mbit * seconds * 1e6 / 8);
    InstanceResult result;
    result.sender.streams = {stream(true, bytes, seconds)};
    result.receiver.streams = {stream(false, bytes, seconds)};
    result.sender.elapsed_s = result.receiver.elapsed_s = seconds;
    return result;
}

SampleRecord filled(const Experiment& experiment, const SampleResult& result) {
    SampleRecord sample;
    fillSample(sample, experiment, expandMatrix(experiment).first(), result);
    return sample;
}

double figure(const SampleRecord& sample, const char* name, HostRef host = {}) {
    return sample.metric(QLatin1String(name), host).value_or(qQNaN());
}

protocol::Snapshot
snapshot(std::initializer_list<std::pair<const std::string, std::uint64_t>> all) {
    protocol::Snapshot counters;
    counters.counters["snmp"] = all;
    return counters;
}

} // namespace

/// What is made of the words of several hosts.
class TestRunHosts : public QObject {
    Q_OBJECT
private slots:
    void sumsUpTheInstances();
    void eachInstanceHasItsOwnTime();
    void oneToMany();
    void pairwise();
    void singleHostsHaveNoNumbers();
    void cpuOfASide();
    void cpuThatOneHostDoesNotTell();
    void agentsOfOneHostAreAddedUp();
    void transactionsAndLatency();
    void datagramsAreSummed();
    void countersOfASide();
    void countersBeyondMeasure();
    void flagsNameTheHost();
    void knobsOfEachHost();
    void streamsAreKept();
    void unknownFiguresOfStreamsStayUnknown();
};

void TestRunHosts::sumsUpTheInstances() {
    const SampleRecord sample =
        filled(experimentOf(3, 1), {{instance(100), instance(200), instance(700)}, {}});
    QCOMPARE(figure(sample, "throughput_mbit_s"), 1000.0);
    QCOMPARE(figure(sample, "throughput_mbit_s", {Side::Sender, 1}), 100.0);
    QCOMPARE(figure(sample, "throughput_mbit_s", {Side::Sender, 3}), 700.0);
    QCOMPARE(figure(sample, "sent_mbit_s", Side::Sender), 1000.0);
    QCOMPARE(figure(sample, "sent_mbit_s", {Side::Sender, 2}), 200.0);
    QCOMPARE(figure(sample, "bytes_received", Side::Receiver), 125e6);
    QCOMPARE(figure(sample, "bytes_sent", Side::Sender), 125e6);
    QCOMPARE(figure(sample, "bytes_sent", {Side::Sender, 2}), 25e6);
    QCOMPARE(figure(sample, "send_calls", Side::Sender), 30.0);
    QCOMPARE(figure(sample, "bytes_per_send", Side::Sender), 125e6 / 30);
    QCOMPARE(figure(sample, "retransmits", Side::Sender), 6.0);
    QCOMPARE(figure(sample, "retransmits", {Side::Sender, 1}), 2.0);
    QCOMPARE(figure(sample, "retransmits"), 6.0);
    QCOMPARE(figure(sample, "tcpi_rtt", Side::Sender), 100.0);
    // Jain's index over all streams of all instances.
    QCOMPARE(figure(sample, "fairness"), 1e6 / (3 * (100. * 100 + 200 * 200 + 700 * 700)));
    QVERIFY(!sample.metric(QStringLiteral("fairness"), {Side::Sender, 1}));
    QVERIFY2(sample.flags.isEmpty(), qPrintable(sample.flags.join(u'\n')));
}

void TestRunHosts::eachInstanceHasItsOwnTime() {
    // With limit_bytes the fast one ends early; its rate is that of its own time.
    const SampleRecord sample =
        filled(experimentOf(2, 1), {{instance(800, 0.5), instance(100, 4)}, {}});
    QCOMPARE(figure(sample, "throughput_mbit_s"), 900.0);
    QCOMPARE(figure(sample, "elapsed_s"), 4.0);
    QCOMPARE(figure(sample, "elapsed_s", {Side::Sender, 1}), 0.5);
}

void TestRunHosts::oneToMany() {
    const SampleRecord sample =
        filled(experimentOf(1, 3), {{instance(100), instance(200), instance(300)}, {}});
    QCOMPARE(figure(sample, "throughput_mbit_s"), 600.0);
    QCOMPARE(figure(sample, "throughput_mbit_s", {Side::Receiver, 2}), 200.0);
    QCOMPARE(figure(sample, "bytes_received", {Side::Receiver, 3}), 300e6 / 8);
    QCOMPARE(figure(sample, "bytes_sent", Side::Sender), 75e6);
    QVERIFY(!sample.metric(QStringLiteral("bytes_sent"), {Side::Sender, 1}));
}

void TestRunHosts::pairwise() {
    const SampleRecord sample = filled(experimentOf(2, 2), {{instance(100), instance(200)}, {}});
    for (const Side side : {Side::Sender, Side::Receiver}) {
        QCOMPARE(figure(sample, "throughput_mbit_s", {side, 1}), 100.0);
        QCOMPARE(figure(sample, "throughput_mbit_s", {side, 2}), 200.0);
    }
    QCOMPARE(figure(sample, "throughput_mbit_s"), 300.0);
}

void TestRunHosts::singleHostsHaveNoNumbers() {
    SampleResult result{{instance(100)}, {}};
    result.counters[Side::Sender] = {snapshot({{"a", 1}}), snapshot({{"a", 2}})};
    const SampleRecord sample = filled(experimentOf(1, 1), result);
    for (const Metric& metric : sample.metrics)
        QCOMPARE(metric.host.number, 0);
    QCOMPARE(sample.deltas.size(), 1);
    QCOMPARE(sample.deltas.first().host, HostRef(Side::Sender));
    QCOMPARE(sample.presentCounters.keys(), QList<HostRef>{Side::Sender});
    QCOMPARE(sample.streams.keys(), QList<HostRef>({Side::Sender, Side::Receiver}));
    QCOMPARE(sample.streams.first().first().instance, 0);
}

void TestRunHosts::cpuOfASide() {
    SampleResult result{{instance(100), instance(300)}, {}};
    result.instances[0].sender.cpu = cpu(0.2, 1, 30);
    result.instances[1].sender.cpu = cpu(0.6, 1, 90);
    const SampleRecord sample = filled(experimentOf(2, 1), result);
    QCOMPARE(figure(sample, "cpu_percent", {Side::Sender, 1}), 20.0);
    QCOMPARE(figure(sample, "cpu_percent", {Side::Sender, 2}), 60.0);
    QCOMPARE(figure(sample, "cpu_percent", Side::Sender), 40.0);
    QCOMPARE(figure(sample, "cpu_system_percent", Side::Sender), 40.0);
    QCOMPARE(figure(sample, "busiest_cpu_percent", Side::Sender), 90.0);
    QCOMPARE(figure(sample, "agent_cpu_percent", Side::Sender), 10.0);
    QCOMPARE(figure(sample, "context_switches_s", Side::Sender), 2000.0);
    // 0.8 CPU seconds of both hosts over all that was moved.
    QCOMPARE(figure(sample, "service_demand_us_kb", Side::Sender), 0.8e6 / (50e6 / 1024));
    QCOMPARE(figure(sample, "service_demand_us_kb", {Side::Sender, 1}), 0.2e6 / (12.5e6 / 1024));
    QVERIFY(!sample.metric(QStringLiteral("cpu_percent"), Side::Receiver));
}

void TestRunHosts::cpuThatOneHostDoesNotTell() {
    SampleResult result{{instance(100), instance(300)}, {}};
    result.instances[0].sender.cpu = cpu(0.2, 1, 30);
    const SampleRecord sample = filled(experimentOf(2, 1), result);
    QCOMPARE(figure(sample, "cpu_percent", {Side::Sender, 1}), 20.0);
    QVERIFY(!sample.metric(QStringLiteral("cpu_percent"), {Side::Sender, 2}));
    for (const char* name : {"cpu_percent", "busiest_cpu_percent", "service_demand_us_kb"})
        QVERIFY2(!sample.metric(QLatin1String(name), Side::Sender), name);
}

/// The receiver has an agent for each instance; they see the same CPUs.
void TestRunHosts::agentsOfOneHostAreAddedUp() {
    SampleResult result{{instance(100, 1), instance(100, 2)}, {}};
    result.instances[0].receiver.cpu = cpu(0.9, 1, 95);
    result.instances[1].receiver.cpu = cpu(0.5, 2, 60);
    const SampleRecord sample = filled(experimentOf(2, 1), result);
    QCOMPARE(figure(sample, "cpu_percent", Side::Receiver), 50.0); // over the whole time
    QCOMPARE(figure(sample, "busiest_cpu_percent", Side::Receiver), 60.0);
    QCOMPARE(figure(sample, "agent_cpu_percent", Side::Receiver), 100 * (0.1 + 0.2) / 2);
    QCOMPARE(figure(sample, "service_demand_us_kb", Side::Receiver), 1e6 / (37.5e6 / 1024));
}

void TestRunHosts::transactionsAndLatency() {
    SampleResult result;
    for (const std::uint64_t us : {100, 300}) {
        InstanceResult one = instance(1);
        one.sender.streams[0].transactions = one.receiver.streams[0].transactions = 1000 * us;
        protocol::Histogram histogram;
        for (std::uint64_t i = 0; i < 10; ++i)
            histogram.record(us * 1000);
        one.sender.latency = histogram.toLatency();
        result.instances.push_back(one);
    }
    const SampleRecord sample = filled(experimentOf(2, 1, "tcp_rr"), result);
    QCOMPARE(figure(sample, "transactions_s"), 400'000.0);
    QCOMPARE(figure(sample, "transactions_s", {Side::Sender, 2}), 300'000.0);
    QCOMPARE(figure(sample, "latency_min_us"), 100.0);
    QCOMPARE(figure(sample, "latency_max_us"), 300.0);
    QCOMPARE(figure(sample, "latency_mean_us"), 200.0);
    QVERIFY(qAbs(figure(sample, "latency_p90_us") - 300) < 1);
    QCOMPARE(figure(sample, "latency_mean_us", {Side::Sender, 1}), 100.0);
    QCOMPARE(sample.distributions.size(), 1);
    QCOMPARE(sample.distributions.first().buckets.size(), 2);
    QCOMPARE(sample.distributions.first().buckets.first().second, quint64{10});
    QCOMPARE(sample.streams.value({Side::Sender, 2}).first().transactions, qint64{300'000});
}

void TestRunHosts::datagramsAreSummed() {
    SampleResult result{{instance(1), instance(3)}, {}};
    result.instances[0].receiver.streams[0].datagrams = {100, 90, 10, 1, 0, 5.0};
    result.instances[1].receiver.streams[0].datagrams = {300, 300, 0, 2, 4, 15.0};
    const SampleRecord sample = filled(experimentOf(2, 1, "udp_stream"), result);
    QCOMPARE(figure(sample, "datagrams_sent"), 400.0);
    QCOMPARE(figure(sample, "datagrams_lost"), 10.0);
    QCOMPARE(figure(sample, "loss_percent"), 2.5);
    QCOMPARE(figure(sample, "loss_percent", {Side::Sender, 1}), 10.0);
    QCOMPARE(figure(sample, "jitter_us"), 10.0);
    QCOMPARE(figure(sample, "datagrams_duplicate"), 4.0);
}

void TestRunHosts::countersOfASide() {
    SampleResult result{{instance(1), instance(1)}, {}};
    result.counters[{Side::Sender, 1}] = {snapshot({{"Both", 1}, {"Still", 7}, {"Only1", 0}}),
                                          snapshot({{"Both", 4}, {"Still", 7}, {"Only1", 2}})};
    result.counters[{Side::Sender, 2}] = {snapshot({{"Both", 10}, {"Still", 7}, {"Gauge", 9}}),
                                          snapshot({{"Both", 15}, {"Still", 7}, {"Gauge", 4}})};
    const SampleRecord sample = filled(experimentOf(2, 1), result);
    QMap<std::pair<HostRef, QString>, qint64> deltas;
    for (const CounterDelta& delta : sample.deltas)
        deltas.insert({delta.host, delta.name}, delta.delta);
    QCOMPARE(deltas.size(), 7);
    QCOMPARE((deltas.value({{Side::Sender, 1}, "Both"})), 3);
    QCOMPARE((deltas.value({{Side::Sender, 2}, "Both"})), 5);
    QCOMPARE((deltas.value({Side::Sender, "Both"})), 8);
    QCOMPARE((deltas.value({Side::Sender, "Only1"})), 2);
    QCOMPARE((deltas.value({Side::Sender, "Gauge"})), -5);
    const auto present = [&](HostRef host) {
        return sample.presentCounters.value(host).value(QStringLiteral("snmp"));
    };
    QCOMPARE(present({Side::Sender, 1}), QStringList({"Both", "Only1", "Still"}));
    QCOMPARE(present(Side::Sender), QStringList({"Both", "Gauge", "Only1", "Still"}));
    QVERIFY(!sample.presentCounters.contains(Side::Receiver));
}

void TestRunHosts::countersBeyondMeasure() {
    SampleRecord sample;
    const quint64 most = std::numeric_limits<qint64>::max();
    for (int number = 1; number <= 2; ++number)
        addDeltas(sample, {Side::Sender, number}, snapshot({{"Huge", 0}, {"Fine", 0}}),
                  snapshot({{"Huge", most}, {"Fine", 1}}));
    addSummedDeltas(sample, Side::Sender);
    for (const CounterDelta& delta : sample.deltas)
        QVERIFY(delta.host.number > 0 || (delta.name == "Fine" && delta.delta == 2));
    QCOMPARE(sample.presentCounters.value(Side::Sender).value("snmp"), QStringList{"Fine"});
}

void TestRunHosts::flagsNameTheHost() {
    SampleResult result{{instance(1), instance(1)}, {}};
    result.instances[1].receiver.streams[0].bytes_received = 0;
    result.instances[1].receiver.streams[0].total_bytes_received = 1;
    result.instances[0].sender.streams[0].tcp_info["pmtu"] = 1400;
    result.instances[1].sender.strangers = 1;
    result.instances[1].sender.cpu = cpu(1, 1, 100);
    result.instances[1].sender.cpu->busy_percent = {100};
    const SampleRecord sample = filled(experimentOf(2, 1), result);
    const QStringList expected{
        "sender 1 to receiver: the ends see different path MTUs: sender 1400, receiver 1500",
        "sender 2 to receiver: nothing arrived in the measured time",
        "sender 2 to receiver: the two ends disagree on the bytes transferred",
        "sender 2: CPU 0 had no time left; it may be the limit",
        "sender 2: 1 connection from strangers was dropped"};
    QCOMPARE(sample.flags, expected);
}

void TestRunHosts::knobsOfEachHost() {
    Experiment experiment = experimentOf(1, 2);
    experiment.axes = {
        Axis{QStringLiteral("window"), Side::Both, {KnobValue(QStringLiteral("64K"))}}};
    SampleResult result{{instance(1), instance(1)}, {}};
    for (InstanceResult& one : result.instances) {
        for (TrafficResult* end : {&one.sender, &one.receiver}) {
            end->streams[0].sndbuf_initial = 131072;
            end->streams[0].rcvbuf_initial = 131072;
        }
    }
    result.instances[1].receiver.streams[0].rcvbuf_initial = 106496;
    const SampleRecord sample = filled(experiment, result);
    QCOMPARE(sample.flags, QStringList{"receiver 2: window requested 64K, host took 52K"});
    QStringList states;
    for (const KnobState& state : sample.knobs)
        states << hostName(state.host) + u' ' + state.status;
    QCOMPARE(states, QStringList({"sender applied", "receiver 1 applied", "receiver 2 adjusted"}));
}

void TestRunHosts::streamsAreKept() {
    SampleResult result{{instance(1), instance(2)}, {}};
    InstanceResult& second = result.instances[1];
    second.sender.streams.push_back(stream(true, 77, 0.5));
    second.receiver.streams.push_back(stream(false, 77, 0.5));
    second.sender.streams[1].mss = 1448;
    second.sender.streams[1].congestion_control = "cubic";
    second.sender.streams[1].local_port = 40001;
    second.sender.streams[1].tcp_info["snd_cwnd"] = 12;
    const SampleRecord sample = filled(experimentOf(2, 1), result);
    QCOMPARE(sample.streams.keys(),
             QList<HostRef>({{Side::Sender, 1}, {Side::Sender, 2}, Side::Receiver}));
    const auto receiver = sample.streams.value(Side::Receiver);
    QCOMPARE(receiver.size(), 3); // of both instances
    QCOMPARE(receiver[0].instance, 1);
    QCOMPARE(receiver[2].instance, 2);
    QCOMPARE(receiver[2].number, 2);
    QVERIFY(!receiver[2].sends);
    const StreamFigures sent = sample.streams.value({Side::Sender, 2}).at(1);
    QCOMPARE(sent.instance, 2);
    QCOMPARE(sent.number, 2);
    QVERIFY(sent.sends);
    QCOMPARE(sent.bytesSent, quint64{77});
    QCOMPARE(sent.elapsedSeconds, 0.5);
    QCOMPARE(sent.mss, qint64{1448});
    QCOMPARE(sent.retransmits, qint64{2});
    QCOMPARE(sent.roundTripUs, qint64{100});
    QCOMPARE(sent.congestionWindow, qint64{12});
    QCOMPARE(sent.congestionControl, QStringLiteral("cubic"));
    QCOMPARE(sent.localPort, qint64{40001});
}

void TestRunHosts::unknownFiguresOfStreamsStayUnknown() {
    InstanceResult bare = instance(1);
    bare.sender.streams[0].tcp_info.clear();
    const SampleRecord sample = filled(experimentOf(1, 1, "udp_stream"), {{bare}, {}});
    const StreamFigures figures = sample.streams.value(Side::Sender).first();
    StreamFigures expected;
    expected.number = 1;
    expected.sends = true;
    expected.bytesSent = 125000;
    expected.sendCalls = 10;
    expected.elapsedSeconds = 1;
    QVERIFY(figures == expected);
    QVERIFY(!figures.transactions && !figures.retransmits && !figures.datagrams);
}

QTEST_APPLESS_MAIN(TestRunHosts)
#include "tst_runhosts.moc"
