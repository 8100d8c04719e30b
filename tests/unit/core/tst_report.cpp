// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/plural.h"
#include "core/report/csvexport.h"
#include "core/report/curves.h"

#include <QTest>

#include <algorithm>

using namespace knobscope;

namespace {

Axis axis(const char* knob, Side side, const QStringList& texts) {
    Axis result{QLatin1String(knob), side, {}};
    for (const QString& text : texts)
        result.values << KnobValue(text);
    return result;
}

/// Three windows and two limits, three repeats each; throughput is 100 × cell + repeat.
StoredRun sampleRun() {
    StoredRun run;
    run.experiment.name = QStringLiteral("Window on the test link");
    run.experiment.axes << axis("sysctl:net.ipv4.tcp_limit_output_bytes", Side::Sender,
                                {"65536", "16384"})
                        << axis("window", Side::Both, {"64K", "32K", "128K"});
    run.experiment.plan.confidenceLevel = 0.99;
    run.cells = expandMatrix(run.experiment);
    int order = 0;
    for (int repeat = 0; repeat < 3; ++repeat) {
        for (const Cell& cell : run.cells) {
            SampleRecord sample;
            sample.cell = cell.index;
            sample.block = repeat;
            sample.order = order++;
            sample.metrics << Metric{Side::Whole, "throughput_mbit_s", 100.0 * cell.index + repeat}
                           << Metric{Side::Whole, "retransmits", 2}
                           << Metric{Side::Sender, "cpu_percent", 10.0 + repeat};
            run.samples << sample;
        }
    }
    return run;
}

void addCounter(SampleRecord& sample, Side side, const QString& name, qint64 delta) {
    sample.presentCounters[side]["snmp"] << name;
    sample.presentCounters[side]["snmp"].sort();
    if (delta != 0)
        sample.deltas << CounterDelta{side, "snmp", name, delta};
}

const CounterRow* findRow(const QList<CounterRow>& rows, Side side, const QString& name) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const CounterRow& candidate) {
        return candidate.host == side && candidate.name == name;
    });
    return row == rows.end() ? nullptr : &*row;
}

} // namespace

class TestReport : public QObject {
    Q_OBJECT
private slots:
    void drawsWindowAsX();
    void drawsOtherAxisAsX();
    void choosesScale_data();
    void choosesScale();
    void leavesOutFailedAndUnmeasured();
    void namesSidesInLabels();
    void drawsOneHostOfSeveral();
    void refusesWhatTheRunHasNot();
    void joinsSeveralSeriesAxes();
    void findsTheNaturalX();
    void tellsAbsentFromStill();
    void sortsByHowMuchCountersDiffer();
    void laysOutTheTable();
    void keepsTheTableNarrow();
    void saysWhatWasFlagged();
    void countsInPlainWords();
};

void TestReport::drawsWindowAsX() {
    const auto curves = curvesOf(sampleRun(), 1, "throughput_mbit_s");
    QVERIFY2(curves, curves ? "" : qPrintable(curves.error().text()));
    QCOMPARE(curves->title, QStringLiteral("Window on the test link"));
    QCOMPARE(curves->xLabel, QStringLiteral("Window (bytes)"));
    QCOMPARE(curves->yLabel, QStringLiteral("Throughput (Mbit/s)"));
    QCOMPARE(curves->seriesLabel, QStringLiteral("tcp_limit_output_bytes"));
    QVERIFY(curves->scale == AxisScale::Log2);
    QCOMPARE(curves->level, 0.99);
    QStringList xValues;
    for (const KnobValue& value : curves->xValues)
        xValues << value.text;
    QCOMPARE(xValues, QStringList({"64K", "32K", "128K"})); // as on the axis
    QCOMPARE(curves->series.size(), 2);
    QCOMPARE(curves->series[0].name, QStringLiteral("65536"));
    QCOMPARE(curves->series[1].name, QStringLiteral("16384"));
    QList<int> cells;
    for (const CurvePoint& point : curves->series[1].points)
        cells << point.cell;
    QCOMPARE(cells, QList<int>({4, 3, 5})); // from left to right
    const CurvePoint& point = curves->series[1].points[0];
    QCOMPARE(point.summary.n, 3);
    QCOMPARE(*point.summary.mean, 401.0);
    QCOMPARE(point.summary.level, 0.99);
    QVERIFY(point.summary.halfWidth);
}

