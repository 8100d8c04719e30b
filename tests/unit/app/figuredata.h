// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/figure/curvefigure.h"

#include <QProcess>

#include <qcustomplot.h>

/// Curve sets for the tests of figures, and what to look at a drawing with.
namespace knobscope::example {

inline const QStringList kSizes = {QStringLiteral("64K"), QStringLiteral("256K"),
                                   QStringLiteral("1M")};

inline CurvePoint point(int cell, const QString& x, double mean, double half = 5) {
    CurvePoint point;
    point.cell = cell;
    point.x = KnobValue(x);
    point.summary.n = 5;
    point.summary.mean = mean;
    point.summary.halfWidth = half;
    return point;
}

inline CurveSet sizesCurve() {
    CurveSet set;
    set.title = QStringLiteral("Window");
    set.xLabel = QStringLiteral("Window (bytes)");
    set.yLabel = QStringLiteral("Throughput (Mbit/s)");
    set.scale = AxisScale::Log2;
    CurveSeries series;
    for (int i = 0; i < kSizes.size(); ++i) {
        set.xValues.append(KnobValue(kSizes[i]));
        series.points.append(point(i, kSizes[i], 100.0 * (i + 1)));
    }
    set.series.append(series);
    return set;
}

inline CurveSet manySeries(int count) {
    CurveSet set = sizesCurve();
    set.seriesLabel = QStringLiteral("tcp_limit_output_bytes");
    const CurveSeries first = set.series.takeFirst();
    for (int s = 0; s < count; ++s) {
        CurveSeries series = first;
        series.name = QStringLiteral("%1K").arg(16 * (s + 1));
        series.place = s;
        for (CurvePoint& p : series.points)
            p.summary.mean = *p.summary.mean + 10 * s;
        set.series.append(series);
    }
    return set;
}

inline QString outputOf(const QString& program, const QStringList& arguments) {
    QProcess process;
    process.start(program, arguments);
    if (!process.waitForFinished(20000) || process.exitCode() != 0)
        return QStringLiteral("%1 failed: %2").arg(program, process.errorString());
    return QString::fromUtf8(process.readAllStandardOutput());
}

inline QByteArray contentOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

/// Labels of the x axis as drawn.
inline QStringList tickLabels(QCustomPlot& plot) {
    plot.setViewport(QRect(0, 0, 1200, 600));
    plot.replot(QCustomPlot::rpImmediateRefresh);
    QStringList labels;
    for (const QString& label : plot.axisRect()->axis(QCPAxis::atBottom)->tickVectorLabels()) {
        if (!label.isEmpty())
            labels.append(label);
    }
    return labels;
}

inline CurveSet linearCurve(const QList<qint64>& values) {
    CurveSet set = sizesCurve();
    set.scale = AxisScale::Linear;
    set.xValues.clear();
    set.series[0].points.clear();
    for (int i = 0; i < values.size(); ++i) {
        set.xValues.append(KnobValue(values[i]));
        set.series[0].points.append(point(i, QString::number(values[i]), 10 + i));
    }
    return set;
}

} // namespace knobscope::example
