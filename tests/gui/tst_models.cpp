// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/format.h"
#include "app/gui/looks.h"
#include "app/gui/models/runlistmodel.h"
#include "app/gui/models/runtables.h"
#include "app/gui/models/valuelist.h"
#include "app/gui/wizard/experimentwizard.h"
#include "app/gui/wizard/problem.h"

#include <QAbstractItemModelTester>
#include <QtTest>

using namespace knobscope;

namespace {

RunInfo runInfo(qint64 id, const QString& name) {
    RunInfo info;
    info.id = id;
    info.name = name;
    info.state = RunState::Finished;
    info.started = QDateTime(QDate(2026, 1, static_cast<int>(id)), QTime(12, 0), Qt::UTC);
    info.sender = QStringLiteral("host1");
    info.receiver = QStringLiteral("host2");
    info.knobs = {QStringLiteral("window"), QStringLiteral("link:mtu")};
    info.samplesDone = 3;
    info.samplesPlanned = 9;
    return info;
}

SampleRecord sample(int cell, int order, double throughput) {
    SampleRecord record;
    record.cell = cell;
    record.order = order;
    record.started = QDateTime(QDate(2026, 1, 2), QTime(3, 4, 5), Qt::LocalTime);
    record.metrics = {{Side::Whole, QStringLiteral("throughput_mbit_s"), throughput},
                      {Side::Whole, QStringLiteral("retransmits"), 2},
                      {Side::Sender, QStringLiteral("cpu_percent"), 12.5}};
    return record;
}

/// Two cells, three samples: one of them flagged, one failed.
StoredRun storedRun() {
    StoredRun run;
    run.experiment = newExperiment();
    run.experiment.axes[0].values = {KnobValue(QStringLiteral("64K")),
                                     KnobValue(QStringLiteral("auto"))};
    run.cells = expandMatrix(run.experiment);
    run.samples = {sample(0, 0, 900), sample(0, 1, 910), sample(1, 2, 0)};
    run.samples[1].state = SampleState::Flagged;
    run.samples[1].flags = {QStringLiteral("sender: window clamped")};
    run.samples[2].state = SampleState::Failed;
    run.samples[2].reason = QStringLiteral("The connection was refused");
    run.samples[2].metrics.clear();
    HostFacts one{Side::Sender, QStringLiteral("host1"), {{QStringLiteral("kernel"), "6.1"}}};
    HostFacts two{Side::Receiver, QStringLiteral("host2"), {{QStringLiteral("kernel"), "6.12"}}};
    run.hosts = {one, two};
    return run;
}

int columnOf(const Table& table, const QString& header) {
    return static_cast<int>(table.header.indexOf(header));
}

} // namespace

class TestModels : public QObject {
    Q_OBJECT

private slots:
    void runListKeepsTheModelContract();
    void runListShowsRuns();
    void runListSaysInterrupted();
    void textTableKeepsTheModelContract();
    void counterTableKeepsAbsentApartFromZero();
    void cellTableSummarizes();
    void cellTableFollowsTheMetric();
    void columnsHaveOneNumberOfDecimals_data();
    void columnsHaveOneNumberOfDecimals();
    void failedSampleLeavesKnobsUnknown();
    void lookOfPalettes();
    void textsBreakWhereTheyMay();
    void sampleTableShowsFailures();
    void environmentMarksDifferences();
    void everyHostHasItsPlace();
    void remarksTellFlagsAndFailures();
    void knobTableShowsRequestedAndAccepted();
    void valueLists_data();
    void valueLists();
    void valueListsComeBack_data();
    void valueListsComeBack();
    void problemsHaveAPlace_data();
    void problemsHaveAPlace();
    void durations_data();
    void durations();
    void numbers();
};

