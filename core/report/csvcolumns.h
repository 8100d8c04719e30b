// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/report/cellvalues.h"

#include <functional>

namespace knobscope {

/// One column of a CSV file: what it is called, what it means, and its text for a row.
template<typename Row>
struct CsvColumn {
    QString name;
    QString unit;
    QString help;
    std::function<QString(const Row&)> text;
};

/// A cell with all that was measured of it.
struct CellRow {
    const Cell* cell = nullptr;
    CellSamples samples;
};

struct CounterDeltaRow {
    const SampleRecord* sample = nullptr;
    const CounterDelta* delta = nullptr;
};

struct FactRow {
    const HostFacts* host = nullptr;
    QString name;
    QString value;
};

/// What one host did in a measured sample.
struct HostRow {
    const SampleRecord* sample = nullptr;
    HostRef host;
    QString label;
};

/// One end of a connection in a measured sample.
struct StreamRow {
    const SampleRecord* sample = nullptr;
    HostRef host;
    const StreamFigures* stream = nullptr;
};

// The columns refer to the run, which must outlive them.
[[nodiscard]] QList<CsvColumn<SampleRecord>> sampleColumns(const StoredRun& run);
[[nodiscard]] QList<CsvColumn<CellRow>> cellColumns(const StoredRun& run);
[[nodiscard]] QList<CsvColumn<CounterDeltaRow>> counterColumns(const StoredRun& run);
[[nodiscard]] QList<CsvColumn<FactRow>> environmentColumns();
[[nodiscard]] QList<CsvColumn<HostRow>> hostColumns(const StoredRun& run);
[[nodiscard]] QList<CsvColumn<StreamRow>> streamColumns(const StoredRun& run);

/// Shortest text that reads back as the same number, C locale; empty where there is none. Whole
/// numbers below 10^15 have all their digits.
[[nodiscard]] QString csvNumber(std::optional<double> value);

} // namespace knobscope
