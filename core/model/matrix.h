// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/experiment.h"

namespace knobscope {

/// One combination of knob values: `values[i]` belongs to `axes[i]` of the experiment.
struct Cell {
    int index = 0; ///< position in the matrix less its exclusions; last axis varies fastest
    QList<KnobValue> values;
    bool operator==(const Cell&) const = default;
};

/// Largest matrix that is run; beyond it the experiment is BadInput.
inline constexpr int kMaxCells = 10000;

/// The cross product of the axes less the excluded combinations. No axes: one cell.
[[nodiscard]] QList<Cell> expandMatrix(const Experiment& experiment);

/// How many cells that makes, counted up to kMaxCells + 1, without making them.
[[nodiscard]] int countCells(const Experiment& experiment);

/// "window 64K, tcp_limit_output_bytes 16384" for logs and tables.
[[nodiscard]] QString cellLabel(const Experiment& experiment, const Cell& cell);

/// A setting a cell asks of one host.
struct HostSetting {
    HostRef host;
    QString knob;
    KnobValue value;
};
/// Host knobs of the cell, once for each host of the axis's side. Where hosts are one machine, as
/// all are when they are this computer, a setting that it has once is asked of the first of them.
[[nodiscard]] QList<HostSetting> hostSettings(const Experiment& experiment, const Cell& cell);
/// Test knobs of the cell and the fixed options that apply to that side, by name. All hosts of a
/// side have the same.
[[nodiscard]] QMap<QString, KnobValue> testSettings(const Experiment& experiment, const Cell& cell,
                                                    Side side);

} // namespace knobscope
