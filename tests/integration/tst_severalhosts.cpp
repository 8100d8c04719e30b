// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/traffic.h"
#include "tests/lab/labrun.h"

#include <QElapsedTimer>
#include <QJsonArray>
#include <QTest>

#include <csignal>
#include <mutex>

using namespace knobscope;
using namespace knobscope::test;

namespace {

const QString kLimit = QStringLiteral("net.ipv4.tcp_limit_output_bytes");
const QString kCorking = QStringLiteral("net.ipv4.tcp_autocorking");
/// Command line of an agent as it lies on a host, named by its content.
const QString kAgent = QStringLiteral("knobscope-[0-9]+/agent-");

QJsonObject axis(const QString& knob, const QString& side, const QJsonArray& values) {
    return {{QStringLiteral("knob"), QStringLiteral("sysctl:") + knob},
            {QStringLiteral("side"), side},
            {QStringLiteral("values"), values}};
}

QJsonObject streamTest(double seconds, int streams = 1) {
    return {{QStringLiteral("kind"), QStringLiteral("tcp_stream")},
            {QStringLiteral("seconds"), seconds},
            {QStringLiteral("streams"), streams}};
}

double figure(const SampleRecord& sample, const char* name, HostRef host = {}) {
    return sample.metric(QLatin1String(name), host).value_or(qQNaN());
}

qint64 interfaceBytes(const SampleRecord& sample, HostRef host, const char* name) {
    for (const CounterDelta& delta : sample.deltas) {
        if (delta.host == host && delta.source == QLatin1String("interface") &&
            delta.name == QLatin1String(name))
            return delta.delta;
    }
    return 0;
}

/// Whether an interface moved this payload: with headers, what was sent again, and little else.
bool carried(qint64 counted, double payload) {
    const auto bytes = static_cast<double>(counted);
    return bytes > payload && bytes < 1.25 * payload + 1e6;
}

} // namespace

/// Whole runs of one host against three, over real SSH.
class TestSeveralHosts : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void cleanupTestCase();
    void manyToOne();
    void oneToMany();
    void pairwise();
    void transactionsOfMany();
    void startsTogether();
    void anAgentKilledOnTheWay_data();
    void anAgentKilledOnTheWay();
    void stopPutsEveryKnobBack();
    void namesTheHostAtFault_data();
    void namesTheHostAtFault();

private:
    /// hosts of an experiment file, by their numbers in the lab from 1.
    [[nodiscard]] QJsonObject hosts(const QList<int>& senders, const QList<int>& receivers) const;
    [[nodiscard]] QString write(const QJsonObject& hosts, const QJsonObject& test,
                                const QJsonArray& axes, int repeats = 1) const;
    [[nodiscard]] StoredRun measured(const QString& file) const;
    [[nodiscard]] StoredRun stored(const CliProcess& cli) const;
    [[nodiscard]] QStringList everywhere(const QString& sysctl) const;
    void verifySums(const SampleRecord& sample, Side many) const;

    Lab m_lab;
    std::unique_ptr<LabRun> m_run;
    QStringList m_limits; ///< on each host, before anything was run
    QStringList m_corkings;
};

void TestSeveralHosts::initTestCase() {
    QVERIFY2(m_lab.up({QStringLiteral("-n"), QStringLiteral("4"), QStringLiteral("--rate"),
                       QStringLiteral("500mbit")}),
             qPrintable(m_lab.error()));
    m_run = std::make_unique<LabRun>(m_lab);
    m_limits = everywhere(kLimit);
    m_corkings = everywhere(kCorking);
    QVERIFY(!m_limits.contains(QString()) && !m_corkings.contains(QString()));
}

void TestSeveralHosts::cleanupTestCase() {
    for (const Lab::Host& host : m_lab.hosts())
        QTRY_COMPARE_WITH_TIMEOUT(m_lab.pids(host.name, kAgent).size(), 0, 15000);
}

QJsonObject TestSeveralHosts::hosts(const QList<int>& senders, const QList<int>& receivers) const {
    const auto side = [this](const QList<int>& numbers) -> QJsonValue {
        QJsonArray all;
        for (const int number : numbers) {
            const Lab::Host& at = m_lab.host(number - 1);
            all.append(QJsonObject{{QStringLiteral("ssh"), at.name},
                                   {QStringLiteral("address"), at.testAddress},
                                   {QStringLiteral("interface"), at.testInterface}});
        }
        return all.size() == 1 ? all.first() : QJsonValue(all);
    };
    return {{QStringLiteral("sender"), side(senders)},
            {QStringLiteral("receiver"), side(receivers)}};
}

QString TestSeveralHosts::write(const QJsonObject& hosts, const QJsonObject& test,
                                const QJsonArray& axes, int repeats) const {
    return m_run->write(
        {{QStringLiteral("hosts"), hosts},
         {QStringLiteral("test"), test},
         {QStringLiteral("axes"), axes},
         {QStringLiteral("plan"), QJsonObject{{QStringLiteral("repeats"), repeats}}}});
}

