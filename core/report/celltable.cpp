// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/csvexport.h"

#include "core/model/knobcatalogue.h"
#include "core/model/metrics.h"
#include "core/model/plural.h"
#include "core/model/statistics.h"
#include "core/report/cellvalues.h"

#include <algorithm>
#include <cmath>

namespace knobscope {

namespace {

/// Mailing lists quote lines with "> " and wrap them at 80.
constexpr qsizetype kWidth = 72;
constexpr QLatin1String kGap("  ");

/// Decimals that show four digits of a value, none for large ones.
int decimalsFor(double value) {
    if (value == 0 || !std::isfinite(value))
        return 0;
    return std::clamp(3 - static_cast<int>(std::floor(std::log10(std::abs(value)))), 0, 6);
}

QString fixed(std::optional<double> value, int decimals) {
    return value ? QString::number(*value, 'f', decimals) : QStringLiteral("-");
}

/// Whether a cell went through all its repeats and is still less certain than the plan asks.
bool missesTarget(const PlanSpec& plan, const Summary& summary) {
    if (plan.repeatsMin == plan.repeatsMax || summary.n < plan.repeatsMax)
        return false;
    return summary.halfWidth && summary.mean &&
           *summary.halfWidth > plan.halfWidthPercent / 100 * std::abs(*summary.mean);
}

QString knobHeader(const Experiment& experiment, const Axis& axis) {
    const auto twins = std::count_if(experiment.axes.begin(), experiment.axes.end(),
                                     [&](const Axis& other) { return other.knob == axis.knob; });
    const QString name = shortKnobName(axis.knob);
    return twins > 1 ? sideName(axis.side) + QLatin1Char(' ') + name : name;
}

using Row = QStringList;

QList<qsizetype> widthsOf(const QList<Row>& rows) {
    QList<qsizetype> widths;
    for (const Row& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (qsizetype i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], row[i].size());
    }
    return widths;
}

qsizetype lineWidth(const QList<qsizetype>& widths) {
    qsizetype width = 0;
    for (const qsizetype column : widths)
        width += column + kGap.size();
    return width - kGap.size();
}

/// Knob columns too wide for a line are named A, B... ; returns the lines that say which is which.
QStringList shortenHeaders(QList<Row>& rows, qsizetype knobs) {
    QStringList legend;
    if (lineWidth(widthsOf(rows)) <= kWidth)
        return legend;
    for (qsizetype i = 0; i < knobs; ++i) {
        const QString letter =
            i < 26 ? QString(QChar(static_cast<char16_t>(u'A' + i))) : QStringLiteral("K%1").arg(i);
        legend << QStringLiteral("%1 = %2").arg(letter, rows[0][i]);
        rows[0][i] = letter;
    }
    return legend;
}

QString layOut(const QList<Row>& rows) {
    const QList<qsizetype> widths = widthsOf(rows);
    QString text;
    for (const Row& row : rows) {
        QStringList fields;
        for (qsizetype i = 0; i < row.size(); ++i)
            fields << row[i].rightJustified(widths[i]);
        QString line = fields.join(kGap);
        while (line.endsWith(QLatin1Char(' ')))
            line.chop(1);
        text += line + QLatin1Char('\n');
    }
    return text;
}

QList<Row> tableRows(const StoredRun& run, bool& targetMissed) {
    const Experiment& experiment = run.experiment;
    const QString metric = mainMetric(experiment.test.kind);
    const QMap<int, CellSamples> samples = samplesByCell(run);
    Row header;
    for (const Axis& axis : experiment.axes)
        header << knobHeader(experiment, axis);
    header << QStringLiteral("n") << metricInfo(metric).unit << QStringLiteral("±")
           << QStringLiteral("retrans") << QStringLiteral("flags") << QStringLiteral("failed");
    QList<Row> rows{header};
    for (const Cell& cell : run.cells) {
        const CellSamples found = samples.value(cell.index);
        const Summary main =
            summarize(found.values(metric, Side::Whole), experiment.plan.confidenceLevel);
        const Summary retransmits =
            summarize(found.values(QStringLiteral("retransmits"), Side::Whole));
        const int decimals = decimalsFor(main.mean.value_or(0));
        const bool missed = missesTarget(experiment.plan, main);
        targetMissed = targetMissed || missed;
        Row row;
        for (qsizetype i = 0; i < experiment.axes.size(); ++i)
            row << (i < cell.values.size() ? cell.values[i].text : QString());
        row << QString::number(found.measured.size()) << fixed(main.mean, decimals)
            << fixed(main.halfWidth, decimals) + (missed ? QStringLiteral("*") : QString())
            << fixed(retransmits.mean, 0)
            << (found.flagged > 0 ? QString::number(found.flagged) : QString())
            << (found.failed > 0 ? QString::number(found.failed) : QString());
        rows << row;
    }
    return rows;
}

/// Each flag and failure once, with the number of samples that have it.
QString remarks(const StoredRun& run) {
    QStringList order;
    QHash<QString, int> counts;
    const auto note = [&](const QString& sentence) {
        if (counts[sentence]++ == 0)
            order << sentence;
    };
    for (const SampleRecord& sample : run.samples) {
        for (const QString& flag : sample.flags)
            note(QStringLiteral("flag: ") + flag);
        if (!sample.measured())
            note(QStringLiteral("failed: ") + sample.reason);
    }
    constexpr qsizetype kMost = 20;
    QString text;
    for (const QString& sentence : order.mid(0, kMost))
        text += QStringLiteral("%1 x %2\n").arg(counts[sentence]).arg(sentence);
    if (order.size() > kMost)
        text +=
            QStringLiteral("and %1\n").arg(counted(order.size() - kMost, QStringLiteral("other")));
    return text;
}

} // namespace

QString cellTable(const StoredRun& run) {
    const Experiment& experiment = run.experiment;
    const MetricInfo metric = metricInfo(mainMetric(experiment.test.kind));
    bool targetMissed = false;
    QList<Row> rows = tableRows(run, targetMissed);
    const QStringList legend = shortenHeaders(rows, experiment.axes.size());
    QString text = QStringLiteral("%1\n%2 in %3, mean ± half-width of its %4 % interval\n\n")
                       .arg(experiment.name, metric.title, metric.unit)
                       .arg(experiment.plan.confidenceLevel * 100);
    if (!legend.isEmpty())
        text += legend.join(QLatin1Char('\n')) + QStringLiteral("\n\n");
    text += layOut(rows);
    if (targetMissed)
        text += QStringLiteral("* target of ± %1 % not reached\n")
                    .arg(experiment.plan.halfWidthPercent);
    const QString notes = remarks(run);
    return notes.isEmpty() ? text : text + QLatin1Char('\n') + notes;
}

} // namespace knobscope