void TestReport::drawsOtherAxisAsX() {
    const auto curves = curvesOf(sampleRun(), 0, "throughput_mbit_s");
    QVERIFY(curves);
    QCOMPARE(curves->xLabel, QStringLiteral("tcp_limit_output_bytes (bytes)"));
    QCOMPARE(curves->series.size(), 3);
    QCOMPARE(curves->series[0].points.size(), 2);
    QCOMPARE(*curves->series[0].points[0].x.number, 16384);
}

void TestReport::choosesScale_data() {
    QTest::addColumn<QStringList>("values");
    QTest::addColumn<int>("scale");
    QTest::newRow("powers of two") << QStringList{"1", "16K", "1M"} << int(AxisScale::Log2);
    QTest::newRow("other numbers") << QStringList{"16K", "24K"} << int(AxisScale::Linear);
    QTest::newRow("zero") << QStringList{"0", "1", "2"} << int(AxisScale::Linear);
    QTest::newRow("auto among numbers") << QStringList{"16K", "auto"} << int(AxisScale::Category);
    QTest::newRow("words") << QStringList{"on", "off"} << int(AxisScale::Category);
}

void TestReport::choosesScale() {
    QFETCH(QStringList, values);
    QFETCH(int, scale);
    StoredRun run;
    run.experiment.axes << axis("window", Side::Both, values);
    run.cells = expandMatrix(run.experiment);
    const auto curves = curvesOf(run, 0, "throughput_mbit_s");
    QVERIFY(curves);
    QCOMPARE(int(curves->scale), scale);
    QVERIFY(curves->series.isEmpty()); // nothing measured yet
    QCOMPARE(curves->xValues.size(), values.size());
}

void TestReport::leavesOutFailedAndUnmeasured() {
    StoredRun run = sampleRun();
    for (SampleRecord& sample : run.samples) {
        if (sample.cell == 0)
            sample.state = SampleState::Failed;
        if (sample.cell == 1)
            sample.state = SampleState::Flagged;
    }
    run.samples.removeIf([](const SampleRecord& sample) { return sample.cell == 3; });
    run.samples[2].metrics.clear();
    const auto curves = curvesOf(run, 1, "throughput_mbit_s");
    QVERIFY(curves);
    QCOMPARE(curves->series[0].points.size(), 2);
    QCOMPARE(curves->series[0].points[0].cell, 1);
    QCOMPARE(curves->series[0].points[0].flagged, 3);
    QCOMPARE(curves->series[0].points[1].summary.n, 2); // one without the metric
    QCOMPARE(curves->series[1].points.size(), 2);
}

void TestReport::namesSidesInLabels() {
    StoredRun run = sampleRun();
    const auto curves = curvesOf(run, 1, "cpu_percent", Side::Sender);
    QVERIFY(curves);
    QCOMPARE(curves->yLabel, QStringLiteral("CPU of the sender (%)"));
    run.experiment.axes[1].side = Side::Sender;
    run.experiment.axes << axis("window", Side::Receiver, {"64K"});
    QCOMPARE(curvesOf(run, 1, "throughput_mbit_s")->xLabel,
             QStringLiteral("Window of the sender (bytes)"));
}

void TestReport::drawsOneHostOfSeveral() {
    StoredRun run = sampleRun();
    for (SampleRecord& sample : run.samples)
        sample.metrics << Metric{{Side::Sender, 2}, "cpu_percent", 50};
    const auto curves = curvesOf(run, 1, "cpu_percent", {Side::Sender, 2});
    QVERIFY(curves);
    QCOMPARE(curves->yLabel, QStringLiteral("CPU of sender 2 (%)"));
    QCOMPARE(*curves->series[0].points[0].summary.mean, 50.0);
    const auto absent = curvesOf(run, 1, "cpu_percent", {Side::Sender, 1});
    QVERIFY(!absent);
    QVERIFY(absent.error().message.contains("of sender 1"));
    // Counters of hosts are told apart, and from their sum.
    addCounter(run.samples[0], Side::Sender, "x", 3);
    run.samples[0].deltas << CounterDelta{{Side::Sender, 2}, "snmp", "x", 2};
    QStringList rows;
    for (const CounterRow& row : countersThatMoved(run))
        rows << hostName(row.host);
    rows.sort();
    QCOMPARE(rows, QStringList({"sender", "sender 2"}));
}

