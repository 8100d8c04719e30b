// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/run.h"

namespace knobscope {

/// What one of several hosts of a side did in a cell.
struct HostCell {
    int cell = 0;
    HostRef host;
    QString label;
    QMap<QString, double> means; ///< by metric, over the measured repeats
};

/// Cell by cell, the hosts of those sides that have several; nothing for other runs. Cells without
/// a measured sample are left out.
[[nodiscard]] QList<HostCell> hostCells(const StoredRun& run);

} // namespace knobscope