void TestModels::runListKeepsTheModelContract() {
    RunListModel model;
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setRuns({runInfo(1, "a"), runInfo(2, "b")});
    QCOMPARE(model.rowCount(), 2);
    model.setRuns({});
    QCOMPARE(model.rowCount(), 0);
    QVERIFY(model.runAt(0) == nullptr);
    QVERIFY(model.runAt(-1) == nullptr);
}

void TestModels::runListShowsRuns() {
    RunListModel model;
    model.setRuns({runInfo(4, "Window"), runInfo(2, "Burst")});
    const auto text = [&](int row, int column) {
        return model.index(row, column).data().toString();
    };
    QCOMPARE(text(0, RunListModel::Name), "Window");
    QCOMPARE(text(0, RunListModel::Hosts), QStringLiteral("host1 → host2"));
    QCOMPARE(text(0, RunListModel::Knobs), "Window, MTU");
    QCOMPARE(text(1, RunListModel::Samples), "3 of 9");
    QCOMPARE(text(1, RunListModel::State), "finished");
    QCOMPARE(model.rowOf(2), 1);
    QCOMPARE(model.rowOf(3), -1);
    QVERIFY(model.index(0, RunListModel::Started).data(RunListModel::kSortRole).toDateTime() >
            model.index(1, RunListModel::Started).data(RunListModel::kSortRole).toDateTime());
    for (int column = 0; column < model.columnCount(); ++column)
        QVERIFY(!model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString().isEmpty());
}

void TestModels::runListSaysInterrupted() {
    RunInfo info = runInfo(1, "a");
    info.state = RunState::Running;
    QCOMPARE(stateText(info), "running");
    info.resumable = true; // its program died
    QCOMPARE(stateText(info), "interrupted");
}

void TestModels::textTableKeepsTheModelContract() {
    TextTableModel model;
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    const Table table = sampleTable(storedRun());
    model.setTable(table.header, table.rows);
    QCOMPARE(model.rowCount(), 3);
    model.appendRow(table.rows.first());
    QCOMPARE(model.rowCount(), 4);
    model.appendRow({}); // shorter than the header
    QVERIFY(!model.index(4, 0).data().isValid());
    model.setTable({}, {});
    QCOMPARE(model.columnCount(), 0);
}

void TestModels::counterTableKeepsAbsentApartFromZero() {
    CounterRow row;
    row.host = Side::Receiver;
    row.source = QStringLiteral("netstat");
    row.name = QStringLiteral("TcpRetransSegs");
    row.perCell = {std::nullopt, 0.0};
    CounterRow still = row;
    row.perCell = {std::nullopt, 20.0};
    row.spread = 0.5;
    CounterRow few = row;
    few.perCell = {0.0, 1.0};
    few.spread = 1;
    const Table table = counterTable(storedRun(), {row, few, still});
    QCOMPARE(table.header.size(), 6);
    QCOMPARE(table.rows.size(), 2); // not what is 0 everywhere
    QCOMPARE(table.header[4], "64K");
    QVERIFY(table.tips[4].contains(QStringLiteral("Window 64K")));
    const TextTableModel::Row& cells = table.rows[0];
    QCOMPARE(cells[0].text, "receiver");
    QCOMPARE(cells[2].text, "TcpRetransSegs");
    QCOMPARE(cells[3].text, "50 %");
    QCOMPARE(cells[4].text, absentText());
    QCOMPARE(cells[5].text, "20");
    QVERIFY(cells[4].sort.toDouble() < cells[5].sort.toDouble());
    // A spread of few events says nothing, and stands behind all others.
    QCOMPARE(table.rows[1][3].text, absentText());
    QVERIFY(table.rows[1][3].sort.toDouble() < 0);
}

