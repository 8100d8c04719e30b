// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/run.h"

namespace knobscope {

/// Writes into `directory` (made if need be): samples.csv (one row a repeat, failed attempts with
/// their reason), cells.csv (one row a cell, with n, mean, SD, interval), counters.csv (one row a
/// moved counter of a sample), environment.csv, dictionary.json (what each column is), and
/// experiment.json. Where a side has several hosts also hosts.csv (one row a host of a measured
/// sample), and where streams are stored streams.csv (one row an end of a connection). UTF-8
/// without BOM, C locale, no comment lines, units in the column names or in dictionary.json.
/// Existing files of these names are replaced whole (written beside, then renamed); of the two that
/// not every run has, one of another run is removed. Returns the paths written.
[[nodiscard]] Result<QStringList> exportCsv(const StoredRun& run, const QString& directory);

/// The names of all files that exportCsv() may write, replace or remove.
[[nodiscard]] QStringList csvFileNames();

/// The cells as a fixed-width text table: knob values, n, mean ± half width, retransmits, flags.
[[nodiscard]] QString cellTable(const StoredRun& run);

} // namespace knobscope