/// Runs it to its end, which is a good one.
StoredRun TestSeveralHosts::measured(const QString& file) const {
    CliProcess cli(m_run->runArguments(file));
    const int status = cli.waitForEnd();
    if (status != 0)
        qWarning("status %d: %s", status, cli.errorText().constData());
    return stored(cli);
}

/// The run that an ended program has measured; an empty one where it came to none.
StoredRun TestSeveralHosts::stored(const CliProcess& cli) const {
    const qint64 run = cli.events().isEmpty()
                           ? 0
                           : cli.events().constLast().value(QStringLiteral("run")).toInteger();
    return run > 0 ? m_run->load(run) : StoredRun{};
}

QStringList TestSeveralHosts::everywhere(const QString& sysctl) const {
    QStringList values;
    for (const Lab::Host& host : m_lab.hosts())
        values << m_run->sysctl(host.name, sysctl);
    return values;
}

void TestSeveralHosts::verifySums(const SampleRecord& sample, Side many) const {
    const Side one = many == Side::Sender ? Side::Receiver : Side::Sender;
    double throughput = 0;
    qint64 transmitted = 0;
    qint64 received = 0;
    for (int number = 1; number <= 3; ++number) {
        const HostRef host(many, number);
        const double share = figure(sample, "throughput_mbit_s", host);
        QVERIFY2(share > 1, qPrintable(QString::number(share)));
        throughput += share;
        const bool sends = many == Side::Sender;
        const double payload = figure(sample, sends ? "bytes_sent" : "bytes_received", host);
        const qint64 counted = interfaceBytes(sample, host, sends ? "tx_bytes" : "rx_bytes");
        QVERIFY2(carried(counted, payload),
                 qPrintable(QStringLiteral("%1 of %2").arg(counted).arg(payload)));
        transmitted += interfaceBytes(sample, host, "tx_bytes");
        received += interfaceBytes(sample, host, "rx_bytes");
        QCOMPARE(sample.streams.value(host).size(), 2);
        QVERIFY(figure(sample, "cpu_percent", host) >= 0);
    }
    QCOMPARE(figure(sample, "throughput_mbit_s"), throughput);
    QCOMPARE(interfaceBytes(sample, many, "tx_bytes"), transmitted);
    QCOMPARE(interfaceBytes(sample, many, "rx_bytes"), received);
    // The one host saw all of it.
    const bool receives = one == Side::Receiver;
    const double all = figure(sample, receives ? "bytes_received" : "bytes_sent", one);
    QVERIFY(carried(interfaceBytes(sample, one, receives ? "rx_bytes" : "tx_bytes"), all));
    quint64 ofStreams = 0;
    for (const StreamFigures& stream : sample.streams.value(one)) {
        ofStreams += receives ? stream.bytesReceived : stream.bytesSent;
        QVERIFY(stream.instance >= 1 && stream.instance <= 3);
        QVERIFY(stream.roundTripUs.value_or(0) > 0 && stream.mss && stream.sndbufFinal);
    }
    QCOMPARE(sample.streams.value(one).size(), 6);
    QCOMPARE(static_cast<double>(ofStreams), all);
    // The intervals of all agents add up to what the streams moved.
    double bits = 0;
    double last = 0;
    for (const SeriesPoint& point : sample.series.value(Side::Receiver)) {
        bits += point.mbitPerSecond * 1e6 * (point.endSeconds - last);
        last = point.endSeconds;
    }
    const double delivered = figure(sample, "bytes_received", Side::Receiver) * 8;
    QVERIFY2(qAbs(bits - delivered) < 0.02 * delivered,
             qPrintable(QStringLiteral("%1 of %2").arg(bits).arg(delivered)));
}

void TestSeveralHosts::manyToOne() {
    const StoredRun run = measured(
        write(hosts({2, 3, 4}, {1}), streamTest(1, 2), {axis(kLimit, "sender", {65536, 131072})}));
    QCOMPARE(run.info.state, RunState::Finished);
    QCOMPARE(run.info.sender, QStringLiteral("host2, host3, host4"));
    QCOMPARE(run.hosts.size(), 4);
    QCOMPARE(run.samples.size(), 2);
    for (const SampleRecord& sample : run.samples) {
        verifySums(sample, Side::Sender);
        QStringList set;
        for (const KnobState& knob : sample.knobs) {
            set << hostName(knob.host);
            QCOMPARE(knob.accepted, knob.requested);
            QCOMPARE(knob.original, m_limits.at(knob.host.number));
        }
        QCOMPARE(set, QStringList({"sender 1", "sender 2", "sender 3"}));
        // The port to the receiver is the bottleneck.
        const double sum = figure(sample, "throughput_mbit_s");
        QVERIFY2(sum > 300 && sum < 550, qPrintable(QString::number(sum)));
    }
    QCOMPARE(everywhere(kLimit), m_limits);
    QCOMPARE(m_run->checkDatabase(), QStringList());
}

