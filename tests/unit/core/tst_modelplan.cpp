// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/plan.h"

#include <QTest>

#include <algorithm>
#include <limits>
#include <numeric>

using namespace knobscope;

namespace {

Axis axis(const char* knob, Side side, const QStringList& texts) {
    Axis result{QLatin1String(knob), side, {}};
    for (const QString& text : texts)
        result.values << KnobValue(text);
    return result;
}

Experiment twoAxes() {
    Experiment experiment;
    experiment.sender.ssh = QStringLiteral("host1");
    experiment.receiver.ssh = QStringLiteral("host2");
    experiment.axes << axis("window", Side::Both, {"32K", "64K", "auto"})
                    << axis("sysctl:net.ipv4.tcp_limit_output_bytes", Side::Sender,
                            {"16384", "65536"});
    return experiment;
}

QStringList labels(const Experiment& experiment) {
    QStringList result;
    for (const Cell& cell : expandMatrix(experiment))
        result << cellLabel(experiment, cell);
    return result;
}

} // namespace

class TestModelPlan : public QObject {
    Q_OBJECT
private slots:
    void lastAxisVariesFastest();
    void leavesOutExclusions();
    void expandsNoAxesToOneCell();
    void endsAtSenselessMatrices();
    void labelsTwinAxes();
    void givesHostSettingsToEachSide_data();
    void givesHostSettingsToEachSide();
    void givesTestSettingsToTheirSide();
    void blocksHoldEveryCellOnce();
    void ordersNeverChange();
    void ordersAreFair();
    void stopsAtTheTarget_data();
    void stopsAtTheTarget();
    void estimatesTime();
};

void TestModelPlan::lastAxisVariesFastest() {
    const QStringList expected{
        "window 32K, tcp_limit_output_bytes 16384",  "window 32K, tcp_limit_output_bytes 65536",
        "window 64K, tcp_limit_output_bytes 16384",  "window 64K, tcp_limit_output_bytes 65536",
        "window auto, tcp_limit_output_bytes 16384", "window auto, tcp_limit_output_bytes 65536"};
    QCOMPARE(labels(twoAxes()), expected);
    const QList<Cell> cells = expandMatrix(twoAxes());
    for (int i = 0; i < cells.size(); ++i)
        QCOMPARE(cells[i].index, i);
}

void TestModelPlan::leavesOutExclusions() {
    Experiment experiment = twoAxes();
    // 65536 and "64K" are one value, however they are written.
    experiment.exclude << Exclusion{{"window", KnobValue(qint64{65536})},
                                    {"sysctl:net.ipv4.tcp_limit_output_bytes",
                                     KnobValue(QStringLiteral("16K"))}}
                       << Exclusion{{"window", KnobValue(QStringLiteral("auto"))}};
    const QList<Cell> cells = expandMatrix(experiment);
    QCOMPARE(cells.size(), 3);
    QCOMPARE(countCells(experiment), 3);
    QCOMPARE(cells[2].index, 2);
    QCOMPARE(cellLabel(experiment, cells[2]),
             QStringLiteral("window 64K, tcp_limit_output_bytes 65536"));
    // An exclusion of a knob without an axis excludes nothing.
    experiment.exclude = {Exclusion{{"burst", KnobValue(qint64{1})}}};
    QCOMPARE(expandMatrix(experiment).size(), 6);
    QCOMPARE(countCells(experiment), 6);
}

void TestModelPlan::expandsNoAxesToOneCell() {
    Experiment experiment;
    QCOMPARE(expandMatrix(experiment).size(), 1);
    QCOMPARE(countCells(experiment), 1);
    QVERIFY(!cellLabel(experiment, expandMatrix(experiment)[0]).isEmpty());
    experiment.axes << axis("window", Side::Both, {});
    QCOMPARE(expandMatrix(experiment).size(), 0);
    QCOMPARE(countCells(experiment), 0);
}

void TestModelPlan::endsAtSenselessMatrices() {
    Experiment experiment;
    QStringList values;
    for (int i = 1; i <= 1000; ++i)
        values << QString::number(i);
    for (const char* knob : {"window", "message_size", "streams", "mss", "cpu"})
        experiment.axes << axis(knob, Side::Both, values);
    QVERIFY(expandMatrix(experiment).size() > kMaxCells);
    for (const QString& value : values)
        experiment.exclude << Exclusion{{"cpu", KnobValue(value)}};
    experiment.exclude = experiment.exclude.mid(0, 20);
    QVERIFY(expandMatrix(experiment).size() > kMaxCells);
    QCOMPARE(countCells(experiment), kMaxCells + 1);
}

