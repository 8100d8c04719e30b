// SPDX-License-Identifier: GPL-3.0-or-later
#include "figuredata.h"

#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>

#include <qcustomplot.h>

#include <csignal>
#include <limits>
#include <sys/resource.h>

using namespace knobscope;
using namespace knobscope::example;

class TestFigure : public QObject {
    Q_OBJECT

private slots:
    void redrawLeavesNothingBehind();
    void seriesDiffer();
    void manySeriesLeaveRoomForTheAxes();
    void longLegendsAreWhole_data();
    void longLegendsAreWhole();
    void pdfHasItsFontsAndText();
    void pdfHasTheColumnWidthAndTextSize();
    void svgKeepsText();
    void pngHas300Dpi();
    void badRequests_data();
    void badRequests();
    void unwritablePathLeavesNothing();
    void fullDiskLeavesNothing_data();
    void fullDiskLeavesNothing();
    void styles();
};

void TestFigure::redrawLeavesNothingBehind() {
    QCustomPlot plot;
    plot.resize(800, 400);
    drawCurves(plot, manySeries(4));
    drawCurves(plot, sizesCurve());
    QCOMPARE(plot.graphCount(), 1);
    QCOMPARE(plot.axisRectCount(), 1);
    QCOMPARE(plot.plottableCount(), 2); // graph and its error bars
    drawCurves(plot, CurveSet());
    QCOMPARE(plot.graphCount(), 0);
    QCOMPARE(plot.itemCount(), 1); // says that there is nothing
    drawCurves(plot, sizesCurve());
    QCOMPARE(plot.itemCount(), 0);
}

void TestFigure::seriesDiffer() {
    QCustomPlot plot;
    plot.resize(800, 400);
    drawCurves(plot, manySeries(30));
    QSet<QString> looks;
    for (int i = 0; i < plot.graphCount(); ++i) {
        const QCPGraph* graph = plot.graph(i);
        QString look = graph->pen().color().name() +
                       QString::number(graph->scatterStyle().shape()) +
                       graph->scatterStyle().brush().color().name();
        for (const qreal dash : graph->pen().dashPattern())
            look += QStringLiteral(",%1").arg(dash);
        QVERIFY2(!looks.contains(look), qPrintable(look));
        looks.insert(look);
    }
    QCOMPARE(looks.size(), 30);
    // Neighbours differ in all three.
    QVERIFY(plot.graph(1)->pen().color() != plot.graph(2)->pen().color());
    QVERIFY(plot.graph(1)->scatterStyle().shape() != plot.graph(2)->scatterStyle().shape());
    QVERIFY(plot.graph(1)->pen().dashPattern() != plot.graph(2)->pen().dashPattern());
}

void TestFigure::manySeriesLeaveRoomForTheAxes() {
    QCustomPlot plot;
    plot.resize(900, 500);
    drawCurves(plot, manySeries(30));
    plot.setViewport(QRect(0, 0, 900, 500));
    plot.replot(QCustomPlot::rpImmediateRefresh);
    QVERIFY2(plot.axisRect()->height() > 250,
             qPrintable(QString::number(plot.axisRect()->height())));

    QTemporaryDir dir;
    const QString path = dir.filePath(QStringLiteral("many.pdf"));
    QVERIFY(exportFigure(manySeries(30), *figureStyle(QStringLiteral("acm")), path));
    const QString text = outputOf(QStringLiteral("pdftotext"), {path, QStringLiteral("-")});
    for (int s = 1; s <= 30; ++s)
        QVERIFY2(text.contains(QStringLiteral("%1K").arg(16 * s)), qPrintable(text));
}

void TestFigure::longLegendsAreWhole_data() {
    QTest::addColumn<QString>("style");
    for (const char* style : {"acm", "ieee", "usenix", "slides"})
        QTest::newRow(style) << style;
}

