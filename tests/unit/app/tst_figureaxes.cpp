// SPDX-License-Identifier: GPL-3.0-or-later
#include "figuredata.h"

#include <QtTest>

#include <cmath>
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
    void barsEndAtZero();
    void axisEndsAtATick_data();
    void axisEndsAtATick();
    void noLineLeadsOverAGap();
    void barsOfSeriesStandApart_data();
    void barsOfSeriesStandApart();
    void looksFollowThePlaceOfASeries();
    void windowsHaveTheirOwnColours();
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
    int drawn = 0; // the rest are gaps
    for (const QCPGraphData& point : *plot.graph(0)->data())
        drawn += std::isfinite(point.value) ? 1 : 0;
    QTEST(drawn, "points");
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
    QVERIFY2(range.upper > 600 && range.upper <= 1000, qPrintable(QString::number(range.upper)));
    QCOMPARE(plot.itemCount(), 1);              // an arrow: the bar goes on
    set.series[0].points[0].summary.mean = -50; // a difference may be
    drawCurves(plot, set);
    QVERIFY(plot.axisRect()->axis(QCPAxis::atLeft)->range().lower < -50);
}

void TestFigureAxes::barsEndAtZero() {
    CurveSet set = sizesCurve();
    set.series[0].points[0].summary.halfWidth = 150; // of a mean of 100
    QCustomPlot plot;
    plot.resize(800, 400);
    drawCurves(plot, set);
    QCPErrorBars* bars = nullptr;
    for (int i = 0; i < plot.plottableCount() && bars == nullptr; ++i)
        bars = qobject_cast<QCPErrorBars*>(plot.plottable(i));
    QVERIFY(bars != nullptr);
    QCOMPARE(bars->data()->at(0).errorMinus, 100.0);
    QCOMPARE(bars->data()->at(0).errorPlus, 150.0);
    QCOMPARE(plot.axisRect()->axis(QCPAxis::atLeft)->range().lower, 0.0);
    QCOMPARE(plot.itemCount(), 0); // nothing is cut
}

void TestFigureAxes::axisEndsAtATick_data() {
    QTest::addColumn<double>("mean");
    for (const double mean : {0.0, 0.0123, 3.0, 99.0, 941.5, 1776.0, 12345678.0})
        QTest::addRow("%g", mean) << mean;
}

void TestFigureAxes::axisEndsAtATick() {
    QFETCH(double, mean);
    CurveSet set = sizesCurve();
    for (CurvePoint& p : set.series[0].points) {
        p.summary.mean = mean;
        p.summary.halfWidth = mean / 10;
    }
    QCustomPlot plot;
    plot.resize(800, 400);
    drawCurves(plot, set);
    plot.setViewport(QRect(0, 0, 800, 400));
    plot.replot(QCustomPlot::rpImmediateRefresh);
    const QCPAxis* axis = plot.axisRect()->axis(QCPAxis::atLeft);
    const QVector<double> ticks = axis->tickVector();
    QVERIFY(!ticks.isEmpty());
    QVERIFY2(std::abs(ticks.last() - axis->range().upper) < 1e-9 * axis->range().upper,
             qPrintable(QString::number(ticks.last())));
    QVERIFY(ticks.last() >= mean * 1.1);
}

void TestFigureAxes::noLineLeadsOverAGap() {
    CurveSet set = manySeries(2);
    set.series[0].points.removeAt(1); // not measured
    set.series[1].points.removeAt(2); // at an end: no gap within
    QCustomPlot plot;
    plot.resize(800, 400);
    drawCurves(plot, set);
    QCOMPARE(plot.graph(0)->dataCount(), 3);
    QVERIFY(std::isnan(plot.graph(0)->data()->at(1)->value));
    QCOMPARE(plot.graph(1)->dataCount(), 2);
}

void TestFigureAxes::barsOfSeriesStandApart_data() {
    QTest::addColumn<bool>("log");
    QTest::addColumn<int>("series");
    QTest::newRow("log") << true << 3;
    QTest::newRow("linear") << false << 3;
    QTest::newRow("many") << true << 20;
}

void TestFigureAxes::barsOfSeriesStandApart() {
    QFETCH(bool, log);
    QFETCH(int, series);
    CurveSet set = manySeries(series);
    if (!log)
        set.scale = AxisScale::Linear;
    QCustomPlot plot;
    plot.resize(800, 400);
    drawCurves(plot, set);
    const auto keyOf = [&](int graph, int at) { return plot.graph(graph)->data()->at(at)->key; };
    const QVector<double> ticks =
        log ? QVector<double>{16, 18, 20} : QVector<double>{65536, 262144, 1048576};
    for (int graph = 1; graph < series; ++graph)
        QVERIFY(keyOf(graph, 0) > keyOf(graph - 1, 0));
    // Nearer to their own value than to the next, and around it.
    QVERIFY(std::abs(keyOf(0, 0) + keyOf(series - 1, 0) - 2 * ticks[0]) < 1e-6 * ticks[0]);
    QVERIFY(keyOf(series - 1, 0) - keyOf(0, 0) <= 0.5 * (ticks[1] - ticks[0]));
    for (CurveSeries& one : set.series) {
        for (CurvePoint& p : one.points)
            p.summary.halfWidth.reset();
    }
    drawCurves(plot, set);
    QCOMPARE(keyOf(0, 0), ticks[0]); // without bars, where it belongs
}

void TestFigureAxes::looksFollowThePlaceOfASeries() {
    CurveSet set = manySeries(3);
    QCustomPlot plot;
    plot.resize(800, 400);
    drawCurves(plot, set);
    const QColor third = plot.graph(2)->pen().color();
    const auto shape = plot.graph(2)->scatterStyle().shape();
    set.series.removeAt(1); // not measured yet
    drawCurves(plot, set);
    QCOMPARE(plot.graph(1)->pen().color(), third);
    QCOMPARE(plot.graph(1)->scatterStyle().shape(), shape);
}

void TestFigureAxes::windowsHaveTheirOwnColours() {
    QCustomPlot plot;
    plot.resize(800, 400);
    QPalette dark;
    dark.setColor(QPalette::Base, QColor(0x20, 0x20, 0x20));
    dark.setColor(QPalette::Text, QColor(0xee, 0xee, 0xee));
    plot.setPalette(dark);
    drawCurves(plot, manySeries(5));
    const QCPAxis* axis = plot.axisRect()->axis(QCPAxis::atLeft);
    QCOMPARE(axis->tickLabelColor(), QColor(0xee, 0xee, 0xee));
    QVERIFY(axis->basePen().color().lightness() > 150);
    for (int graph = 0; graph < plot.graphCount(); ++graph)
        QVERIFY(plot.graph(graph)->pen().color().lightness() > 100);
}

QTEST_MAIN(TestFigureAxes)
#include "tst_figureaxes.moc"
