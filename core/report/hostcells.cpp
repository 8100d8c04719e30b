// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/hostcells.h"

#include "core/report/cellvalues.h"

namespace knobscope {

namespace {

/// One pass over the samples, as every host has many metrics.
QMap<HostRef, QMap<QString, std::pair<double, int>>> sumsOf(const CellSamples& samples) {
    QMap<HostRef, QMap<QString, std::pair<double, int>>> sums;
    for (const SampleRecord* sample : samples.measured) {
        for (const Metric& metric : sample->metrics) {
            if (metric.host.number == 0)
                continue;
            auto& [sum, count] = sums[metric.host][metric.name];
            sum += metric.value;
            ++count;
        }
    }
    return sums;
}

} // namespace

QList<HostCell> hostCells(const StoredRun& run) {
    QList<HostCell> cells;
    const QMap<int, CellSamples> samples = samplesByCell(run);
    for (const Cell& cell : run.cells) {
        const auto sums = sumsOf(samples.value(cell.index));
        for (const HostRef host : run.experiment.hostRefs()) {
            const auto own = sums.constFind(host);
            if (own == sums.cend())
                continue;
            HostCell figures{cell.index, host, run.experiment.host(host).label(), {}};
            for (auto sum = own->cbegin(); sum != own->cend(); ++sum)
                figures.means.insert(sum.key(), sum->first / sum->second);
            cells.append(figures);
        }
    }
    return cells;
}

} // namespace knobscope
