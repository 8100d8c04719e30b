// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/cellvalues.h"

namespace knobscope {

QList<double> CellSamples::values(const QString& metric, HostRef host) const {
    QList<double> values;
    for (const SampleRecord* sample : measured) {
        if (const auto value = sample->metric(metric, host))
            values << *value;
    }
    return values;
}

QMap<int, CellSamples> samplesByCell(const StoredRun& run) {
    QMap<int, CellSamples> cells;
    for (const SampleRecord& sample : run.samples) {
        CellSamples& cell = cells[sample.cell];
        if (!sample.measured()) {
            ++cell.failed;
            continue;
        }
        cell.measured << &sample;
        if (sample.state == SampleState::Flagged)
            ++cell.flagged;
    }
    return cells;
}

} // namespace knobscope
