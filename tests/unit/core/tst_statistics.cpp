// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/statistics.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace knobscope;

namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();

/// Reference values have about ten digits.
bool near(std::optional<double> value, double expected, double tolerance = 1e-6) {
    return value && std::abs(*value - expected) <= tolerance * std::max(1.0, std::abs(expected));
}

} // namespace

class TestStatistics : public QObject {
    Q_OBJECT
private slots:
    void agreesWithReferences_data();
    void agreesWithReferences();
    void agreesWithPublishedStudy_data();
    void agreesWithPublishedStudy();
    void reproducesPublishedDifferences();
    void leavesOutWhatIsNotThere_data();
    void leavesOutWhatIsNotThere();
    void survivesExtremes();
};

void TestStatistics::agreesWithReferences_data() {
    QTest::addColumn<QList<double>>("values");
    QTest::addColumn<double>("level");
    QTest::addColumn<double>("mean");
    QTest::addColumn<double>("median");
    QTest::addColumn<double>("deviation");
    QTest::addColumn<double>("halfWidth");
    // Computed with scipy 1.10.1, key ones checked with R 4.2.2.
    const QList<double> a{9.41, 9.38, 9.40, 9.12, 9.39, 9.42, 9.37, 9.40, 9.36, 9.41};
    QTest::newRow("A 95 %") << a << 0.95 << 9.366 << 9.395 << 0.08846845
                            << (9.429287 - 9.302713) / 2;
    // Full width in percent of the mean, as netperf reports it.
    const auto halfOf = [](double percent, double mean) { return percent / 200 * mean; };
    QTest::newRow("A 99 %") << a << 0.99 << 9.366 << 9.395 << 0.08846845 << halfOf(1.941447, 9.366);
    QTest::newRow("A first 3, 99 %")
        << a.mid(0, 3) << 0.99 << 9.396667 << 9.40 << 0.015275252 << halfOf(1.8630, 9.396667);
    QTest::newRow("A first 4, 99 %")
        << a.mid(0, 4) << 0.99 << 9.3275 << 9.39 << 0.138894444 << halfOf(8.6976, 9.3275);
    QTest::newRow("A first 6, 99 %")
        << a.mid(0, 6) << 0.99 << 9.353333 << 9.395 << 0.11518102 << halfOf(4.0542, 9.353333);
}

void TestStatistics::agreesWithReferences() {
    QFETCH(QList<double>, values);
    QFETCH(double, level);
    QFETCH(double, mean);
    QFETCH(double, median);
    QFETCH(double, deviation);
    QFETCH(double, halfWidth);
    const Summary summary = summarize(values, level);
    QCOMPARE(summary.n, static_cast<int>(values.size()));
    QCOMPARE(summary.level, level);
    QVERIFY(near(summary.mean, mean));
    QVERIFY(near(summary.median, median));
    QVERIFY(near(summary.standardDeviation, deviation));
    QVERIFY(near(summary.coefficientOfVariation, deviation / mean));
    QVERIFY2(near(summary.halfWidth, halfWidth, 1e-5),
             qPrintable(QString::number(*summary.halfWidth, 'g', 10)));
}

namespace {

// Throughput in Mbit/s of the published 2008 study of socket buffer and CPU affinity.
const QList<double> k512k{4709.4941, 4579.4129, 4781.2377, 4525.1052, 4770.8076,
                          4529.8749, 4776.3878, 4526.8575, 4773.3970, 4558.8289};
const QList<double> k10m{4757.6071, 4792.6069, 4760.2204, 4563.4777, 4768.6363,
                         4679.8851, 4731.5889, 4696.5324, 4701.7601, 4721.6696};
const QList<double> k100m{4095.2239, 4152.5652, 4136.9084, 4159.6409, 4123.9685,
                          4146.7009, 4250.6175, 4156.1080, 4256.7461, 4151.8279};
const QList<double> k512kOtherCpu{4142.5086, 4051.4628, 4434.9701, 4432.2468, 4200.9007,
                                  4355.7784, 4173.4818, 4183.6394, 4387.8510, 4186.3108};

} // namespace

void TestStatistics::agreesWithPublishedStudy_data() {
    QTest::addColumn<QList<double>>("values");
    QTest::addColumn<double>("minimum");
    QTest::addColumn<double>("mean"); // as posted, four decimals
    QTest::addColumn<double>("maximum");
    QTest::newRow("512k") << k512k << 4525.1052 << 4653.1404 << 4781.2377;
    QTest::newRow("100m") << k100m << 4095.2239 << 4163.0307 << 4256.7461;
}

void TestStatistics::agreesWithPublishedStudy() {
    QFETCH(QList<double>, values);
    QFETCH(double, minimum);
    QFETCH(double, mean);
    QFETCH(double, maximum);
    const Summary summary = summarize(values);
    QCOMPARE(summary.n, 10);
    QCOMPARE(*summary.minimum, minimum);
    QCOMPARE(*summary.maximum, maximum);
    QVERIFY(std::abs(*summary.mean - mean) < 0.00005 + 1e-9);
}

/// The post's 8.95 % for 100m contradicts its own values, which give 10.533 %.
void TestStatistics::reproducesPublishedDifferences() {
    const double base = *summarize(k512k).mean;
    const auto percent = [base](const QList<double>& values) {
        return (*summarize(values).mean / base - 1) * 100;
    };
    QVERIFY(std::abs(percent(k10m) - 1.381) < 0.0005);
    QVERIFY(std::abs(percent(k512kOtherCpu) + 8.558) < 0.0005);
    QVERIFY(std::abs(percent(k100m) + 10.533) < 0.0005);
}

void TestStatistics::leavesOutWhatIsNotThere_data() {
    QTest::addColumn<QList<double>>("values");
    QTest::addColumn<int>("n");
    QTest::newRow("nothing") << QList<double>{} << 0;
    QTest::newRow("NaN alone") << QList<double>{kNaN} << 0;
    QTest::newRow("infinities") << QList<double>{kInfinity, -kInfinity} << 0;
    QTest::newRow("one") << QList<double>{5} << 1;
    QTest::newRow("one and NaN") << QList<double>{kNaN, 5, kInfinity} << 1;
    QTest::newRow("two") << QList<double>{4, kNaN, 6} << 2;
}

void TestStatistics::leavesOutWhatIsNotThere() {
    QFETCH(QList<double>, values);
    QFETCH(int, n);
    const Summary summary = summarize(values);
    QCOMPARE(summary.n, n);
    for (const auto& value : {summary.mean, summary.median, summary.minimum, summary.maximum})
        QCOMPARE(value.has_value(), n > 0);
    QVERIFY(n == 0 || *summary.mean == 5);
    for (const auto& value :
         {summary.standardDeviation, summary.coefficientOfVariation, summary.halfWidth})
        QCOMPARE(value.has_value(), n > 1);
}

void TestStatistics::survivesExtremes() {
    const double large = std::numeric_limits<double>::max();
    const Summary huge = summarize({large, large});
    QCOMPARE(*huge.mean, large);
    QCOMPARE(*huge.median, large);
    // A mean of 0 has no relative spread.
    const Summary zero = summarize({-1, 1});
    QVERIFY(zero.standardDeviation && !zero.coefficientOfVariation);
    for (const double level : {0.0, 1.0, -1.0, 2.0, kNaN})
        QVERIFY(!summarize({1, 2, 3}, level).halfWidth);
}

QTEST_APPLESS_MAIN(TestStatistics)
#include "tst_statistics.moc"