void TestModels::cellTableSummarizes() {
    const Table table =
        cellSummaryTable(storedRun(), QStringLiteral("throughput_mbit_s"), Side::Whole);
    QCOMPARE(table.rows.size(), 2);
    const int mean = columnOf(table, QStringLiteral("Throughput (Mbit/s)"));
    QVERIFY2(mean > 0, qPrintable(table.header.join(QLatin1Char('|'))));
    QCOMPARE(table.rows[0][mean].text, "905");
    QCOMPARE(table.rows[0][mean - 1].text, "2");
    // t(0.975, 1 degree of freedom) = 12.7062; s / sqrt(n) = 5
    QVERIFY(std::abs(table.rows[0][mean + 1].sort.toDouble() - 63.531) < 0.01);
    QVERIFY(table.rows[0].last().text.contains(QStringLiteral("clamped")));
    // The cell whose only attempt failed has no mean, not zero.
    QCOMPARE(table.rows[1][mean - 1].text, "0");
    QCOMPARE(table.rows[1][mean].text, absentText());
    QCOMPARE(table.rows[1][mean + 1].text, absentText());
}

void TestModels::cellTableFollowsTheMetric() {
    const Table table = cellSummaryTable(storedRun(), QStringLiteral("cpu_percent"), Side::Sender);
    const int mean = columnOf(table, QStringLiteral("CPU of the sender (%)"));
    QVERIFY2(mean > 0, qPrintable(table.header.join(QLatin1Char('|'))));
    QCOMPARE(table.rows[0][mean].text, "12.5");
}

void TestModels::columnsHaveOneNumberOfDecimals_data() {
    QTest::addColumn<QList<double>>("values");
    QTest::addColumn<QStringList>("texts");
    QTest::newRow("whole") << QList<double>{3, 0, 120000} << QStringList{"3", "0", "120000"};
    QTest::newRow("rates") << QList<double>{952.62, 947, 9.5}
                           << QStringList{"952.6", "947.0", "9.5"};
    QTest::newRow("small") << QList<double>{0.01234, 0} << QStringList{"0.01234", "0.00000"};
    QTest::newRow("mixed") << QList<double>{12345.6, 0.3333} << QStringList{"12345.6", "0.3"};
}

void TestModels::columnsHaveOneNumberOfDecimals() {
    QFETCH(QList<double>, values);
    QFETCH(QStringList, texts);
    TextTableModel model;
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setTable({QStringLiteral("Number")}, {});
    for (const double value : values) {
        TableCell cell;
        cell.text = numberText(value);
        cell.value = value;
        model.appendRow({cell});
    }
    for (int row = 0; row < texts.size(); ++row)
        QCOMPARE(model.index(row, 0).data().toString(), texts[row]);
}

void TestModels::failedSampleLeavesKnobsUnknown() {
    KnobState state;
    state.knob = QStringLiteral("link:mtu");
    state.requested = QStringLiteral("1500");
    state.accepted = QStringLiteral("1500");
    state.status = QStringLiteral("unchanged");
    const StoredRun run = storedRun();
    const Table table = knobsUnknown(knobTable(run.experiment, run.cells[0], {state}));
    QCOMPARE(table.rows[1][3].text, absentText());
    QVERIFY(table.rows[1][4].text.startsWith(QStringLiteral("unknown")));
    QCOMPARE(table.rows[0][4].text, "of the test");
}

void TestModels::lookOfPalettes() {
    QPalette dark;
    dark.setColor(QPalette::Window, QColor(0x31, 0x36, 0x3b));
    dark.setColor(QPalette::Base, QColor(0x23, 0x26, 0x29));
    dark.setColor(QPalette::Text, QColor(0xef, 0xf0, 0xf1));
    dark.setColor(QPalette::PlaceholderText, QColor(0, 0, 0, 128)); // as some themes leave it
    QVERIFY(isDark(dark));
    QVERIFY(withReadableHints(dark).color(QPalette::PlaceholderText).lightness() > 140);
    QPalette light;
    light.setColor(QPalette::Window, QColor(0xef, 0xef, 0xef));
    light.setColor(QPalette::Base, Qt::white);
    light.setColor(QPalette::Text, Qt::black);
    light.setColor(QPalette::PlaceholderText, QColor(0x55, 0x55, 0x55));
    QCOMPARE(withReadableHints(light).color(QPalette::PlaceholderText), QColor(0x55, 0x55, 0x55));
}