void TestModelPlan::labelsTwinAxes() {
    Experiment experiment;
    experiment.axes << axis("window", Side::Sender, {"32K"})
                    << axis("window", Side::Receiver, {"64K"});
    QCOMPARE(labels(experiment), QStringList{"sender window 32K, receiver window 64K"});
}

void TestModelPlan::givesHostSettingsToEachSide_data() {
    QTest::addColumn<QString>("knob");
    QTest::addColumn<int>("side");
    QTest::addColumn<bool>("local");
    QTest::addColumn<QString>("receiverInterface");
    QTest::addColumn<QString>("sides");
    const int both = static_cast<int>(Side::Both);
    const int receiver = static_cast<int>(Side::Receiver);
    QTest::newRow("both") << "sysctl:net.ipv4.tcp_rmem" << both << false << "test0"
                          << "sender receiver";
    QTest::newRow("receiver") << "link:mtu" << receiver << false << "test0"
                              << "receiver";
    QTest::newRow("one machine") << "sysctl:net.ipv4.tcp_rmem" << both << true << "test1"
                                 << "sender";
    QTest::newRow("one machine, receiver")
        << "sysctl:net.ipv4.tcp_rmem" << receiver << true << "test0"
        << "sender";
    QTest::newRow("one interface") << "link:mtu" << both << true << "test0"
                                   << "sender";
    QTest::newRow("two interfaces") << "link:mtu" << both << true << "test1"
                                    << "sender receiver";
    QTest::newRow("test knob") << "window" << both << false << "test0"
                               << "";
}

void TestModelPlan::givesHostSettingsToEachSide() {
    QFETCH(QString, knob);
    QFETCH(int, side);
    QFETCH(bool, local);
    QFETCH(QString, receiverInterface);
    QFETCH(QString, sides);
    Experiment experiment;
    experiment.sender = {local, local ? QString() : "host1", "10.0.0.1", "test0"};
    experiment.receiver = {local, local ? QString() : "host2", "10.0.0.2", receiverInterface};
    experiment.axes << Axis{knob, static_cast<Side>(side), {KnobValue(qint64{1500})}};
    QStringList found;
    for (const HostSetting& setting : hostSettings(experiment, expandMatrix(experiment)[0])) {
        found << hostName(setting.host);
        QCOMPARE(setting.knob, knob);
        QVERIFY(setting.value == KnobValue(qint64{1500}));
    }
    QCOMPARE(found.join(QLatin1Char(' ')), sides);
}

void TestModelPlan::givesTestSettingsToTheirSide() {
    Experiment experiment = twoAxes();
    experiment.axes << axis("cpu", Side::Receiver, {"1"});
    experiment.test.options["nodelay"] = KnobValue(QStringLiteral("on"));
    const Cell cell = expandMatrix(experiment)[0];
    const auto sender = testSettings(experiment, cell, Side::Sender);
    QCOMPARE(QStringList(sender.keys()), QStringList({"nodelay", "window"}));
    const auto receiver = testSettings(experiment, cell, Side::Receiver);
    QCOMPARE(QStringList(receiver.keys()), QStringList({"cpu", "nodelay", "window"}));
    QCOMPARE(receiver["window"].plain(), QStringLiteral("32768"));
}

void TestModelPlan::blocksHoldEveryCellOnce() {
    PlanSpec plan;
    QList<int> matrixOrder(100);
    std::iota(matrixOrder.begin(), matrixOrder.end(), 0);
    QSet<QList<int>> seen;
    for (int block = 0; block < 50; ++block) {
        QList<int> order = blockOrder(plan, 100, block);
        seen << order;
        QVERIFY(order != matrixOrder);
        std::sort(order.begin(), order.end());
        QCOMPARE(order, matrixOrder);
    }
    QCOMPARE(seen.size(), 50);
    PlanSpec other = plan;
    other.seed = 2;
    QVERIFY(blockOrder(other, 100, 0) != blockOrder(plan, 100, 0));
    plan.blocks = false;
    QCOMPARE(blockOrder(plan, 100, 3), matrixOrder);
    QVERIFY(blockOrder(other, 0, 0).isEmpty());
    QCOMPARE(blockOrder(other, 1, 7), QList<int>{0});
}