void TestReport::refusesWhatTheRunHasNot() {
    const StoredRun run = sampleRun();
    for (const int wrongAxis : {-1, 2, 1000})
        QCOMPARE(curvesOf(run, wrongAxis, "throughput_mbit_s").error().code, Error::Code::BadInput);
    QVERIFY(curvesOf(run, 0, "transactions_s").error().text().contains("transactions_s"));
    QVERIFY(!curvesOf(run, 0, "cpu_percent", Side::Receiver));
    QVERIFY(!curvesOf(run, 0, "nonsense"));
    QVERIFY(!curvesOf(StoredRun{}, 0, "throughput_mbit_s"));
    StoredRun empty = run;
    empty.samples.clear();
    QVERIFY(curvesOf(empty, 0, "throughput_mbit_s"));
    QVERIFY(!curvesOf(empty, 0, "nonsense"));
}

void TestReport::joinsSeveralSeriesAxes() {
    StoredRun run = sampleRun();
    run.experiment.axes << axis("nodelay", Side::Both, {"on", "off"});
    run.cells = expandMatrix(run.experiment);
    for (SampleRecord& sample : run.samples)
        sample.cell = sample.cell * 2;
    const auto curves = curvesOf(run, 1, "throughput_mbit_s");
    QVERIFY(curves);
    QCOMPARE(curves->seriesLabel, QStringLiteral("tcp_limit_output_bytes, TCP_NODELAY"));
    QCOMPARE(curves->series.size(), 2);
    QCOMPARE(curves->series[0].name, QStringLiteral("65536, on"));
}

void TestReport::findsTheNaturalX() {
    QCOMPARE(defaultXAxis(sampleRun().experiment), 1);
    QCOMPARE(defaultXAxis(Experiment{}), 0);
    Experiment even;
    even.axes << axis("window", Side::Both, {"1", "2"}) << axis("mss", Side::Both, {"100", "200"});
    QCOMPARE(defaultXAxis(even), 0);
}

void TestReport::tellsAbsentFromStill() {
    StoredRun run = sampleRun();
    for (SampleRecord& sample : run.samples) {
        addCounter(sample, Side::Sender, "TcpOutSegs", 1000 + sample.block);
        addCounter(sample, Side::Receiver, "TcpInErrs", 0); // never moves
        // Moves in cell 1 only, and cell 2 does not have it.
        if (sample.cell != 2)
            addCounter(sample, Side::Sender, "TcpRetransSegs", sample.cell == 1 ? 7 : 0);
    }
    const QList<CounterRow> rows = countersThatMoved(run);
    QCOMPARE(rows.size(), 2);
    QVERIFY(!findRow(rows, Side::Receiver, "TcpInErrs"));
    const CounterRow* segments = findRow(rows, Side::Sender, "TcpOutSegs");
    QVERIFY(segments);
    QCOMPARE(segments->source, QStringLiteral("snmp"));
    QCOMPARE(segments->perCell.size(), 6);
    QCOMPARE(*segments->perCell[0], 1001.0);
    const CounterRow* again = findRow(rows, Side::Sender, "TcpRetransSegs");
    QVERIFY(again);
    QCOMPARE(*again->perCell[0], 0.0);
    QCOMPARE(*again->perCell[1], 7.0);
    QVERIFY(!again->perCell[2]);
}

