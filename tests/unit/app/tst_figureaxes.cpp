// SPDX-License-Identifier: GPL-3.0-or-later
#include "figuredata.h"

#include <QtTest>

#include <limits>

using namespace knobscope;
using namespace knobscope::example;

/// Ticks, labels and ranges of a figure's axes.
class TestFigureAxes : public QObject {
    Q_OBJECT

private slots:
    void sizeTicksAreWrittenAsPeopleWriteThem();
    void categoriesKeepTheirWords();
    void fewNumbersHaveTheirTicks_data();
    void fewNumbersHaveTheirTicks();
    void manyNumbersMakeAScale();
    void longNumbersDoNotTouch_data();
    void longNumbersDoNotTouch();
    void crowdedLabelsAreThinned();
    void nonFiniteValuesAreLeftOut_data();
    void nonFiniteValuesAreLeftOut();
    void allZeroAndOnePointHaveARange();
    void wideIntervalsDoNotFlattenTheMeans();
};

void TestFigureAxes::sizeTicksAreWrittenAsPeopleWriteThem() {
    QCustomPlot plot;
    plot.resize(1200, 600);
    drawCurves(plot, sizesCurve());
    QCOMPARE(tickLabels(plot), kSizes);
    // Equal steps of the logarithm lie equally far apart.
    const QVector<double> ticks = plot.axisRect()->axis(QCPAxis::atBottom)->tickVector();
    QCOMPARE(ticks, (QVector<double>{16, 18, 20}));
}

void TestFigureAxes::categoriesKeepTheirWords() {
    CurveSet set = sizesCurve();
    set.scale = AxisScale::Category;
    set.xValues = {KnobValue(QStringLiteral("auto")), KnobValue(QStringLiteral("64K"))};
    set.series[0].points = {point(0, QStringLiteral("64K"), 1),
                            point(1, QStringLiteral("auto"), 2)};
    QCustomPlot plot;
    plot.resize(1200, 600);
    drawCurves(plot, set);
    QCOMPARE(tickLabels(plot), (QStringList{QStringLiteral("auto"), QStringLiteral("64K")}));
    QCOMPARE(plot.graph(0)->data()->at(0)->value, 2.0); // auto stands first
}

void TestFigureAxes::fewNumbersHaveTheirTicks_data() {
    QTest::addColumn<QList<qint64>>("values");
    QTest::addColumn<QStringList>("labels");
    QTest::newRow("0 and 1") << QList<qint64>{0, 1} << QStringList{"0", "1"};
    QTest::newRow("small") << QList<qint64>{0, 1, 2, 10} << QStringList{"0", "1", "2", "10"};
    QTest::newRow("large") << QList<qint64>{1000000, 3000000} << QStringList{"1000000", "3000000"};
    QTest::newRow("one") << QList<qint64>{3} << QStringList{"3"};
    // Labels that would touch are left out, not the ticks.
    QTest::newRow("crowded") << QList<qint64>{0, 1, 100000} << QStringList{"0", "100000"};
}

void TestFigureAxes::fewNumbersHaveTheirTicks() {
    QFETCH(QList<qint64>, values);
    QCustomPlot plot;
    plot.resize(1200, 600);
    drawCurves(plot, linearCurve(values));
    QTEST(tickLabels(plot), "labels");
    QCOMPARE(plot.axisRect()->axis(QCPAxis::atBottom)->tickVector().size(), values.size());
}

void TestFigureAxes::manyNumbersMakeAScale() {
    QList<qint64> values;
    for (qint64 value = 0; value < 12; ++value)
        values.append(value);
    for (const qint64 factor : {1, 250000}) {
        QList<qint64> scaled;
        for (const qint64 value : values)
            scaled.append(value * factor);
        QCustomPlot plot;
        plot.resize(1200, 600);
        drawCurves(plot, linearCurve(scaled));
        const QStringList labels = tickLabels(plot);
        QVERIFY(labels.size() >= 3 && labels.size() <= 12);
        for (const QString& label : labels) // plain: no exponent; whole: nothing between values
            QVERIFY2(!label.contains(QLatin1Char('e')) && !label.contains(QLatin1Char('.')),
                     qPrintable(label));
    }
}

void TestFigureAxes::longNumbersDoNotTouch_data() {
    QTest::addColumn<QString>("style");
    for (const char* style : {"acm", "ieee", "usenix", "slides"})
        QTest::newRow(style) << style;
}