void TestModels::textsBreakWhereTheyMay() {
    QCOMPARE(unbroken(QStringLiteral("Sample 3: 956.4 Mbit/s")),
             QStringLiteral("Sample 3: 956.4\u00a0Mbit\u2060/\u2060s"));
    QCOMPARE(breakable(QStringLiteral("a short text/path")), "a short text/path");
    const QString path = QStringLiteral("/some/folder").repeated(10);
    QVERIFY(breakable(path).contains(QChar(0x200b)));
    QCOMPARE(breakable(path).remove(QChar(0x200b)), path);
}

void TestModels::sampleTableShowsFailures() {
    const Table table = sampleTable(storedRun());
    QCOMPARE(table.rows.size(), 3);
    for (const TextTableModel::Row& row : table.rows)
        QCOMPARE(row.size(), table.header.size());
    QCOMPARE(table.rows[2][2].text, "failed");
    QCOMPARE(table.rows[2].last().text, "The connection was refused");
    QCOMPARE(table.rows[0][columnOf(table, QStringLiteral("CPU sender (%)"))].text, "12.5");
    QCOMPARE(table.rows[0][columnOf(table, QStringLiteral("CPU receiver (%)"))].text, absentText());
}

void TestModels::environmentMarksDifferences() {
    const Table table = environmentTable(storedRun());
    QCOMPARE(table.rows.size(), 2); // host and kernel
    const TextTableModel::Row& kernel = table.rows.last();
    QCOMPARE(kernel[0].text, "kernel");
    QCOMPARE(kernel[1].text, "6.1");
    QCOMPARE(kernel[2].text, "6.12");
    QVERIFY(kernel[1].strong);
    StoredRun one = storedRun();
    one.hosts.removeLast();
    QCOMPARE(environmentTable(one).rows.last()[2].text, absentText());
    QVERIFY(!environmentTable(one).rows.last()[1].strong);
}

void TestModels::everyHostHasItsPlace() {
    StoredRun run = storedRun();
    run.experiment.moreSenders = {HostSpec{false, "host3", "10.0.0.3", "test0"}};
    run.hosts = {HostFacts{{Side::Sender, 1}, "host1", {{"kernel", "6.1"}, {"arch", "x86_64"}}},
                 HostFacts{{Side::Sender, 2}, "host3", {{"kernel", "6.2"}, {"arch", "x86_64"}}},
                 HostFacts{Side::Receiver, "host2", {{"kernel", "6.1"}, {"arch", "x86_64"}}}};
    const Table environment = environmentTable(run);
    QCOMPARE(environment.header, QStringList({"Fact", "Sender 1", "Sender 2", "Receiver"}));
    QCOMPARE(environment.rows.size(), 3); // arch, host, kernel
    QVERIFY(!environment.rows[0][1].strong);
    QCOMPARE(environment.rows[1][2].text, "host3");
    QCOMPARE(environment.rows[2][2].text, "6.2");
    QVERIFY(environment.rows[2][3].strong);

    CounterRow row;
    row.host = {Side::Sender, 2};
    row.name = QStringLiteral("TcpOutSegs");
    row.perCell = {20.0, 30.0};
    QCOMPARE(counterTable(run, {row}).rows[0][0].text, "sender 2");
    run.samples[0].metrics.append(Metric{{Side::Sender, 2}, "cpu_percent", 33});
    const Table cells = cellSummaryTable(run, QStringLiteral("cpu_percent"), {Side::Sender, 2});
    const int mean = columnOf(cells, QStringLiteral("CPU of sender 2 (%)"));
    QVERIFY2(mean > 0, qPrintable(cells.header.join(QLatin1Char('|'))));
    QCOMPARE(cells.rows[0][mean].text, "33");
    KnobState state{{Side::Sender, 2}, "link:mtu", "1400", "1400", "1500", "applied", {}};
    QCOMPARE(knobTable(run.experiment, run.cells[0], {state}).rows.last()[1].text, "sender 2");
}