/// Stored runs resume with the order they began with: these must stay as they are.
void TestModelPlan::ordersNeverChange() {
    PlanSpec plan;
    plan.seed = 1;
    QCOMPARE(blockOrder(plan, 9, 0), QList<int>({3, 4, 2, 8, 0, 1, 5, 6, 7}));
    QCOMPARE(blockOrder(plan, 9, 1), QList<int>({8, 7, 0, 5, 1, 6, 2, 4, 3}));
    plan.seed = std::numeric_limits<quint64>::max();
    QCOMPARE(blockOrder(plan, 9, 0), QList<int>({4, 7, 3, 5, 0, 2, 1, 6, 8}));
}

/// Each cell stands at each place equally often: 4 cells, 24 orders, 24000 draws; 1000 expected
/// of each with a standard deviation of 31.
void TestModelPlan::ordersAreFair() {
    PlanSpec plan;
    QHash<QList<int>, int> counts;
    for (int block = 0; block < 24000; ++block)
        ++counts[blockOrder(plan, 4, block)];
    QCOMPARE(counts.size(), 24);
    for (const int count : std::as_const(counts))
        QVERIFY2(count > 850 && count < 1150, qPrintable(QString::number(count)));
}

void TestModelPlan::stopsAtTheTarget_data() {
    QTest::addColumn<int>("min");
    QTest::addColumn<int>("max");
    QTest::addColumn<QList<double>>("values");
    QTest::addColumn<bool>("more");
    const QList<double> tight{100, 100.1, 99.9, 100, 100.05};
    const QList<double> wide{100, 120, 80, 95, 105};
    QTest::newRow("nothing yet") << 5 << 30 << QList<double>{} << true;
    QTest::newRow("before the least") << 6 << 30 << tight << true;
    QTest::newRow("narrow enough") << 5 << 30 << tight << false;
    QTest::newRow("too wide") << 5 << 30 << wide << true;
    QTest::newRow("too wide at the most") << 5 << 5 << wide << false;
    QTest::newRow("fixed number") << 3 << 3 << QList<double>{1, 2} << true;
    QTest::newRow("fixed number reached") << 3 << 3 << QList<double>{1, 2, 3} << false;
    QTest::newRow("one value has no interval") << 1 << 3 << QList<double>{1} << true;
    QTest::newRow("all zero") << 2 << 9 << QList<double>{0, 0} << false;
    QTest::newRow("zero mean") << 2 << 9 << QList<double>{-1, 1} << true;
    // Half-width of the mean: t(4) s / sqrt(5) with t = 2.776445; s chosen around 2.5 %.
    QTest::newRow("just inside") << 5 << 30 << QList<double>{98, 100, 100, 100, 102.4} << false;
    QTest::newRow("just outside") << 5 << 30 << QList<double>{97, 100, 100, 100, 103} << true;
}

void TestModelPlan::stopsAtTheTarget() {
    QFETCH(int, min);
    QFETCH(int, max);
    QFETCH(QList<double>, values);
    QFETCH(bool, more);
    PlanSpec plan;
    plan.repeatsMin = min;
    plan.repeatsMax = max;
    QCOMPARE(wantsMore(plan, values), more);
}

void TestModelPlan::estimatesTime() {
    Experiment experiment = twoAxes();
    experiment.test.seconds = 2;
    experiment.test.warmupSeconds = 0.2;
    experiment.plan.pauseSeconds = 0.5;
    experiment.plan.repeatsMin = 5;
    experiment.plan.repeatsMax = 30;
    const Estimate estimate = estimateRun(experiment);
    QCOMPARE(estimate.cells, 6);
    QCOMPARE(estimate.samplesMin, 30);
    QCOMPARE(estimate.samplesMax, 180);
    QCOMPARE(estimate.secondsMin, 30 * 2.73 + 1);
    QCOMPARE(estimate.secondsMax, 180 * 2.73 + 1);
}

QTEST_APPLESS_MAIN(TestModelPlan)
#include "tst_modelplan.moc"
