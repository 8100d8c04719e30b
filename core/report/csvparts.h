// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/report/csvcolumns.h"

namespace knobscope {

// What the CSV files have in common; for the files that define their columns.

/// "sender_cpu_percent"; without a prefix where it is of the sample as a whole.
[[nodiscard]] QString prefixed(Side side, const QString& name);
/// People count from 1, as all tables and messages do.
[[nodiscard]] QString position(int index);
/// Null where the run has no such cell.
[[nodiscard]] const Cell* findCell(const StoredRun& run, int index);
/// 0 becomes an empty field: the side as a whole, or its only host.
[[nodiscard]] QString hostNumber(HostRef host);

/// What the hosts made of a knob: one column each.
struct KnobStatePart {
    const char* suffix;
    const char* help; ///< %1 the knob, %2 whose
    QString (*text)(const KnobState&);
};
[[nodiscard]] const QList<KnobStatePart>& knobStateParts();

/// All metrics of the run that `wanted` takes, each once: those we know in their order, then others
/// by name.
[[nodiscard]] QStringList metricNames(const StoredRun& run,
                                      const std::function<bool(const Metric&)>& wanted);

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

/// For rows that are of a sample: its place in the run and what it asked for.
template<typename Row>
[[nodiscard]] QList<CsvColumn<Row>> sampleKeyColumns(const StoredRun& run) {
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
    return columns;
}

/// Side and host of a row. `hostOf` says whose it is.
template<typename Row>
void addHostColumns(QList<CsvColumn<Row>>& columns, std::function<HostRef(const Row&)> hostOf,
                    const QString& empty) {
    columns << CsvColumn<Row>{QStringLiteral("side"),
                              {},
                              QStringLiteral("sender or receiver."),
                              [hostOf](const Row& row) { return sideName(hostOf(row).side); }};
    columns << CsvColumn<Row>{
        QStringLiteral("host"),
        {},
        QStringLiteral("Which host of a side that has several, from 1; empty: %1.").arg(empty),
        [hostOf](const Row& row) { return hostNumber(hostOf(row)); }};
}

} // namespace knobscope
