// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/models/texttablemodel.h"
#include "core/model/run.h"
#include "core/report/curves.h"
#include "core/run/preflight.h"

namespace knobscope {

/// The tables of the window, made of a run's values. Pure functions: any thread.
struct Table {
    QStringList header;
    QList<TextTableModel::Row> rows;
};

/// One row a counter: host, source, counter, mean delta per sample in each cell, spread.
[[nodiscard]] Table counterTable(const StoredRun& run, const QList<CounterRow>& counters);
/// One row a cell: knob values, n, mean, ±, CV, minimum, maximum, retransmits, flags.
[[nodiscard]] Table cellSummaryTable(const StoredRun& run);
/// One row an attempt, in the order measured.
[[nodiscard]] Table sampleTable(const StoredRun& run);
[[nodiscard]] QStringList sampleHeader(const Experiment& experiment);
[[nodiscard]] TextTableModel::Row sampleRow(const Experiment& experiment, const QList<Cell>& cells,
                                            const SampleRecord& sample);
/// One row a fact: what sender and receiver are.
[[nodiscard]] Table environmentTable(const StoredRun& run);
/// What is worth knowing about the run: its end, flags, failed attempts; one line each.
[[nodiscard]] QStringList remarks(const StoredRun& run);
/// One row a check of a preflight.
[[nodiscard]] Table checkTable(const PreflightReport& report);
/// Host knobs of a sample, after the test knobs of its cell.
[[nodiscard]] Table knobTable(const Experiment& experiment, const Cell& cell,
                              const QList<KnobState>& knobs);

} // namespace knobscope
