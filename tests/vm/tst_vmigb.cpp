// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/vm/vmrun.h"

#include <QTest>

using namespace knobscope;
using namespace knobscope::test;

namespace {

const QList<qint64> kTimes{0, 30, 100, 250, 1000}; // µs between interrupts, at least
const QList<qint64> kWindows{32 << 10, 64 << 10, 256 << 10};

/// Means of a cell's samples.
struct Figures {
    double rate = 0;       ///< Mbit/s or transactions/s
    double interrupts = 0; ///< of the receiver's card, per second
    int samples = 0;
};
/// By µs between interrupts and window.
using Table = QMap<std::pair<qint64, qint64>, Figures>;

/// The card's lines of /proc/interrupts are named by the interface and the queue.
qint64 interruptsOf(const SampleRecord& sample, const QString& interface) {
    qint64 sum = 0;
    for (const CounterDelta& delta : sample.deltas) {
        if (delta.host == Side::Receiver && delta.source == QLatin1String("interrupts") &&
            delta.name.contains(interface))
            sum += delta.delta;
    }
    return sum;
}

Table tableOf(const StoredRun& run, const QString& metric, const QString& interface) {
    Table table;
    for (const SampleRecord& sample : run.samples) {
        if (!sample.measured())
            continue;
        const QList<KnobValue>& values = run.cells.at(sample.cell).values;
        Figures& figures = table[{values[0].number.value_or(-1), values[1].number.value_or(-1)}];
        const double seconds = sample.metric(QStringLiteral("elapsed_s")).value_or(qQNaN());
        const double n = ++figures.samples;
        const auto add = [n](double& mean, double value) { mean += (value - mean) / n; };
        add(figures.rate, sample.metric(metric).value_or(qQNaN()));
        add(figures.interrupts, static_cast<double>(interruptsOf(sample, interface)) / seconds);
    }
    return table;
}

QString textOf(const Table& table) {
    QString text;
    for (const qint64 time : kTimes) {
        text += QStringLiteral("\n%1 us:").arg(time, 5);
        for (const qint64 window : kWindows) {
            const Figures cell = table.value({time, window});
            text += QStringLiteral("  %1K %2 (%3 interrupts/s)")
                        .arg(window >> 10, 3)
                        .arg(cell.rate, 7, 'f', 0)
                        .arg(cell.interrupts, 6, 'f', 0);
        }
    }
    return text;
}

QJsonObject sweep(const QString& kind, double seconds) {
    return {
        {QStringLiteral("test"), QJsonObject{{QStringLiteral("kind"), kind},
                                             {QStringLiteral("seconds"), seconds},
                                             {QStringLiteral("warmup_seconds"), 0.05}}},
        {QStringLiteral("axes"), QJsonArray{axis(QStringLiteral("coalesce:rx-usecs"),
                                                 QStringLiteral("both"), {0, 30, 100, 250, 1000}),
                                            axis(QStringLiteral("window"), QStringLiteral("both"),
                                                 {"32K", "64K", "256K"})}},
        {QStringLiteral("plan"),
         QJsonObject{{QStringLiteral("repeats"), 2}, {QStringLiteral("seed"), 1}}}};
}

} // namespace

/// Coalescing of igb: what a study of 2004 found on real cards is to be found again.
class TestVmIgb : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void cleanup();
    void smallWindowsFallOffFirst();
    void roundTripsWaitForInterrupts();
    void manyKnobsAtOnceComeBack();

private:
    void measure(const QString& kind, double seconds, const QString& metric, Table& table);
    VmRun m_vm;
};

void TestVmIgb::initTestCase() {
    QVERIFY2(m_vm.up(QStringLiteral("igb")), qPrintable(m_vm.error()));
}

void TestVmIgb::cleanup() {
    const QStringList changes = m_vm.changes();
    QVERIFY2(changes.isEmpty(), qPrintable(changes.join(u'\n')));
}

