// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/counterdeltas.h"

#include <limits>
#include <map>
#include <set>

namespace knobscope {

namespace {

std::optional<qint64> deltaOf(quint64 before, quint64 after) {
    constexpr quint64 kWrap = quint64{1} << 32;
    if (after >= before) {
        const quint64 step = after - before;
        if (step > static_cast<quint64>(std::numeric_limits<qint64>::max()))
            return std::nullopt;
        return static_cast<qint64>(step);
    }
    if (before < kWrap && after + kWrap - before < kWrap / 2)
        return static_cast<qint64>(after + kWrap - before);
    const quint64 fall = before - after;
    if (fall > static_cast<quint64>(std::numeric_limits<qint64>::max()))
        return std::nullopt;
    return -static_cast<qint64>(fall);
}

} // namespace

void addDeltas(SampleRecord& sample, HostRef host, const protocol::Snapshot& before,
               const protocol::Snapshot& after) {
    for (const auto& [source, counters] : after.counters) {
        const auto old = before.counters.find(source);
        if (old == before.counters.end())
            continue;
        const QString sourceName = QString::fromStdString(source);
        QStringList present;
        for (const auto& [name, value] : counters) {
            const auto was = old->second.find(name);
            if (was == old->second.end())
                continue;
            const auto delta = deltaOf(was->second, value);
            if (!delta)
                continue;
            const QString counter = QString::fromStdString(name);
            present.append(counter);
            if (*delta != 0)
                sample.deltas.append(CounterDelta{host, sourceName, counter, *delta});
        }
        present.sort();
        sample.presentCounters[host].insert(sourceName, present);
    }
}

void addSummedDeltas(SampleRecord& sample, Side side) {
    std::map<std::pair<QString, QString>, qint64> sums;
    std::set<std::pair<QString, QString>> beyond; // what 64 bits hold: not known
    for (const CounterDelta& delta : std::as_const(sample.deltas)) {
        if (delta.host.side != side || delta.host.number == 0)
            continue;
        const std::pair counter(delta.source, delta.name);
        qint64& sum = sums[counter];
        if (__builtin_add_overflow(sum, delta.delta, &sum))
            beyond.insert(counter);
    }
    QMap<QString, QStringList> present;
    for (auto host = sample.presentCounters.cbegin(); host != sample.presentCounters.cend();
         ++host) {
        if (host.key().side != side || host.key().number == 0)
            continue;
        for (auto source = host->cbegin(); source != host->cend(); ++source)
            present[source.key()] += source.value();
    }
    for (auto source = present.begin(); source != present.end(); ++source) {
        source->sort();
        source->removeDuplicates();
        source->removeIf(
            [&](const QString& name) { return beyond.contains(std::pair(source.key(), name)); });
    }
    if (!present.isEmpty())
        sample.presentCounters.insert(side, present);
    for (const auto& [counter, sum] : sums) {
        if (sum != 0 && !beyond.contains(counter))
            sample.deltas.append(CounterDelta{side, counter.first, counter.second, sum});
    }
}

} // namespace knobscope
