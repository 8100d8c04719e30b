// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/lab/labrun.h"

#include <QElapsedTimer>
#include <QFile>
#include <QJsonArray>
#include <QTest>

#include <unistd.h>

using namespace knobscope;
using namespace knobscope::test;

/// What a sample says against what others have seen of the same traffic: interface counters, nstat,
/// /proc/stat, read around the run by programs that are not ours.
class TestWitness : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void bytesAreThoseOfTheInterface_data();
    void bytesAreThoseOfTheInterface();
    void retransmitsAreThoseOfTheKernel();
    void eachTransactionIsTwoSegments();
    void lossIsThatOfTheBottleneck();
    void cpuIsThatOfProcStat();

private:
    struct Readings {
        qint64 bytes = 0; ///< sent by host1 and host2 on the test network
        qint64 packets = 0;
        qint64 retransmits = 0; ///< of both
    };
    /// Runs one sample of a test between two readings.
    SampleRecord measure(const QJsonObject& test);
    [[nodiscard]] Readings read() const;
    [[nodiscard]] double busySeconds() const; ///< of all CPUs, as /proc/stat has them

    Lab m_lab;
    std::unique_ptr<LabRun> m_run;
    qint64 m_runs = 0;
    Readings m_moved;
};

void TestWitness::initTestCase() {
    // A queue before the bottleneck that is shorter than what senders have under way, so that it
    // drops some.
    QVERIFY2(
        m_lab.up({QStringLiteral("--rate"), QStringLiteral("100mbit"), QStringLiteral("--burst"),
                  QStringLiteral("32k"), QStringLiteral("--latency"), QStringLiteral("1ms")}),
        qPrintable(m_lab.error()));
    m_run = std::make_unique<LabRun>(m_lab);
}

TestWitness::Readings TestWitness::read() const {
    Readings readings;
    for (int i = 0; i < 2; ++i) {
        const Lab::Host& host = m_lab.host(i);
        const auto counter = [&](const char* name) {
            return m_lab
                .exec(host.name, {"cat", QStringLiteral("/sys/class/net/%1/statistics/%2")
                                             .arg(host.testInterface, QLatin1String(name))})
                .out.trimmed()
                .toLongLong();
        };
        readings.bytes += counter("tx_bytes");
        readings.packets += counter("tx_packets");
        readings.retransmits += m_run->nstat(host.name, QStringLiteral("TcpRetransSegs"));
    }
    return readings;
}