void TestVmIgb::measure(const QString& kind, double seconds, const QString& metric, Table& table) {
    const VmRun::Outcome outcome = m_vm.run(sweep(kind, seconds));
    QVERIFY2(outcome.status == 0, outcome.errors);
    QCOMPARE(outcome.run.info.state, RunState::Finished);
    QCOMPARE(outcome.run.samples.size(), 30);
    for (const SampleRecord& sample : outcome.run.samples) {
        for (const KnobState& knob : sample.knobs)
            QCOMPARE(knob.accepted, knob.requested);
    }
    table = tableOf(outcome.run, metric, m_vm.lab().host(1).testInterface);
    QCOMPARE(table.size(), kTimes.size() * kWindows.size());
    qInfo("%s, %s:%s", qPrintable(kind), qPrintable(metric), qPrintable(textOf(table)));
    // The card keeps to the time between interrupts. Setting up and warming up count as well.
    for (auto cell = table.cbegin(); cell != table.cend(); ++cell) {
        const auto [time, window] = cell.key();
        QVERIFY2(cell->interrupts > 0, qPrintable(textOf(table)));
        if (time >= 100)
            QVERIFY2(cell->interrupts < 1.3e6 / static_cast<double>(time) + 100,
                     qPrintable(textOf(table)));
    }
}

/// A window is sent once in the time between two interrupts, so that the smallest is the first
/// that the card makes wait.
void TestVmIgb::smallWindowsFallOffFirst() {
    Table table;
    measure(QStringLiteral("tcp_stream"), 1, QStringLiteral("throughput_mbit_s"), table);
    if (QTest::currentTestFailed())
        return;
    QList<qsizetype> falls; // by window: place in kTimes of the first that costs a quarter
    for (const qint64 window : kWindows) {
        double best = 0;
        for (const qint64 time : kTimes)
            best = qMax(best, table.value({time, window}).rate);
        const auto fallen = std::find_if(kTimes.cbegin(), kTimes.cend(), [&](qint64 time) {
            return time > 0 && table.value({time, window}).rate < 0.75 * best;
        });
        QVERIFY2(fallen != kTimes.cend(), qPrintable(textOf(table)));
        falls << fallen - kTimes.cbegin();
    }
    QVERIFY2(falls[0] <= falls[1] && falls[1] <= falls[2] && falls[0] < falls[2],
             qPrintable(textOf(table)));
    for (const qint64 time : {250, 1000}) {
        const auto rate = [&](int at) { return table.value({time, kWindows[at]}).rate; };
        QVERIFY2(1.3 * rate(0) < rate(1) && 1.3 * rate(1) < rate(2), qPrintable(textOf(table)));
    }
}

/// A round trip waits for two interrupts, however large the window.
void TestVmIgb::roundTripsWaitForInterrupts() {
    Table table;
    measure(QStringLiteral("tcp_rr"), 0.5, QStringLiteral("transactions_s"), table);
    if (QTest::currentTestFailed())
        return;
    for (const qint64 window : kWindows) {
        const auto at = [&](qint64 time) { return table.value({time, window}); };
        for (qsizetype i = 1; i < kTimes.size(); ++i)
            QVERIFY2(at(kTimes[i]).rate < at(kTimes[i - 1]).rate, qPrintable(textOf(table)));
        QVERIFY2(at(0).rate > 10 * at(1000).rate, qPrintable(textOf(table)));
        QVERIFY2(at(0).interrupts > 0.9 * at(0).rate, qPrintable(textOf(table)));
        QVERIFY2(at(1000).rate < 500 && at(250).rate < 2000, qPrintable(textOf(table)));
    }
}

/// Each of them can move others, on the way there and back; cleanup() sees what is left of it.
void TestVmIgb::manyKnobsAtOnceComeBack() {
    QJsonArray knobs = manyKnobs();
    knobs.append(axis(QStringLiteral("private:legacy-rx"), QStringLiteral("both"), {"on"}));
    const VmRun::Outcome outcome =
        m_vm.run({{QStringLiteral("test"),
                   QJsonObject{{QStringLiteral("kind"), QStringLiteral("tcp_stream")},
                               {QStringLiteral("seconds"), 0.5}}},
                  {QStringLiteral("axes"), knobs},
                  {QStringLiteral("plan"), QJsonObject{{QStringLiteral("repeats"), 1}}}});
    QCOMPARE(problemOf(outcome, knobs), QString());
}

QTEST_GUILESS_MAIN(TestVmIgb)
#include "tst_vmigb.moc"