void TestFigureAxes::longNumbersDoNotTouch() {
    QFETCH(QString, style);
    QList<qint64> values;
    for (qint64 value = 1; value <= 12; ++value)
        values.append(value * 1234567);
    QTemporaryDir dir;
    const QString path = dir.filePath(QStringLiteral("axis.pdf"));
    QVERIFY(exportFigure(linearCurve(values), *figureStyle(style), path));
    const QString boxes =
        outputOf(QStringLiteral("pdftotext"), {QStringLiteral("-bbox"), path, QStringLiteral("-")});
    // The words of the axis stand in one line, from left to right; touching ones would be one.
    static const QRegularExpression number(
        QStringLiteral("xMin=\"([0-9.]+)\"[^>]*xMax=\"([0-9.]+)\"[^>]*>([0-9]*000000)<"));
    double last = -100;
    int labels = 0;
    for (auto match = number.globalMatch(boxes); match.hasNext(); ++labels) {
        const QRegularExpressionMatch word = match.next();
        QVERIFY2(word.captured(3).size() <= 8, qPrintable(boxes));
        QVERIFY2(word.captured(1).toDouble() > last + 2, qPrintable(boxes));
        last = word.captured(2).toDouble();
    }
    QVERIFY2(labels >= 2, qPrintable(boxes));
}

void TestFigureAxes::crowdedLabelsAreThinned() {
    CurveSet set = sizesCurve();
    set.scale = AxisScale::Category;
    set.xValues.clear();
    set.series[0].points.clear();
    for (int i = 0; i < 200; ++i) {
        set.xValues.append(KnobValue(QStringLiteral("value%1").arg(i)));
        set.series[0].points.append(point(i, QStringLiteral("value%1").arg(i), i));
    }
    QCustomPlot plot;
    plot.resize(1200, 600);
    drawCurves(plot, set);
    const QStringList labels = tickLabels(plot);
    QVERIFY(labels.size() >= 5);
    QVERIFY2(labels.size() <= 30, qPrintable(QString::number(labels.size())));
    QCOMPARE(labels.first(), QStringLiteral("value0"));
}

void TestFigureAxes::nonFiniteValuesAreLeftOut_data() {
    QTest::addColumn<double>("mean");
    QTest::addColumn<double>("half");
    QTest::addColumn<int>("points");
    const double inf = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    QTest::newRow("NaN mean") << nan << 1.0 << 2;
    QTest::newRow("infinite mean") << inf << 1.0 << 2;
    QTest::newRow("NaN interval") << 150.0 << nan << 3;
    QTest::newRow("infinite interval") << 150.0 << inf << 3;
}

void TestFigureAxes::nonFiniteValuesAreLeftOut() {
    QFETCH(double, mean);
    QFETCH(double, half);
    CurveSet set = sizesCurve();
    set.series[0].points[1].summary.mean = mean;
    set.series[0].points[1].summary.halfWidth = half;
    QCustomPlot plot;
    plot.resize(800, 400);
    drawCurves(plot, set);
    QTEST(plot.graph(0)->dataCount(), "points");
    const QCPRange range = plot.axisRect()->axis(QCPAxis::atLeft)->range();
    QVERIFY(range.upper > 305 && range.upper < 400);
}

void TestFigureAxes::allZeroAndOnePointHaveARange() {
    CurveSet set = sizesCurve();
    set.xValues = {KnobValue(QStringLiteral("64K"))};
    set.series[0].points = {point(0, QStringLiteral("64K"), 0, 0)};
    QCustomPlot plot;
    plot.resize(800, 400);
    drawCurves(plot, set);
    const auto axis = [&](QCPAxis::AxisType type) { return plot.axisRect()->axis(type)->range(); };
    QVERIFY(axis(QCPAxis::atLeft).size() > 0.5);
    QVERIFY(axis(QCPAxis::atBottom).contains(16));
    QVERIFY(axis(QCPAxis::atBottom).size() < 3);
    QCOMPARE(tickLabels(plot), QStringList{QStringLiteral("64K")});
}

void TestFigureAxes::wideIntervalsDoNotFlattenTheMeans() {
    CurveSet set = sizesCurve();
    set.series[0].points[1].summary.halfWidth = 5000; // as of two repeats
    QCustomPlot plot;
    plot.resize(800, 400);
    drawCurves(plot, set);
    const QCPRange range = plot.axisRect()->axis(QCPAxis::atLeft)->range();
    QCOMPARE(range.lower, 0.0); // throughput is not negative
    QVERIFY2(range.upper > 600 && range.upper < 1000, qPrintable(QString::number(range.upper)));
    set.series[0].points[0].summary.mean = -50; // a difference may be
    drawCurves(plot, set);
    QVERIFY(plot.axisRect()->axis(QCPAxis::atLeft)->range().lower < -50);
}

QTEST_MAIN(TestFigureAxes)
#include "tst_figureaxes.moc"
