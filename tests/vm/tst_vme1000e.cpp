// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/vm/vmrun.h"

#include <QTest>

#include <csignal>

using namespace knobscope;
using namespace knobscope::test;

namespace {

QJsonObject experiment(const QJsonArray& axes, double seconds = 0.5) {
    return {
        {QStringLiteral("test"), QJsonObject{{QStringLiteral("kind"), QStringLiteral("tcp_stream")},
                                             {QStringLiteral("seconds"), seconds}}},
        {QStringLiteral("axes"), axes},
        {QStringLiteral("plan"),
         QJsonObject{{QStringLiteral("repeats"), 1}, {QStringLiteral("seed"), 1}}}};
}

} // namespace

/// What e1000e makes of knobs: it refuses, it rounds, and it takes the link down.
class TestVmE1000e : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void cleanup();
    void refusedValueIsToldBeforeTheRun_data();
    void refusedValueIsToldBeforeTheRun();
    void roundedRingIsToldAsAdjusted();
    void mtuWaitsForTheLink();
    void manyKnobsAtOnceComeBack();
    void killedProgramLeavesNothing();

private:
    VmRun m_vm;
};

void TestVmE1000e::initTestCase() {
    QVERIFY2(m_vm.up(QStringLiteral("e1000e")), qPrintable(m_vm.error()));
}

void TestVmE1000e::cleanup() {
    const QStringList changes = m_vm.changes();
    QVERIFY2(changes.isEmpty(), qPrintable(changes.join(u'\n')));
}

void TestVmE1000e::refusedValueIsToldBeforeTheRun_data() {
    QTest::addColumn<QString>("knob");
    QTest::addColumn<QJsonArray>("taken");
    QTest::addColumn<qint64>("refused");
    QTest::addColumn<QString>("says");
    // The driver takes 0, 1, 3, 4 and 10 to 10000, and gives no more than an error number.
    QTest::newRow("time between interrupts")
        << "coalesce:rx-usecs" << QJsonArray{4, 100} << qint64{5} << "Invalid argument";
    QTest::newRow("ring") << "ring:rx" << QJsonArray{} << qint64{4104} << "the most is 4096";
    QTest::newRow("MTU") << "link:mtu" << QJsonArray{} << qint64{9300} << "maximum";
    QTest::newRow("setting that the driver lacks")
        << "coalesce:tx-usecs" << QJsonArray{} << qint64{10} << "e1000e";
}

void TestVmE1000e::refusedValueIsToldBeforeTheRun() {
    QFETCH(QString, knob);
    QFETCH(QJsonArray, taken);
    QFETCH(qint64, refused);
    QFETCH(QString, says);
    QJsonArray values = taken;
    values.append(refused);
    const VmRun::Outcome outcome =
        m_vm.run(experiment({axis(knob, QStringLiteral("sender"), values)}));
    QCOMPARE(outcome.status, 2);
    QVERIFY2(outcome.run.samples.isEmpty(), "measured all the same");
    const QStringList checks = outcome.checks(QStringLiteral("host1"), knob);
    const QStringList wrong = checks.filter(QStringLiteral("failed: "));
    const QString title = QStringLiteral("%1 = %2: ").arg(knob).arg(refused);
    QVERIFY2(wrong.size() == 1 && wrong.first().contains(title) && wrong.first().contains(says),
             qPrintable(checks.join(u'\n')));
    QCOMPARE(checks.size(), taken.isEmpty() ? 1 : 2); // those that are taken share a line
    QVERIFY2(outcome.errors.contains(says.toUtf8()), outcome.errors);
}

