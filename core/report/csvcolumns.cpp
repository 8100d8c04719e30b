// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/metrics.h"
#include "core/model/statistics.h"
#include "core/report/csvparts.h"

#include <set>

namespace knobscope {

namespace {

QString timeText(const QDateTime& time) {
    return time.isValid() ? time.toUTC().toString(Qt::ISODateWithMs) : QString();
}

QString stateText(SampleState state) {
    switch (state) {
    case SampleState::Done:
        return QStringLiteral("done");
    case SampleState::Flagged:
        return QStringLiteral("flagged");
    case SampleState::Failed:
        break;
    }
    return QStringLiteral("failed");
}

/// A side's part of a knob's state; of hosts that differ, each once.
QString stateTexts(const SampleRecord& sample, Side side, const QString& knob,
                   QString (*text)(const KnobState&)) {
    QStringList texts;
    for (const KnobState& state : sample.knobs) {
        if (state.host.side == side && state.knob == knob && !texts.contains(text(state)))
            texts << text(state);
    }
    return texts.join(QStringLiteral("; "));
}

/// What the hosts made of host knobs: read back, and what it was before the run.
void addKnobStateColumns(QList<CsvColumn<SampleRecord>>& columns, const StoredRun& run) {
    std::set<std::pair<Side, QString>> knobs;
    for (const SampleRecord& sample : run.samples) {
        for (const KnobState& state : sample.knobs)
            knobs.insert({state.host.side, state.knob});
    }
    for (const auto& [side, knob] : knobs) {
        for (const KnobStatePart& part : knobStateParts())
            columns << CsvColumn<SampleRecord>{
                prefixed(side, knob) + QLatin1String(part.suffix),
                {},
                QString::fromLatin1(part.help).arg(knob, sideName(side)),
                [side = side, knob = knob, text = part.text](const SampleRecord& sample) {
                    return stateTexts(sample, side, knob, text);
                }};
    }
}

struct MetricKey {
    QString name;
    Side side;
};

/// All metrics of the run but those of single hosts among several, each side by side.
QList<MetricKey> metricsOf(const StoredRun& run) {
    const QList<Side> sides{Side::Whole, Side::Sender, Side::Receiver};
    QHash<Side, QStringList> found;
    for (const Side side : sides)
        found[side] = metricNames(run, [side](const Metric& m) { return m.host == side; });
    QList<MetricKey> keys;
    for (const QString& name :
         metricNames(run, [](const Metric& m) { return m.host.number == 0; })) {
        for (const Side side : sides) {
            if (found[side].contains(name))
                keys << MetricKey{name, side};
        }
    }
    return keys;
}

QString metricHelp(const MetricKey& key) {
    const MetricInfo info = metricInfo(key.name);
    const QString of =
        key.side == Side::Whole ? QString() : QStringLiteral(" Of the %1.").arg(sideName(key.side));
    return info.help + of;
}

/// Statistics of one metric over the repeats of a cell.
void addSummaryColumns(QList<CsvColumn<CellRow>>& columns, const MetricKey& key, double level) {
    struct Part {
        const char* suffix;
        const char* help;
        std::optional<double> Summary::*value;
        bool hasUnit;
    };
    static constexpr Part parts[] = {
        {"_mean", "Mean of the repeats. ", &Summary::mean, true},
        {"_sd", "Standard deviation of the repeats (n - 1). ", &Summary::standardDeviation, true},
        {"_half_width", "Half-width of Student's interval of the mean. ", &Summary::halfWidth,
         true},
        {"_cov", "Coefficient of variation. ", &Summary::coefficientOfVariation, false},
        {"_median", "Median of the repeats. ", &Summary::median, true},
        {"_min", "Smallest of the repeats. ", &Summary::minimum, true},
        {"_max", "Largest of the repeats. ", &Summary::maximum, true},
    };
    for (const Part& part : parts) {
        columns << CsvColumn<CellRow>{
            prefixed(key.side, key.name) + QLatin1String(part.suffix),
            part.hasUnit ? metricInfo(key.name).unit : QString(),
            QLatin1String(part.help) + metricHelp(key),
            [key, level, value = part.value](const CellRow& row) {
                return csvNumber(summarize(row.samples.values(key.name, key.side), level).*value);
            }};
    }
}

} // namespace

QList<CsvColumn<SampleRecord>> sampleColumns(const StoredRun& run) {
    using Row = SampleRecord;
    QList<CsvColumn<Row>> columns{
        {QStringLiteral("order"),
         {},
         QStringLiteral("Position in the run, from 1."),
         [](const Row& row) { return position(row.order); }},
        {QStringLiteral("cell"),
         {},
         QStringLiteral("Number of the cell in the matrix, from 1."),
         [](const Row& row) { return position(row.cell); }},
        {QStringLiteral("block"),
         {},
         QStringLiteral("Block of the plan, from 1."),
         [](const Row& row) { return position(row.block); }},
        {QStringLiteral("attempt"),
         {},
         QStringLiteral("Attempt at the sample, from 1."),
         [](const Row& row) { return position(row.attempt); }},
        {QStringLiteral("state"),
         {},
         QStringLiteral("done; flagged (measured, see flags); failed (see reason)."),
         [](const Row& row) { return stateText(row.state); }},
        {QStringLiteral("reason"),
         {},
         QStringLiteral("Why a failed attempt gave no result."),
         [](const Row& row) { return row.reason; }},
        {QStringLiteral("flags"),
         {},
         QStringLiteral("What to know of a flagged sample."),
         [](const Row& row) { return row.flags.join(QStringLiteral("; ")); }},
        {QStringLiteral("started_utc"), QStringLiteral("ISO 8601"),
         QStringLiteral("When the sample began."),
         [](const Row& row) { return timeText(row.started); }},
        {QStringLiteral("ended_utc"), QStringLiteral("ISO 8601"),
         QStringLiteral("When the sample ended."),
         [](const Row& row) { return timeText(row.ended); }},
    };
    addKnobColumns<Row>(columns, run, [&run](const Row& row) { return findCell(run, row.cell); });
    addKnobStateColumns(columns, run);
    for (const MetricKey& key : metricsOf(run))
        columns << CsvColumn<Row>{
            prefixed(key.side, key.name), metricInfo(key.name).unit, metricHelp(key),
            [key](const Row& row) { return csvNumber(row.metric(key.name, key.side)); }};
    return columns;
}

QList<CsvColumn<CellRow>> cellColumns(const StoredRun& run) {
    using Row = CellRow;
    const double level = run.experiment.plan.confidenceLevel;
    QList<CsvColumn<Row>> columns{{QStringLiteral("cell"),
                                   {},
                                   QStringLiteral("Number of the cell in the matrix, from 1."),
                                   [](const Row& row) { return position(row.cell->index); }}};
    addKnobColumns<Row>(columns, run, [](const Row& row) { return row.cell; });
    columns << CsvColumn<Row>{
        QStringLiteral("n"), {}, QStringLiteral("Measured repeats."), [](const Row& row) {
            return QString::number(row.samples.measured.size());
        }};
    columns << CsvColumn<Row>{QStringLiteral("flagged"),
                              {},
                              QStringLiteral("Repeats among them that carry a flag."),
                              [](const Row& row) { return QString::number(row.samples.flagged); }};
    columns << CsvColumn<Row>{QStringLiteral("failed"),
                              {},
                              QStringLiteral("Attempts that gave no result."),
                              [](const Row& row) { return QString::number(row.samples.failed); }};
    columns << CsvColumn<Row>{QStringLiteral("level"),
                              {},
                              QStringLiteral("Confidence level of the intervals."),
                              [level](const Row&) { return csvNumber(level); }};
    for (const MetricKey& key : metricsOf(run))
        addSummaryColumns(columns, key, level);
    return columns;
}

} // namespace knobscope
