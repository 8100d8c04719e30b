// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/curves.h"

#include "core/model/metrics.h"
#include "core/report/cellvalues.h"

#include <algorithm>

namespace knobscope {

namespace {

QString withUnit(const QString& title, const QString& unit) {
    return unit.isEmpty() ? title : QStringLiteral("%1 (%2)").arg(title, unit);
}

/// Title of an axis, with its side where the knob has an axis for each side.
QString axisTitle(const Experiment& experiment, const Axis& axis) {
    const auto info = knobInfo(axis.knob);
    const QString title = info ? info->title : axis.knob;
    const auto twins = std::count_if(experiment.axes.begin(), experiment.axes.end(),
                                     [&](const Axis& other) { return other.knob == axis.knob; });
    return twins > 1 ? QStringLiteral("%1 of the %2").arg(title, sideName(axis.side)) : title;
}

bool isPowerOfTwo(const KnobValue& value) {
    return value.number && *value.number > 0 && (*value.number & (*value.number - 1)) == 0;
}

AxisScale scaleOf(const QList<KnobValue>& values) {
    if (std::all_of(values.begin(), values.end(), isPowerOfTwo))
        return AxisScale::Log2;
    const bool numbers = std::all_of(values.begin(), values.end(),
                                     [](const KnobValue& v) { return v.number.has_value(); });
    return numbers ? AxisScale::Linear : AxisScale::Category;
}

/// Where numbers make the x axis, a line runs from left to right.
void sortPoints(CurveSet& curves) {
    const auto position = [&](const CurvePoint& point) -> qint64 {
        return curves.scale == AxisScale::Category ? curves.xValues.indexOf(point.x)
                                                   : point.x.number.value_or(0);
    };
    for (CurveSeries& series : curves.series)
        std::stable_sort(
            series.points.begin(), series.points.end(),
            [&](const CurvePoint& a, const CurvePoint& b) { return position(a) < position(b); });
}

/// Values of all axes but x, joined.
QString seriesName(const Cell& cell, int xAxis) {
    QStringList names;
    for (qsizetype i = 0; i < cell.values.size(); ++i) {
        if (i != xAxis)
            names << cell.values[i].text;
    }
    return names.join(QStringLiteral(", "));
}

/// Where the cell's series stands among all that the other axes can make.
int seriesPlace(const Experiment& experiment, const Cell& cell, int xAxis) {
    qsizetype place = 0;
    for (qsizetype i = 0; i < cell.values.size() && i < experiment.axes.size(); ++i) {
        const QList<KnobValue>& values = experiment.axes[i].values;
        if (i != xAxis)
            place = place * values.size() + qMax<qsizetype>(0, values.indexOf(cell.values[i]));
    }
    return static_cast<int>(place);
}

/// " of the receiver", " of receiver 2".
QString ofHost(HostRef host) {
    if (host.side == Side::Whole)
        return {};
    return QStringLiteral(" of ") + hostPhrase(host);
}

CurveSet labelled(const StoredRun& run, int xAxis, const QString& metric, HostRef host) {
    const Experiment& experiment = run.experiment;
    const Axis& axis = experiment.axes[xAxis];
    const auto knob = knobInfo(axis.knob);
    const MetricInfo info = metricInfo(metric);
    CurveSet curves;
    curves.title = experiment.name;
    curves.xLabel = withUnit(axisTitle(experiment, axis), knob ? knob->unit : QString());
    curves.yLabel = withUnit(info.title + ofHost(host), info.unit);
    QStringList others;
    for (qsizetype i = 0; i < experiment.axes.size(); ++i) {
        if (i != xAxis)
            others << axisTitle(experiment, experiment.axes[i]);
    }
    curves.seriesLabel = others.join(QStringLiteral(", "));
    curves.scale = scaleOf(axis.values);
    curves.xValues = axis.values;
    curves.level = experiment.plan.confidenceLevel;
    return curves;
}

/// A run that has measured nothing yet has every metric we know of.
bool hasMetric(const StoredRun& run, const QString& metric, HostRef host) {
    bool measured = false;
    for (const SampleRecord& sample : run.samples) {
        if (sample.measured() && sample.metric(metric, host))
            return true;
        measured = measured || sample.measured();
    }
    const QList<MetricInfo> known = knownMetrics();
    return !measured && std::any_of(known.begin(), known.end(),
                                    [&](const MetricInfo& info) { return info.name == metric; });
}

} // namespace

Result<CurveSet> curvesOf(const StoredRun& run, int xAxis, const QString& metric, HostRef host) {
    if (run.experiment.axes.isEmpty())
        return fail(Error::Code::BadInput,
                    QStringLiteral("The run moved no knob, so it has no curve."));
    if (xAxis < 0 || xAxis >= run.experiment.axes.size())
        return fail(Error::Code::BadInput, QStringLiteral("The run has no axis %1; it has %2.")
                                               .arg(xAxis + 1)
                                               .arg(run.experiment.axes.size()));
    if (!hasMetric(run, metric, host))
        return fail(Error::Code::BadInput,
                    QStringLiteral("The run has no metric \"%1\"%2.").arg(metric, ofHost(host)));

    CurveSet curves = labelled(run, xAxis, metric, host);
    const QMap<int, CellSamples> samples = samplesByCell(run);
    QHash<QString, qsizetype> seriesByName;
    for (const Cell& cell : run.cells) {
        if (xAxis >= cell.values.size())
            continue;
        // Series stand in the order of the matrix, whichever cells are measured already.
        const QString name = seriesName(cell, xAxis);
        if (!seriesByName.contains(name)) {
            seriesByName[name] = curves.series.size();
            curves.series << CurveSeries{name, {}, seriesPlace(run.experiment, cell, xAxis)};
        }
        const auto found = samples.find(cell.index);
        if (found == samples.end())
            continue;
        const Summary summary = summarize(found->values(metric, host), curves.level);
        if (summary.n == 0)
            continue;
        curves.series[seriesByName[name]].points
            << CurvePoint{cell.index, cell.values[xAxis], summary, found->flagged};
    }
    curves.series.removeIf([](const CurveSeries& series) { return series.points.isEmpty(); });
    sortPoints(curves);
    return curves;
}

int defaultXAxis(const Experiment& experiment) {
    const auto& axes = experiment.axes;
    const auto most = std::max_element(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) {
        return a.values.size() < b.values.size();
    });
    return most == axes.end() ? 0 : static_cast<int>(most - axes.begin());
}

} // namespace knobscope
