// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/run.h"
#include "core/model/statistics.h"

namespace knobscope {

/// One point of a throughput-versus-knob curve: a cell with its summary.
struct CurvePoint {
    int cell = 0;
    KnobValue x;
    Summary summary;
    int flagged = 0; ///< samples of the cell that carry a flag
};

struct CurveSeries {
    QString name; ///< value of the series axis ("64K"); of several, joined; empty: only one series
    QList<CurvePoint> points;
    int place = 0; ///< among all combinations of the other axes' values, measured or not
};

enum class AxisScale { Log2, Linear, Category };

/// What a figure shows: data and labels, no pixels.
struct CurveSet {
    QString title;
    QString xLabel;      ///< "tcp_limit_output_bytes (bytes)"
    QString yLabel;      ///< "Throughput (Mbit/s)"
    QString seriesLabel; ///< knob title of the series
    AxisScale scale = AxisScale::Category;
    QList<KnobValue> xValues; ///< all, in the order of the axis
    QList<CurveSeries> series;
    double level = 0.95; ///< of the intervals
};

/// The curves of a run: x is axis number `xAxis` (0-based), all others make the series.
/// Log2 where all x values are powers of two, Linear where all are numbers, else Category
/// ("auto" among numbers makes it Category). BadInput when the run has no such axis or metric.
[[nodiscard]] Result<CurveSet> curvesOf(const StoredRun& run, int xAxis, const QString& metric,
                                        HostRef host = {});

/// Axis with the most values: the natural x.
[[nodiscard]] int defaultXAxis(const Experiment& experiment);

/// Which counters moved, per cell: mean delta per sample.
struct CounterRow {
    HostRef host = Side::Sender; ///< of a side with several hosts: of all of them, or of one
    QString source;
    QString name;
    QList<std::optional<double>> perCell; ///< absent: the counter was not there
    double spread = 0; ///< how strongly it differs between cells: (max−min)/max
};
/// Most telling first: by spread, counters of few events behind.
[[nodiscard]] QList<CounterRow> countersThatMoved(const StoredRun& run);

} // namespace knobscope