/// The driver rounds up to a multiple of eight, and tells nobody.
void TestVmE1000e::roundedRingIsToldAsAdjusted() {
    const VmRun::Outcome outcome = m_vm.run(
        experiment({axis(QStringLiteral("ring:rx"), QStringLiteral("receiver"), {100, 512})}));
    QVERIFY2(outcome.status == 0, outcome.errors);
    const QString checks =
        outcome.checks(QStringLiteral("host2"), QStringLiteral("ring:rx")).join(u'\n');
    QVERIFY2(checks.contains(QStringLiteral("ring:rx = 100: The host takes 104 instead")),
             qPrintable(checks));
    QCOMPARE(outcome.run.samples.size(), 2);
    for (const SampleRecord& sample : outcome.run.samples) {
        QCOMPARE(sample.knobs.size(), 1);
        const KnobState& ring = sample.knobs.first();
        const bool rounded = ring.requested == QLatin1String("100");
        QCOMPARE(ring.accepted, rounded ? QStringLiteral("104") : QStringLiteral("512"));
        QCOMPARE(ring.original, QStringLiteral("256"));
        QCOMPARE(ring.status == QLatin1String("adjusted"), rounded);
        const QString flags = sample.flags.join(u'\n');
        QCOMPARE(flags.contains(QStringLiteral("receiver: ring:rx requested 100, host took 104")),
                 rounded);
        QVERIFY(sample.metric(QStringLiteral("throughput_mbit_s")).value_or(0) > 100);
    }
}

/// With a new MTU the driver starts its card anew, and the link is gone for seconds.
void TestVmE1000e::mtuWaitsForTheLink() {
    const auto carrierChanges = [this] {
        return m_vm
            .tell(QStringLiteral("host1"),
                  {QStringLiteral("cat"), QStringLiteral("/sys/class/net/%1/carrier_changes")
                                              .arg(m_vm.lab().host(0).testInterface)})
            .toInt();
    };
    const int changesBefore = carrierChanges();
    const VmRun::Outcome outcome = m_vm.run(
        experiment({axis(QStringLiteral("link:mtu"), QStringLiteral("both"), {1500, 9000})}, 1));
    QVERIFY2(outcome.status == 0, outcome.errors);
    QVERIFY2(carrierChanges() >= changesBefore + 2, "the link never went down: nothing was tested");
    QCOMPARE(outcome.run.samples.size(), 2);
    for (const SampleRecord& sample : outcome.run.samples) {
        const auto mtu = static_cast<double>(
            outcome.run.cells.at(sample.cell).values.first().number.value_or(0));
        QCOMPARE(sample.metric(QStringLiteral("mss"), Side::Sender), mtu - 52);
        QVERIFY(sample.metric(QStringLiteral("throughput_mbit_s")).value_or(0) > 100);
        QVERIFY2(!sample.flags.join(u'\n').contains(QStringLiteral("did not come back")),
                 qPrintable(sample.flags.join(u'\n')));
    }
}

/// Each of them can move others, on the way there and back; cleanup() sees what is left of it.
void TestVmE1000e::manyKnobsAtOnceComeBack() {
    const QJsonArray knobs = manyKnobs();
    QCOMPARE(problemOf(m_vm.run(experiment(knobs)), knobs), QString());
}

/// Nobody is left to ask for it: the guardians put back ring and MTU, over a link that goes down.
void TestVmE1000e::killedProgramLeavesNothing() {
    const QString file = m_vm.files().write(
        experiment({axis(QStringLiteral("link:mtu"), QStringLiteral("both"), {9000}),
                    axis(QStringLiteral("ring:rx"), QStringLiteral("both"), {512}),
                    axis(QStringLiteral("coalesce:rx-usecs"), QStringLiteral("both"), {100})},
                   30));
    CliProcess cli(m_vm.files().runArguments(file));
    QVERIFY2(cli.waitFor(
                 [](const QJsonObject& event) {
                     return event.value(QStringLiteral("event")) == QStringLiteral("run_started");
                 },
                 60000),
             cli.errorText());
    const QStringList mtu{
        QStringLiteral("cat"),
        QStringLiteral("/sys/class/net/%1/mtu").arg(m_vm.lab().host(1).testInterface)};
    QTRY_COMPARE_WITH_TIMEOUT(m_vm.tell(QStringLiteral("host2"), mtu), QStringLiteral("9000"),
                              30000);
    QCOMPARE(::kill(static_cast<pid_t>(cli.pid()), SIGKILL), 0);
    QTRY_COMPARE_WITH_TIMEOUT(m_vm.changes(), QStringList(), 60000);
}

QTEST_GUILESS_MAIN(TestVmE1000e)
#include "tst_vme1000e.moc"
