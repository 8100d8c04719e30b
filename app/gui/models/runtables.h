// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/models/texttablemodel.h"
#include "core/model/run.h"
#include "core/report/curves.h"

namespace knobscope {

/// The tables of the window, made of a run's values. Pure functions: any thread.
struct Table {
    QStringList header;
    QList<TextTableModel::Row> rows;
    QStringList tips = {}; ///< of the headings
};

[[nodiscard]] TableCell textCell(const QString& text, const QString& toolTip = {});

/// Columns of a counter table that say which counter it is: host, source, counter, spread.
inline constexpr int kCounterNames = 4;
inline constexpr int kCounterSpread = 3;
/// "Window 64K, tcp_limit_output_bytes 16384": a cell as windows name it.
[[nodiscard]] QString cellTitle(const Experiment& experiment, const Cell& cell);
/// "Window, tcp_limit_output_bytes (sender)"
[[nodiscard]] QStringList axisTitles(const Experiment& experiment);
/// One row a counter: host, source, counter, spread, mean delta per sample in each cell. Counters
/// of so few events that their spread says nothing have none and stand last; those that are 0
/// everywhere are left out.
[[nodiscard]] Table counterTable(const StoredRun& run, const QList<CounterRow>& counters);
/// One row a cell: knob values, n, mean, ±, CV, minimum, maximum of the metric, retransmits, flags.
[[nodiscard]] Table cellSummaryTable(const StoredRun& run, const QString& metric, HostRef host);
/// One row an attempt, in the order measured.
[[nodiscard]] Table sampleTable(const StoredRun& run);
[[nodiscard]] QStringList sampleHeader(const Experiment& experiment);
[[nodiscard]] TextTableModel::Row sampleRow(const Experiment& experiment, const QList<Cell>& cells,
                                            const SampleRecord& sample);
/// One row a fact, one column a host: what sender and receiver are.
[[nodiscard]] Table environmentTable(const StoredRun& run);
/// What is worth knowing about the run: its end, flags, failed attempts; one line each.
[[nodiscard]] QStringList remarks(const StoredRun& run);
/// Host knobs of a sample, after the test knobs of its cell. What the kernel makes of test knobs
/// is known when a sample ends: `earlier` has it, from the cell's sample before.
[[nodiscard]] Table knobTable(const Experiment& experiment, const Cell& cell,
                              const QList<KnobState>& knobs, const QList<KnobState>& earlier = {});
/// The same when the sample failed: nobody knows how the host knobs stand.
[[nodiscard]] Table knobsUnknown(Table table);

} // namespace knobscope