/// Series named by three knobs, with names and values as long as they come.
void TestFigure::longLegendsAreWhole() {
    QFETCH(QString, style);
    CurveSet set = manySeries(4);
    const QStringList knobs = {"tcp_slow_start_after_idle", "Congestion control of the receiver",
                               "tcp_limit_output_bytes"};
    set.seriesLabel = knobs.join(QStringLiteral(", "));
    for (int i = 0; i < set.series.size(); ++i)
        set.series[i].name =
            QStringLiteral("4096 131072 %1, 4096 16384 4194304, someverylongcontrol").arg(i);
    QTemporaryDir dir;
    const QString path = dir.filePath(QStringLiteral("long.pdf"));
    QVERIFY(exportFigure(set, *figureStyle(style), path));
    const QString info = outputOf(QStringLiteral("pdfinfo"), {path});
    static const QRegularExpression size(QStringLiteral("Page size:\\s+([0-9.]+) x ([0-9.]+)"));
    const double width = size.match(info).captured(1).toDouble();
    const QString boxes =
        outputOf(QStringLiteral("pdftotext"), {QStringLiteral("-bbox"), path, QStringLiteral("-")});
    static const QRegularExpression word(
        QStringLiteral("xMin=\"([-0-9.]+)\" yMin=\"([-0-9.]+)\" xMax=\"([-0-9.]+)\""));
    for (auto match = word.globalMatch(boxes); match.hasNext();) {
        const QRegularExpressionMatch box = match.next();
        QVERIFY2(box.captured(1).toDouble() >= 0 && box.captured(2).toDouble() >= 0 &&
                     box.captured(3).toDouble() <= width,
                 qPrintable(boxes));
    }
    for (const QString& shown : knobs + QStringList{"someverylongcontrol", "4194304"})
        for (const QString& part : shown.split(QLatin1Char(' ')))
            QVERIFY2(boxes.contains(part), qPrintable(part));
}

void TestFigure::pdfHasItsFontsAndText() {
    QTemporaryDir dir;
    const QString path = dir.filePath(QStringLiteral("figure.pdf"));
    QVERIFY(exportFigure(manySeries(3), *figureStyle(QStringLiteral("ieee")), path));
    const QStringList fonts =
        outputOf(QStringLiteral("pdffonts"), {path}).split(QLatin1Char('\n'), Qt::SkipEmptyParts);
    QVERIFY(fonts.size() >= 3); // two lines of heading
    for (const QString& font : fonts.mid(2)) {
        // name, type (two words), encoding, emb, sub, uni, object ID
        static const QRegularExpression embedded(QStringLiteral("\\s(yes|no)\\s+(yes|no)\\s+"));
        const QRegularExpressionMatch match = embedded.match(font);
        QVERIFY2(match.hasMatch() && match.captured(1) == QLatin1String("yes"), qPrintable(font));
    }
    const QString text = outputOf(QStringLiteral("pdftotext"), {path, QStringLiteral("-")});
    for (const char* expected :
         {"64K", "1M", "Window (bytes)", "Throughput (Mbit/s)", "tcp_limit_output_bytes", "48K"})
        QVERIFY2(text.contains(QLatin1String(expected)), qPrintable(text));
}

void TestFigure::pdfHasTheColumnWidthAndTextSize() {
    QTemporaryDir dir;
    const QString path = dir.filePath(QStringLiteral("figure.pdf"));
    QVERIFY(exportFigure(sizesCurve(), *figureStyle(QStringLiteral("acm")), path));
    const QString info = outputOf(QStringLiteral("pdfinfo"), {path});
    static const QRegularExpression size(QStringLiteral("Page size:\\s+([0-9.]+) x"));
    QVERIFY(std::abs(size.match(info).captured(1).toDouble() - 240.25) < 0.6);
    // An 8 point font: its bounding boxes are as high as the font's line, a little above 8.
    const QString boxes =
        outputOf(QStringLiteral("pdftotext"), {QStringLiteral("-bbox"), path, QStringLiteral("-")});
    static const QRegularExpression word(
        QStringLiteral("yMin=\"([0-9.]+)\" xMax=\"[0-9.]+\" yMax=\"([0-9.]+)\">64K<"));
    const QRegularExpressionMatch match = word.match(boxes);
    QVERIFY2(match.hasMatch(), qPrintable(boxes));
    const double height = match.captured(2).toDouble() - match.captured(1).toDouble();
    QVERIFY2(height > 7 && height < 10, qPrintable(QString::number(height)));
}

void TestFigure::svgKeepsText() {
    QTemporaryDir dir;
    const QString path = dir.filePath(QStringLiteral("figure.svg"));
    QVERIFY(exportFigure(sizesCurve(), *figureStyle(QStringLiteral("usenix")), path));
    const QByteArray svg = contentOf(path);
    QVERIFY(svg.contains("64K"));
    QVERIFY(svg.contains("1M"));
    QVERIFY(svg.contains("Throughput (Mbit/s)"));
    QVERIFY(svg.contains("width=\"84.7"));
}

