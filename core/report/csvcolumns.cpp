// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/csvcolumns.h"

#include "core/model/metrics.h"
#include "core/model/statistics.h"

#include <QLocale>

#include <algorithm>
#include <cmath>
#include <set>

namespace knobscope {

namespace {

QString prefixed(Side side, const QString& name) {
    const QString prefix = sideName(side);
    return prefix.isEmpty() ? name : prefix + QLatin1Char('_') + name;
}

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

/// Requested values, one column an axis. `cellOf` finds the cell of a row; it may find none.
template<typename Row>
void addKnobColumns(QList<CsvColumn<Row>>& columns, const StoredRun& run,
                    std::function<const Cell*(const Row&)> cellOf) {
    for (qsizetype i = 0; i < run.experiment.axes.size(); ++i) {
        const Axis& axis = run.experiment.axes[i];
        const auto info = knobInfo(axis.knob);
        columns << CsvColumn<Row>{prefixed(axis.side, axis.knob), info ? info->unit : QString(),
                                  QStringLiteral("Requested value of %1 (%2).")
                                      .arg(axis.knob, info ? info->help : QStringLiteral("knob")),
                                  [i, cellOf](const Row& row) {
                                      const Cell* cell = cellOf(row);
                                      return cell && i < cell->values.size()
                                                 ? cell->values[i].plain()
                                                 : QString();
                                  }};
    }
}

const Cell* findCell(const StoredRun& run, int index) {
    // Cells are stored in the order of their index.
    if (index >= 0 && index < run.cells.size() && run.cells[index].index == index)
        return &run.cells[index];
    const auto cell = std::find_if(run.cells.begin(), run.cells.end(),
                                   [index](const Cell& c) { return c.index == index; });
    return cell == run.cells.end() ? nullptr : &*cell;
}

/// As the requested values are written: 262144 for "256K", so that columns compare.
QString plainText(const std::optional<QString>& value) {
    return value ? KnobValue(*value).plain() : QString();
}

/// People count from 1, as all tables and messages do.
QString position(int index) {
    return QString::number(index + 1);
}

/// What the hosts made of host knobs: read back, and what it was before the run.
void addKnobStateColumns(QList<CsvColumn<SampleRecord>>& columns, const StoredRun& run) {
    std::set<std::pair<Side, QString>> knobs;
    for (const SampleRecord& sample : run.samples) {
        for (const KnobState& state : sample.knobs)
            knobs.insert({state.side, state.knob});
    }
    struct Part {
        const char* suffix;
        const char* help;
        QString (*text)(const KnobState&);
    };
    static constexpr Part parts[] = {
        {"_accepted", "Value of %1 read back from the %2 before the traffic.",
         [](const KnobState& state) { return plainText(state.accepted); }},
        {"_original", "Value of %1 on the %2 before the run.",
         [](const KnobState& state) { return plainText(state.original); }},
        {"_status", "What came of setting %1 on the %2: applied, unchanged, adjusted, rejected.",
         [](const KnobState& state) { return state.status; }},
    };
    for (const auto& [side, knob] : knobs) {
        for (const Part& part : parts) {
            columns << CsvColumn<SampleRecord>{
                prefixed(side, knob) + QLatin1String(part.suffix),
                {},
                QString::fromLatin1(part.help).arg(knob, sideName(side)),
                [side = side, knob = knob, text = part.text](const SampleRecord& sample) {
                    for (const KnobState& state : sample.knobs) {
                        if (state.side == side && state.knob == knob)
                            return text(state);
                    }
                    return QString();
                }};
        }
    }
}

struct MetricKey {
    QString name;
    Side side;
};

/// All metrics of the run: those we know in their order, then others by name.
QList<MetricKey> metricsOf(const StoredRun& run) {
    std::set<std::pair<QString, Side>> found;
    for (const SampleRecord& sample : run.samples) {
        for (const Metric& metric : sample.metrics)
            found.insert({metric.name, metric.side});
    }
    QList<MetricKey> keys;
    for (const MetricInfo& info : knownMetrics()) {
        for (const Side side : {Side::Whole, Side::Sender, Side::Receiver}) {
            if (found.erase({info.name, side}) > 0)
                keys << MetricKey{info.name, side};
        }
    }
    for (const auto& [name, side] : found)
        keys << MetricKey{name, side};
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

QString csvNumber(std::optional<double> value) {
    if (!value || !std::isfinite(*value))
        return {};
    // Shortest would be 2e+05, which readers of whole numbers do not take.
    constexpr double kExact = 1e15;
    if (std::abs(*value) < kExact && std::trunc(*value) == *value)
        return QString::number(static_cast<qint64>(*value));
    return QString::number(*value, 'g', QLocale::FloatingPointShortest);
}

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

QList<CsvColumn<CounterDeltaRow>> counterColumns(const StoredRun& run) {
    using Row = CounterDeltaRow;
    QList<CsvColumn<Row>> columns{
        {QStringLiteral("order"),
         {},
         QStringLiteral("Position of the sample in the run, from 1."),
         [](const Row& row) { return position(row.sample->order); }},
        {QStringLiteral("cell"),
         {},
         QStringLiteral("Number of the cell in the matrix, from 1."),
         [](const Row& row) { return position(row.sample->cell); }},
    };
    addKnobColumns<Row>(columns, run,
                        [&run](const Row& row) { return findCell(run, row.sample->cell); });
    columns << CsvColumn<Row>{QStringLiteral("side"),
                              {},
                              QStringLiteral("sender or receiver."),
                              [](const Row& row) { return sideName(row.delta->side); }};
    columns << CsvColumn<Row>{
        QStringLiteral("source"),
        {},
        QStringLiteral("Where the counter is from: ethtool, snmp, netstat, snmp6, interface, "
                       "softnet, interrupts."),
        [](const Row& row) { return row.delta->source; }};
    columns << CsvColumn<Row>{QStringLiteral("counter"),
                              {},
                              QStringLiteral("Name of the counter."),
                              [](const Row& row) { return row.delta->name; }};
    columns << CsvColumn<Row>{
        QStringLiteral("delta"),
        {},
        QStringLiteral("How far it moved over the sample. Counters that did not move have no row."),
        [](const Row& row) { return QString::number(row.delta->delta); }};
    return columns;
}

QList<CsvColumn<FactRow>> environmentColumns() {
    using Row = FactRow;
    return {
        {QStringLiteral("side"),
         {},
         QStringLiteral("sender or receiver."),
         [](const Row& row) { return sideName(row.host->side); }},
        {QStringLiteral("host"),
         {},
         QStringLiteral("Name of the host."),
         [](const Row& row) { return row.host->label; }},
        {QStringLiteral("fact"),
         {},
         QStringLiteral("Dotted name of the fact, such as nic.driver."),
         [](const Row& row) { return row.name; }},
        {QStringLiteral("value"),
         {},
         QStringLiteral("What the host said when the run began."),
         [](const Row& row) { return row.value; }},
    };
}

} // namespace knobscope