void TestModels::remarksTellFlagsAndFailures() {
    const QStringList lines = remarks(storedRun());
    QCOMPARE(lines.size(), 2);
    QVERIFY(lines[0].contains(QStringLiteral("window clamped")));
    QVERIFY(lines[1].contains(QStringLiteral("The connection was refused")));
}

void TestModels::knobTableShowsRequestedAndAccepted() {
    KnobState state;
    state.host = Side::Sender;
    state.knob = QStringLiteral("sysctl:net.ipv4.tcp_rmem");
    state.requested = QStringLiteral("9999");
    state.accepted = QStringLiteral("8192");
    state.status = QStringLiteral("adjusted");
    const StoredRun run = storedRun();
    const Table table = knobTable(run.experiment, run.cells[0], {state});
    QCOMPARE(table.rows.size(), 2); // the window, then the host knob
    QCOMPARE(table.rows[0][2].text, "64K");
    QCOMPARE(table.rows[1][2].text, "9999");
    QCOMPARE(table.rows[1][3].text, "8192");
    QVERIFY(table.rows[1][3].strong);
    QCOMPARE(table.rows[0][3].text, absentText());
    // What the kernel made of the window is known from the cell's sample before.
    KnobState window{Side::Sender,
                     QStringLiteral("window"),
                     QStringLiteral("64K"),
                     QStringLiteral("32K"),
                     std::nullopt,
                     QStringLiteral("adjusted"),
                     {}};
    const Table later = knobTable(run.experiment, run.cells[0], {state, window}, {window});
    QCOMPARE(later.rows.size(), 2);
    QCOMPARE(later.rows[0][3].text, "32K");
    QVERIFY(later.rows[0][3].strong);
}

void TestModels::valueLists_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QStringList>("values");
    QTest::newRow("blanks") << "32K 64K  auto" << QStringList{"32K", "64K", "auto"};
    QTest::newRow("commas") << "32K, 64K,auto," << QStringList{"32K", "64K", "auto"};
    QTest::newRow("triples") << "4096 131072 6291456, 1 2 3"
                             << QStringList{"4096 131072 6291456", "1 2 3"};
    QTest::newRow("quotes") << "\"4096 131072 6291456\" \"1  2 3\""
                            << QStringList{"4096 131072 6291456", "1 2 3"};
    QTest::newRow("quotes and comma") << "\"1 2\", 3" << QStringList{"1 2", "3"};
    QTest::newRow("comma in quotes") << "\"0,1\" 2" << QStringList{"0,1", "2"};
    QTest::newRow("empty") << "" << QStringList{};
    QTest::newRow("blank") << "  \t " << QStringList{};
    QTest::newRow("only commas") << ",,," << QStringList{};
}

void TestModels::valueLists() {
    QFETCH(QString, text);
    QFETCH(QStringList, values);
    const auto parsed = parseValueList(text);
    QVERIFY(parsed);
    QStringList texts;
    for (const KnobValue& value : *parsed)
        texts.append(value.text);
    QCOMPARE(texts, values);
    const auto open = parseValueList(text + QLatin1Char('"'));
    QVERIFY(!open);
    QCOMPARE(open.error().code, Error::Code::BadInput);
}

void TestModels::valueListsComeBack_data() {
    QTest::addColumn<QStringList>("values");
    QTest::newRow("plain") << QStringList{"32K", "auto"};
    QTest::newRow("one triple") << QStringList{"4096 131072 6291456"};
    QTest::newRow("mixed") << QStringList{"auto", "4096 131072 6291456"};
    QTest::newRow("comma inside") << QStringList{"0,2", "1,3"};
    QTest::newRow("none") << QStringList{};
}