void TestSeveralHosts::oneToMany() {
    const StoredRun run =
        measured(write(hosts({1}, {2, 3, 4}), streamTest(1, 2),
                       {axis(kCorking, "receiver", {0}), axis(kLimit, "sender", {65536, 262144})}));
    QCOMPARE(run.info.state, RunState::Finished);
    QCOMPARE(run.samples.size(), 2);
    for (const SampleRecord& sample : run.samples) {
        verifySums(sample, Side::Receiver);
        QStringList set;
        for (const KnobState& knob : sample.knobs) {
            set << hostName(knob.host);
            QCOMPARE(knob.accepted, knob.requested);
        }
        set.sort();
        QCOMPARE(set, QStringList({"receiver 1", "receiver 2", "receiver 3", "sender"}));
    }
    QCOMPARE(everywhere(kLimit), m_limits);
    QCOMPARE(everywhere(kCorking), m_corkings);
}

void TestSeveralHosts::pairwise() {
    const StoredRun run = measured(write(hosts({1, 2}, {3, 4}), streamTest(0.5), {}));
    QCOMPARE(run.info.state, RunState::Finished);
    const SampleRecord sample = run.samples.value(0);
    for (int number = 1; number <= 2; ++number) {
        QCOMPARE(figure(sample, "throughput_mbit_s", {Side::Sender, number}),
                 figure(sample, "throughput_mbit_s", {Side::Receiver, number}));
        QVERIFY(carried(interfaceBytes(sample, {Side::Receiver, number}, "rx_bytes"),
                        figure(sample, "bytes_received", {Side::Receiver, number})));
    }
    // Two ways through the switch, none of which holds up the other.
    const double sum = figure(sample, "throughput_mbit_s");
    QVERIFY2(sum > 600 && sum < 1050, qPrintable(QString::number(sum)));
}

void TestSeveralHosts::transactionsOfMany() {
    const StoredRun run = measured(write(
        hosts({2, 3, 4}, {1}),
        {{QStringLiteral("kind"), QStringLiteral("tcp_rr")}, {QStringLiteral("seconds"), 0.5}},
        {}));
    QCOMPARE(run.info.state, RunState::Finished);
    const SampleRecord sample = run.samples.value(0);
    double sum = 0;
    double least = HUGE_VAL;
    double most = 0;
    for (int number = 1; number <= 3; ++number) {
        const HostRef host(Side::Sender, number);
        sum += figure(sample, "transactions_s", host);
        least = std::min(least, figure(sample, "latency_min_us", host));
        most = std::max(most, figure(sample, "latency_max_us", host));
        QVERIFY(sample.streams.value(host).value(0).transactions.value_or(0) > 100);
    }
    QCOMPARE(figure(sample, "transactions_s"), sum);
    QCOMPARE(figure(sample, "latency_min_us"), least);
    QCOMPARE(figure(sample, "latency_max_us"), most);
}

/// The agents tell when their traffic began: the moment of a notification less what it says has
/// passed. Of several the earliest is nearest to the truth.
void TestSeveralHosts::startsTogether() {
    Experiment experiment;
    const auto spec = [this](int number) {
        const Lab::Host& at = m_lab.host(number - 1);
        return HostSpec{false, at.name, at.testAddress, at.testInterface};
    };
    experiment.receiver = spec(1);
    experiment.sender = spec(2);
    experiment.moreSenders = {spec(3), spec(4)};
    experiment.test.seconds = 1;
    HostOptions options;
    options.run = QStringLiteral("together");
    options.sshConfig = m_lab.sshConfig();
    auto group = HostGroup::open(experiment, options, CancelToken{});
    QVERIFY2(group, group ? "" : qPrintable(group.error().text()));
    QElapsedTimer clock;
    clock.start();
    std::mutex mutex;
    std::vector<double> began(3, HUGE_VAL);
    for (int i = 0; i < 3; ++i)
        group->end(i, Side::Sender)
            .setNotificationHandler([&, i](const std::string& method, const Json& params) {
                if (method != protocol::notification::kInterval)
                    return;
                const double now = static_cast<double>(clock.nsecsElapsed()) / 1e9;
                const std::scoped_lock lock(mutex);
                double& earliest = began[static_cast<std::size_t>(i)];
                earliest = std::min(earliest, now - params.get<protocol::Interval>().time_s);
            });
    const auto moved = transferTraffic(experiment, expandMatrix(experiment).first(), *group, {});
    QVERIFY2(moved, moved ? "" : qPrintable(moved.error().text()));
    const std::scoped_lock lock(mutex);
    const auto [first, last] = std::minmax_element(began.begin(), began.end());
    qInfo("began within %.1f ms", (*last - *first) * 1000);
    QVERIFY2(*last - *first < 0.1, qPrintable(QString::number(*last - *first)));
}

