// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/run.h"

namespace knobscope {

/// The samples of one cell, pointing into the run they were taken from.
struct CellSamples {
    QList<const SampleRecord*> measured;
    int flagged = 0;
    int failed = 0; ///< attempts that gave no result

    /// Of the measured samples that have the metric.
    [[nodiscard]] QList<double> values(const QString& metric, HostRef host) const;
};

/// By cell index; cells without any attempt are not in it. The run must outlive the result.
[[nodiscard]] QMap<int, CellSamples> samplesByCell(const StoredRun& run);

} // namespace knobscope