void TestModels::valueListsComeBack() {
    QFETCH(QStringList, values);
    QList<KnobValue> list;
    for (const QString& value : values)
        list.append(KnobValue(value));
    const auto parsed = parseValueList(formatValueList(list));
    QVERIFY(parsed);
    QCOMPARE(parsed->size(), list.size());
    for (qsizetype i = 0; i < list.size(); ++i)
        QCOMPARE(parsed->at(i).text, values[i]);
}

void TestModels::problemsHaveAPlace_data() {
    QTest::addColumn<QString>("what");
    QTest::addColumn<QString>("part");
    QTest::addColumn<int>("row");
    QTest::newRow("sound") << "sound"
                           << "" << -1;
    QTest::newRow("no name") << "name"
                             << "name" << -1;
    QTest::newRow("address") << "address"
                             << "hosts.receiver" << -1;
    QTest::newRow("address of a further host") << "further"
                                               << "hosts.sender[1].address" << -1;
    QTest::newRow("unknown knob") << "knob"
                                  << "axes" << 1;
    QTest::newRow("bad value") << "value"
                               << "axes" << 0;
    QTest::newRow("exclusion") << "exclusion"
                               << "exclude" << -1;
    QTest::newRow("repeats") << "repeats"
                             << "plan" << -1;
}

void TestModels::problemsHaveAPlace() {
    QFETCH(QString, what);
    QFETCH(QString, part);
    QFETCH(int, row);
    Experiment experiment = newExperiment();
    if (what == "name")
        experiment.name.clear();
    else if (what == "address")
        experiment.receiver.address = QStringLiteral("not an address");
    else if (what == "further")
        experiment.moreSenders = {HostSpec{true, {}, {}, "lo"}};
    else if (what == "knob")
        experiment.axes.append({QStringLiteral("windw"), Side::Both, {KnobValue(qint64{1})}});
    else if (what == "value")
        experiment.axes[0].values.append(KnobValue(QStringLiteral("12 parsecs")));
    else if (what == "exclusion")
        experiment.exclude.append({{QStringLiteral("burst"), KnobValue(qint64{1})}});
    else if (what == "repeats")
        experiment.plan.repeatsMax = 1;
    const auto problem = problemOf(experiment);
    QCOMPARE(problem.has_value(), !part.isEmpty());
    if (!problem)
        return;
    QVERIFY2(problem->isIn(part), qPrintable(problem->path));
    QCOMPARE(problem->row("axes"), row);
    QVERIFY(!problem->text.isEmpty());
    QVERIFY(!problem->text.contains(problem->path + QLatin1Char(':')));
}

void TestModels::durations_data() {
    QTest::addColumn<double>("seconds");
    QTest::addColumn<QString>("text");
    QTest::newRow("zero") << 0.0 << "0 s";
    QTest::newRow("part") << 0.2 << "1 s";
    QTest::newRow("minute") << 65.0 << "1 min 05 s";
    QTest::newRow("hours") << 7800.0 << "2 h 10 min";
    QTest::newRow("negative") << -1.0 << absentText();
    QTest::newRow("endless") << qInf() << absentText();
    QTest::newRow("NaN") << qQNaN() << absentText();
}

void TestModels::durations() {
    QFETCH(double, seconds);
    QTEST(durationText(seconds), "text");
}

void TestModels::numbers() {
    QCOMPARE(numberText(941.234), "941.2");
    QCOMPARE(numberText(12345678.6), "12345679");
    QCOMPARE(numberText(0.0), "0");
    QCOMPARE(numberText(0.012345), "0.01235");
    QCOMPARE(numberText(std::nullopt), absentText());
    QCOMPARE(numberText(qQNaN()), absentText());
}

QTEST_MAIN(TestModels)
#include "tst_models.moc"