void TestReport::sortsByHowMuchCountersDiffer() {
    StoredRun run = sampleRun();
    for (SampleRecord& sample : run.samples) {
        addCounter(sample, Side::Sender, "Even", 100);
        addCounter(sample, Side::Sender, "Some", 100 - sample.cell * 10);
        addCounter(sample, Side::Sender, "Falls", sample.cell == 0 ? -500 : 0);
        addCounter(sample, Side::Sender, "Few", sample.cell == 0 ? 5 : 0);
    }
    run.samples[0].state = SampleState::Failed; // does not count
    run.samples[0].deltas << CounterDelta{Side::Sender, "snmp", "Ghost", 1};
    const QList<CounterRow> rows = countersThatMoved(run);
    QStringList names;
    for (const CounterRow& row : rows)
        names << row.name;
    QCOMPARE(names, QStringList({"Falls", "Some", "Few", "Even"}));
    QCOMPARE(rows[0].spread, 1.0);
    QCOMPARE(rows[1].spread, 0.5);
    QCOMPARE(rows[2].spread, 1.0); // a handful of events says little
    QCOMPARE(rows[3].spread, 0.0);
    QVERIFY(countersThatMoved(StoredRun{}).isEmpty());
}

void TestReport::laysOutTheTable() {
    StoredRun run = sampleRun();
    run.experiment.axes.removeFirst();
    run.experiment.plan.confidenceLevel = 0.95;
    run.cells = expandMatrix(run.experiment);
    run.samples.removeIf([](const SampleRecord& sample) { return sample.cell != 1; });
    for (SampleRecord& sample : run.samples)
        sample.metrics[0].value += 900;
    QCOMPARE(cellTable(run),
             QStringLiteral("Window on the test link\n"
                            "Throughput in Mbit/s, mean ± half-width of its 95 % interval\n"
                            "\n"
                            "window  n  Mbit/s  ±  retrans  flags  failed\n"
                            "   64K  0       -  -        -\n"
                            "   32K  3    1001  2        2\n"
                            "  128K  0       -  -        -\n"));
}

void TestReport::keepsTheTableNarrow() {
    StoredRun run = sampleRun();
    run.experiment.axes[0] =
        axis("sysctl:net.ipv4.tcp_slow_start_after_idle_and_more", Side::Both, {"0", "1"});
    run.experiment.axes << axis("congestion_control", Side::Both, {"cubic"});
    run.cells = expandMatrix(run.experiment);
    const QString table = cellTable(run);
    QVERIFY(table.contains("A = tcp_slow_start_after_idle_and_more\nB = window\n"));
    const QStringList lines = table.split(QLatin1Char('\n'));
    for (const QString& line : lines)
        QVERIFY2(line.size() <= 72, qPrintable(line));
}

void TestReport::saysWhatWasFlagged() {
    StoredRun run = sampleRun();
    for (int i : {0, 6}) {
        run.samples[i].state = SampleState::Flagged;
        run.samples[i].flags << "sender: tcp_rmem requested 9999, host took 8192";
    }
    run.samples[1].state = SampleState::Failed;
    run.samples[1].reason = QStringLiteral("host2: contact lost");
    run.experiment.plan.repeatsMin = 2;
    run.experiment.plan.repeatsMax = 3;
    const QString table = cellTable(run);
    QVERIFY(table.contains("2 x flag: sender: tcp_rmem requested 9999, host took 8192\n"));
    QVERIFY(table.contains("1 x failed: host2: contact lost\n"));
    QVERIFY(table.contains("* target of ± 2.5 % not reached\n")); // cell 0: 0, 1, 2
    QVERIFY(cellTable(StoredRun{}).size() > 0);
}

void TestReport::countsInPlainWords() {
    const QString sample = QStringLiteral("sample");
    const QString entries = QStringLiteral("entries");
    QCOMPARE(counted(0, sample), QStringLiteral("0 samples"));
    QCOMPARE(counted(1, sample), QStringLiteral("1 sample"));
    QCOMPARE(counted(5000000000, sample), QStringLiteral("5000000000 samples"));
    QCOMPARE(counted(1, QStringLiteral("entry"), entries), QStringLiteral("1 entry"));
    QCOMPARE(counted(2, QStringLiteral("entry"), entries), QStringLiteral("2 entries"));
    QCOMPARE(nounFor(1, sample), sample);
}

QTEST_APPLESS_MAIN(TestReport)
#include "tst_report.moc"