double TestWitness::busySeconds() const {
    QFile file(QStringLiteral("/proc/stat"));
    if (!file.open(QIODevice::ReadOnly))
        return -1;
    const auto words = file.readLine().simplified().split(' ');
    double ticks = 0;
    for (int i = 1; i <= 8 && i < words.size(); ++i) {
        if (i != 4 && i != 5) // idle, iowait
            ticks += words[i].toDouble();
    }
    return ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

SampleRecord TestWitness::measure(const QJsonObject& test) {
    const QString file =
        m_run->write({{QStringLiteral("test"), test},
                      {QStringLiteral("axes"), QJsonArray()},
                      {QStringLiteral("plan"), QJsonObject{{QStringLiteral("repeats"), 1}}}});
    const Readings before = read();
    CliProcess cli(m_run->runArguments(file));
    const int status = cli.waitForEnd();
    const Readings after = read();
    m_moved = {after.bytes - before.bytes, after.packets - before.packets,
               after.retransmits - before.retransmits};
    if (status != 0) {
        qWarning() << status << cli.errorText();
        return {};
    }
    return m_run->load(++m_runs).samples.value(0);
}

void TestWitness::bytesAreThoseOfTheInterface_data() {
    QTest::addColumn<QJsonObject>("test");
    QTest::newRow("stream") << QJsonObject{{"kind", "tcp_stream"}, {"seconds", 1}};
    QTest::newRow("maerts") << QJsonObject{
        {"kind", "tcp_stream"}, {"seconds", 1}, {"direction", "from_receiver"}};
    QTest::newRow("both ways") << QJsonObject{
        {"kind", "tcp_stream"}, {"seconds", 1}, {"direction", "both"}, {"streams", 2}};
    QTest::newRow("datagrams") << QJsonObject{
        {"kind", "udp_stream"}, {"seconds", 1}, {"rate", 50'000'000}};
}

/// Headers make the frames larger than the payload: by 66 bytes for TCP, once for all the segments
/// that the device is to cut itself; beside them are those that acknowledge. What was lost was sent
/// twice.
void TestWitness::bytesAreThoseOfTheInterface() {
    QFETCH(QJsonObject, test);
    const SampleRecord sample = measure(test);
    double payload = 0;
    for (const Side side : {Side::Sender, Side::Receiver}) {
        for (const char* name : {"bytes_sent", "tcpi_bytes_retrans"})
            payload += sample.metric(QLatin1String(name), side).value_or(0);
    }
    QVERIFY(payload > 1e6);
    const double ratio = static_cast<double>(m_moved.bytes) / payload;
    QVERIFY2(ratio > 1.001 && ratio < 1.12, qPrintable(QString::number(ratio)));
}

void TestWitness::retransmitsAreThoseOfTheKernel() {
    const SampleRecord sample =
        measure({{"kind", "tcp_stream"}, {"seconds", 2}, {"streams", 4}, {"window", "2M"}});
    const auto told = sample.metric(QStringLiteral("retransmits"));
    QVERIFY(told);
    QVERIFY2(*told > 0, "the bottleneck lost nothing: the test shows nothing");
    // The kernel also counts the control connections, which may lose a segment too.
    QVERIFY2(qAbs(*told - static_cast<double>(m_moved.retransmits)) <= 3,
             qPrintable(QStringLiteral("%1, the kernel %2").arg(*told).arg(m_moved.retransmits)));
    double series = 0;
    for (const auto& points : sample.series) {
        for (const SeriesPoint& point : points)
            series += point.retransmits.value_or(0);
    }
    QCOMPARE(series, *told);
}

/// With TCP_NODELAY one byte is one segment, and the response carries the acknowledgement.
void TestWitness::eachTransactionIsTwoSegments() {
    const SampleRecord sample = measure({{"kind", "tcp_rr"}, {"seconds", 1}, {"nodelay", "on"}});
    const double transactions =
        sample.metric(QStringLiteral("bytes_sent"), Side::Sender).value_or(0);
    QVERIFY(transactions > 100);
    const double packets = static_cast<double>(m_moved.packets) - 2 * transactions;
    QVERIFY2(
        packets >= 0 && packets < 60 + transactions * 0.02,
        qPrintable(
            QStringLiteral("%1 packets beside %2 transactions").arg(packets).arg(transactions)));
}

/// More than the bottleneck lets through: the rest is lost, and told as such.
void TestWitness::lossIsThatOfTheBottleneck() {
    const SampleRecord sample = measure({{"kind", "udp_stream"}, {"seconds", 1}, {"streams", 2}});
    const double loss = sample.metric(QStringLiteral("loss_percent")).value_or(-1);
    const double delivered = sample.metric(QStringLiteral("throughput_mbit_s")).value_or(0);
    const double sent = sample.metric(QStringLiteral("sent_mbit_s"), Side::Sender).value_or(0);
    QVERIFY2(delivered > 70 && delivered < 101, qPrintable(QString::number(delivered)));
    QVERIFY2(sent > delivered * 1.2, qPrintable(QString::number(sent)));
    QVERIFY2(qAbs(loss - 100 * (1 - delivered / sent)) < 6, qPrintable(QString::number(loss)));
}

/// Both hosts are this machine: its own /proc/stat shows the same busy time meanwhile.
void TestWitness::cpuIsThatOfProcStat() {
    const QString file = m_run->write(
        {{QStringLiteral("test"),
          QJsonObject{{"kind", "tcp_rr"}, {"seconds", 3}, {"streams", 2}, {"burst", 8}}},
         {QStringLiteral("axes"), QJsonArray()},
         {QStringLiteral("plan"), QJsonObject{{QStringLiteral("repeats"), 1}}}});
    CliProcess cli(m_run->runArguments(file));
    QVERIFY2(cli.waitFor(
                 [](const QJsonObject& event) {
                     return event.value(QStringLiteral("event")) == QStringLiteral("run_started");
                 },
                 60000),
             cli.errorText());
    QElapsedTimer timer;
    timer.start();
    const double before = busySeconds();
    QVERIFY2(cli.waitForSample(), cli.errorText());
    const double busy = busySeconds() - before;
    const double seconds = static_cast<double>(timer.elapsed()) / 1000;
    QCOMPARE(cli.waitForEnd(), 0);
    const auto cpus = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
    const SampleRecord sample = m_run->load(++m_runs).samples.value(0);
    const double elapsed = sample.metric(QStringLiteral("elapsed_s")).value_or(0);
    QVERIFY(elapsed > 2.5 && elapsed < seconds);
    for (const Side side : {Side::Sender, Side::Receiver}) {
        const double told =
            sample.metric(QStringLiteral("cpu_percent"), side).value_or(-1) / 100 * elapsed * cpus;
        // What was busy before and after the sample cannot be more than that time had.
        const double least = busy - (seconds - elapsed) * cpus;
        QVERIFY2(told > 0.1 && told < busy + 0.3 && told > least - 0.3,
                 qPrintable(QStringLiteral("%1 s, /proc/stat %2 s").arg(told).arg(busy)));
    }
}

QTEST_GUILESS_MAIN(TestWitness)
#include "tst_witness.moc"
