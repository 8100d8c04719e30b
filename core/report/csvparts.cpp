// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/csvparts.h"

#include "core/model/metrics.h"

#include <QLocale>

#include <algorithm>
#include <cmath>
#include <set>

namespace knobscope {

namespace {

/// As the requested values are written: 262144 for "256K", so that columns compare.
QString plainText(const std::optional<QString>& value) {
    return value ? KnobValue(*value).plain() : QString();
}

} // namespace

QString prefixed(Side side, const QString& name) {
    const QString prefix = sideName(side);
    return prefix.isEmpty() ? name : prefix + QLatin1Char('_') + name;
}

QString position(int index) {
    return QString::number(index + 1);
}

const Cell* findCell(const StoredRun& run, int index) {
    // Cells are stored in the order of their index.
    if (index >= 0 && index < run.cells.size() && run.cells[index].index == index)
        return &run.cells[index];
    const auto cell = std::find_if(run.cells.begin(), run.cells.end(),
                                   [index](const Cell& c) { return c.index == index; });
    return cell == run.cells.end() ? nullptr : &*cell;
}

QString hostNumber(HostRef host) {
    return host.number == 0 ? QString() : QString::number(host.number);
}

const QList<KnobStatePart>& knobStateParts() {
    static const QList<KnobStatePart> parts = {
        {"_accepted", "Value of %1 read back from the %2 before the traffic.",
         [](const KnobState& state) { return plainText(state.accepted); }},
        {"_original", "Value of %1 on the %2 before the run.",
         [](const KnobState& state) { return plainText(state.original); }},
        {"_status", "What came of setting %1 on the %2: applied, unchanged, adjusted, rejected.",
         [](const KnobState& state) { return state.status; }},
    };
    return parts;
}

QStringList metricNames(const StoredRun& run, const std::function<bool(const Metric&)>& wanted) {
    std::set<QString> found;
    for (const SampleRecord& sample : run.samples) {
        for (const Metric& metric : sample.metrics) {
            if (wanted(metric))
                found.insert(metric.name);
        }
    }
    QStringList names;
    for (const MetricInfo& info : knownMetrics()) {
        if (found.erase(info.name) > 0)
            names << info.name;
    }
    for (const QString& name : found)
        names << name;
    return names;
}

QString csvNumber(std::optional<double> value) {
    if (!value || !std::isfinite(*value))
        return {};
    // Shortest would be 2e+05, which readers of whole numbers do not take.
    constexpr double kExact = 1e15;
    if (std::abs(*value) < kExact && std::trunc(*value) == *value)
        return QString::number(static_cast<qint64>(*value));
    return QString::number(*value, 'g', QLocale::FloatingPointShortest);
}

} // namespace knobscope
