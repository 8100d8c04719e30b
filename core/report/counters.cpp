// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/report/curves.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace knobscope {

namespace {

using Key = std::tuple<HostRef, QString, QString>; ///< host, source, name

struct Tally {
    double sum = 0;
    int samples = 0; ///< in which the counter was there
};
using CellTallies = QHash<int, Tally>;

/// Every counter that moved in a measured sample, with nothing tallied yet.
std::map<Key, CellTallies> movedCounters(const StoredRun& run) {
    std::map<Key, CellTallies> counters;
    for (const SampleRecord& sample : run.samples) {
        if (!sample.measured())
            continue;
        for (const CounterDelta& delta : sample.deltas) {
            if (delta.delta != 0)
                counters.try_emplace({delta.host, delta.source, delta.name});
        }
    }
    return counters;
}

/// A counter that was there and did not move counts as 0; one that was not there does not count.
void tally(const SampleRecord& sample, std::map<Key, CellTallies>& counters) {
    std::map<Key, qint64> deltas;
    for (const CounterDelta& delta : sample.deltas)
        deltas[{delta.host, delta.source, delta.name}] += delta.delta;
    for (auto host = sample.presentCounters.begin(); host != sample.presentCounters.end(); ++host) {
        for (auto source = host->begin(); source != host->end(); ++source) {
            for (const QString& name : source.value())
                deltas.try_emplace({host.key(), source.key(), name}, 0);
        }
    }
    for (const auto& [key, delta] : deltas) {
        const auto counter = counters.find(key);
        if (counter == counters.end())
            continue;
        Tally& cell = counter->second[sample.cell];
        cell.sum += static_cast<double>(delta);
        ++cell.samples;
    }
}

double spreadOf(const QList<std::optional<double>>& perCell) {
    QList<double> means;
    for (const auto& mean : perCell) {
        if (mean)
            means << *mean;
    }
    if (means.isEmpty())
        return 0;
    const auto [least, most] = std::minmax_element(means.begin(), means.end());
    const double largest = std::max(std::abs(*least), std::abs(*most));
    return largest > 0 ? (*most - *least) / largest : 0;
}

/// How much a counter tells: its spread between cells, less for counters that hardly count. One
/// event in one cell and none in the others is a spread of 1 too, and says nothing.
double weightOf(const CounterRow& row) {
    constexpr double kFewEvents = 10;
    double most = 0;
    for (const auto& mean : row.perCell)
        most = std::max(most, std::abs(mean.value_or(0)));
    return row.spread * most / (most + kFewEvents);
}

} // namespace

QList<CounterRow> countersThatMoved(const StoredRun& run) {
    std::map<Key, CellTallies> counters = movedCounters(run);
    for (const SampleRecord& sample : run.samples) {
        if (sample.measured())
            tally(sample, counters);
    }
    QList<CounterRow> rows;
    for (const auto& [key, tallies] : counters) {
        CounterRow row;
        std::tie(row.host, row.source, row.name) = key;
        for (const Cell& cell : run.cells) {
            const Tally found = tallies.value(cell.index);
            row.perCell << (found.samples > 0 ? std::optional(found.sum / found.samples)
                                              : std::nullopt);
        }
        row.spread = spreadOf(row.perCell);
        rows << row;
    }
    std::stable_sort(rows.begin(), rows.end(), [](const CounterRow& a, const CounterRow& b) {
        return weightOf(a) > weightOf(b);
    });
    return rows;
}

} // namespace knobscope