void TestSeveralHosts::anAgentKilledOnTheWay_data() {
    QTest::addColumn<QString>("host");
    QTest::addColumn<bool>("first"); // the agent that has the host; else its last one
    QTest::newRow("of one sender among several") << QStringLiteral("host3") << true;
    QTest::newRow("that has the receiver") << QStringLiteral("host1") << true;
    QTest::newRow("that only moves traffic") << QStringLiteral("host1") << false;
}

void TestSeveralHosts::anAgentKilledOnTheWay() {
    QFETCH(QString, host);
    QFETCH(bool, first);
    const QString file =
        write(hosts({2, 3, 4}, {1}), streamTest(4),
              {axis(kLimit, "sender", {65536}), axis(kCorking, "receiver", {0})}, 2);
    CliProcess cli(m_run->runArguments(file));
    QVERIFY2(cli.waitForSample(), cli.errorText());
    QTest::qWait(700); // into the second sample
    // Two processes an agent, of which the worker is the younger.
    QList<qint64> pids = m_lab.pids(host, kAgent);
    std::sort(pids.begin(), pids.end());
    QCOMPARE(pids.size(), host == QLatin1String("host1") ? 6 : 2);
    QCOMPARE(::kill(static_cast<pid_t>(first ? pids.at(1) : pids.last()), SIGKILL), 0);
    QVERIFY2(cli.waitForEnd() == 0, cli.errorText());
    QCOMPARE(everywhere(kLimit), m_limits);
    QCOMPARE(everywhere(kCorking), m_corkings);
    const StoredRun run = stored(cli);
    QCOMPARE(run.info.state, RunState::Finished);
    QCOMPARE(run.info.samplesDone, 2);
    QStringList reasons;
    for (const SampleRecord& sample : run.samples) {
        if (!sample.measured())
            reasons << sample.reason;
    }
    QCOMPARE(reasons.size(), 1);
    QVERIFY2(reasons.first().startsWith(host + QStringLiteral(": ")), qPrintable(reasons.first()));
}

void TestSeveralHosts::stopPutsEveryKnobBack() {
    const QString file = write(hosts({1}, {2, 3, 4}), streamTest(2),
                               {axis(kCorking, "both", {0}), axis(kLimit, "receiver", {65536})}, 9);
    CliProcess cli(m_run->runArguments(file));
    QVERIFY2(cli.waitForSample(), cli.errorText());
    const QStringList set = everywhere(kCorking);
    QCOMPARE(set, QStringList(4, QStringLiteral("0")));
    QCOMPARE(::kill(static_cast<pid_t>(cli.pid()), SIGINT), 0);
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(cli.waitForEnd(), 130);
    QVERIFY(timer.elapsed() < 5000);
    QCOMPARE(everywhere(kCorking), m_corkings);
    QCOMPARE(everywhere(kLimit), m_limits);
    QVERIFY(stored(cli).info.resumable);
}

void TestSeveralHosts::namesTheHostAtFault_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("value"); // for the third sender
    QTest::addColumn<int>("status");
    QTest::addColumn<QByteArray>("says");
    QTest::newRow("unreachable") << "ssh"
                                 << "root@127.0.0.1:1" << 3 << QByteArray("127.0.0.1");
    QTest::newRow("one machine, two names")
        << "ssh"
        << "user2" << 2
        << QByteArray("Sender 1 and sender 3 (host2 and user2) are the same machine");
    QTest::newRow("no such interface") << "interface"
                                       << "eth77" << 2 << QByteArray("host4: Interface eth77");
    QTest::newRow("an address of another")
        << "address"
        << "10.1.2.3" << 2 << QByteArray("or the interface of sender 3");
}

void TestSeveralHosts::namesTheHostAtFault() {
    QFETCH(QString, key);
    QFETCH(QString, value);
    QFETCH(int, status);
    QFETCH(QByteArray, says);
    QJsonObject sides = hosts({2, 3, 4}, {1});
    QJsonArray senders = sides[QStringLiteral("sender")].toArray();
    QJsonObject third = senders[2].toObject();
    third.insert(key, value);
    senders[2] = third;
    sides.insert(QStringLiteral("sender"), senders);
    CliProcess cli(m_run->runArguments(write(sides, streamTest(0.2), {})));
    QCOMPARE(cli.waitForEnd(), status);
    QVERIFY2(cli.errorText().contains(says), cli.errorText());
}

QTEST_GUILESS_MAIN(TestSeveralHosts)
#include "tst_severalhosts.moc"