void TestFigure::pngHas300Dpi() {
    QTemporaryDir dir;
    const QString path = dir.filePath(QStringLiteral("figure.PNG"));
    FigureStyle style;
    style.widthMm = 101.6; // 4 inches
    style.heightMm = 50.8;
    QVERIFY(exportFigure(sizesCurve(), style, path));
    const QImage image(path);
    QCOMPARE(image.size(), QSize(1200, 600));
    QCOMPARE(image.dotsPerMeterX(), 11811);
    // Something blue is drawn: the first series.
    int blue = 0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x)
            blue += image.pixelColor(x, y) == QColor(0x00, 0x72, 0xb2) ? 1 : 0;
    }
    QVERIFY(blue > 500);
}

void TestFigure::badRequests_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("empty");
    QTest::addColumn<double>("width");
    QTest::addColumn<QString>("font");
    QTest::addColumn<QString>("says");
    QTest::newRow("unknown ending") << "figure.gif" << false << 80.0 << ""
                                    << ".pdf, .svg or .png";
    QTest::newRow("no ending") << "figure" << false << 80.0 << ""
                               << ".pdf, .svg or .png";
    QTest::newRow("nothing to draw") << "figure.pdf" << true << 80.0 << ""
                                     << "nothing to draw";
    QTest::newRow("no width") << "figure.pdf" << false << 0.0 << ""
                              << "out of range";
    QTest::newRow("endless width") << "figure.png" << false << 1e9 << ""
                                   << "out of range";
    QTest::newRow("NaN width") << "figure.png" << false << qQNaN() << ""
                               << "out of range";
    QTest::newRow("absent font") << "figure.pdf" << false << 80.0 << "No Such Font"
                                 << "installed";
}

void TestFigure::badRequests() {
    QFETCH(QString, name);
    QFETCH(bool, empty);
    QFETCH(double, width);
    QFETCH(QString, font);
    QFETCH(QString, says);
    QTemporaryDir dir;
    CurveSet set = sizesCurve();
    if (empty) {
        for (CurvePoint& p : set.series[0].points)
            p.summary.mean.reset();
    }
    const auto result = exportFigure(set, {width, 60, 8, font}, dir.filePath(name));
    QVERIFY(!result);
    QCOMPARE(result.error().code, Error::Code::BadInput);
    QVERIFY2(result.error().text().contains(says), qPrintable(result.error().text()));
    QVERIFY(QDir(dir.path()).isEmpty());
}

void TestFigure::fullDiskLeavesNothing_data() {
    QTest::addColumn<QString>("name");
    QTest::newRow("pdf") << "figure.pdf";
    QTest::newRow("svg") << "figure.svg";
    QTest::newRow("png") << "figure.png";
}

/// A limit on the size of files stands for a disk with little room left.
void TestFigure::fullDiskLeavesNothing() {
    QFETCH(QString, name);
    QTemporaryDir dir;
    rlimit before{};
    QCOMPARE(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto signalBefore = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{1024, before.rlim_max};
    QCOMPARE(::setrlimit(RLIMIT_FSIZE, &small), 0);
    const auto result = exportFigure(manySeries(30), FigureStyle{}, dir.filePath(name));
    QCOMPARE(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, signalBefore);
    QVERIFY(!result);
    QCOMPARE(result.error().code, Error::Code::Storage);
    QVERIFY(QDir(dir.path()).isEmpty());
}

void TestFigure::unwritablePathLeavesNothing() {
    QTemporaryDir dir;
    const QString path = dir.filePath(QStringLiteral("absent/figure.pdf"));
    const auto result = exportFigure(sizesCurve(), FigureStyle(), path);
    QVERIFY(!result);
    QCOMPARE(result.error().code, Error::Code::Storage);
    QVERIFY(result.error().text().contains(path));
    QVERIFY(QDir(dir.path()).isEmpty());
}

void TestFigure::styles() {
    QCOMPARE(figureStyle(QStringLiteral("acm"))->widthMm, 84.75);
    QCOMPARE(figureStyle(QStringLiteral("ieee"))->fontPt, 9.0);
    QVERIFY(figureStyle(QStringLiteral("slides")));
    const auto unknown = figureStyle(QStringLiteral("springer"));
    QVERIFY(!unknown);
    QVERIFY(unknown.error().text().contains(QStringLiteral("acm, ieee, usenix and slides")));
}

QTEST_MAIN(TestFigure)
#include "tst_figure.moc"
