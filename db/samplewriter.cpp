// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/samplewriter.h"

#include "db/columns.h"
#include "db/seriesblob.h"
#include "db/streamblob.h"

#include <cmath>

namespace knobscope {

namespace {

Result<void> writeFlags(Database& database, qint64 id, const QStringList& flags) {
    for (qsizetype i = 0; i < flags.size(); ++i) {
        if (auto done =
                database.exec("INSERT INTO sample_flag (sample, position, text) VALUES (?, ?, ?)",
                              {id, i, sqlText(flags[i])});
            !done)
            return done;
    }
    return {};
}

Result<void> writeKnobs(Database& database, Dictionary& dictionary, qint64 id,
                        const QList<KnobState>& knobs) {
    for (qsizetype i = 0; i < knobs.size(); ++i) {
        const KnobState& knob = knobs[i];
        const auto name = dictionary.nameId(knob.knob);
        if (!name)
            return tl::unexpected(name.error());
        if (auto done = database.exec(
                "INSERT INTO sample_knob (sample, position, side, knob, requested, accepted, "
                "original, status, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                {id, i, sideCode(knob.host), *name, sqlText(knob.requested), sqlText(knob.accepted),
                 sqlText(knob.original), sqlText(knob.status), sqlText(knob.error)});
            !done)
            return done;
    }
    return {};
}

Result<void> writeMetrics(Database& database, Dictionary& dictionary, qint64 id,
                          const QList<Metric>& metrics) {
    for (const Metric& metric : metrics) {
        if (!std::isfinite(metric.value))
            continue; // not known: absent
        const auto name = dictionary.nameId(metric.name);
        if (!name)
            return tl::unexpected(name.error());
        if (auto done =
                database.exec("INSERT INTO metric (sample, side, name, value) VALUES (?, ?, ?, ?)",
                              {id, sideCode(metric.host), *name, metric.value});
            !done)
            return done;
    }
    return {};
}

Result<void> writeDeltas(Database& database, Dictionary& dictionary, qint64 id,
                         const QList<CounterDelta>& deltas) {
    for (const CounterDelta& delta : deltas) {
        if (delta.delta == 0)
            continue;
        const auto counter = dictionary.counterId(delta.source, delta.name);
        if (!counter)
            return tl::unexpected(counter.error());
        if (auto done = database.exec(
                "INSERT INTO counter_delta (sample, side, counter, delta) VALUES (?, ?, ?, ?)",
                {id, sideCode(delta.host), *counter, delta.delta});
            !done)
            return done;
    }
    return {};
}

Result<void> writePresent(Database& database, Dictionary& dictionary, qint64 id,
                          const QMap<HostRef, QMap<QString, QStringList>>& present) {
    for (auto host = present.cbegin(); host != present.cend(); ++host) {
        for (auto source = host->cbegin(); source != host->cend(); ++source) {
            const auto set = dictionary.counterSetId(source.key(), source.value());
            if (!set)
                return tl::unexpected(set.error());
            if (auto done = database.exec(
                    "INSERT INTO sample_counter_set (sample, side, counter_set) VALUES (?, ?, ?)",
                    {id, sideCode(host.key()), *set});
                !done)
                return done;
        }
    }
    return {};
}

Result<void> writeSeries(Database& database, qint64 id,
                         const QMap<Side, QList<SeriesPoint>>& series) {
    for (auto side = series.cbegin(); side != series.cend(); ++side) {
        if (auto done = database.exec("INSERT INTO series (sample, side, data) VALUES (?, ?, ?)",
                                      {id, sideCode(side.key()), encodeSeries(side.value())});
            !done)
            return done;
    }
    return {};
}

Result<void> writeStreams(Database& database, qint64 id,
                          const QMap<HostRef, QList<StreamFigures>>& streams) {
    for (auto host = streams.cbegin(); host != streams.cend(); ++host) {
        if (auto done =
                database.exec("INSERT INTO stream_figures (sample, side, data) VALUES (?, ?, ?)",
                              {id, sideCode(host.key()), encodeStreams(host.value())});
            !done)
            return done;
    }
    return {};
}

Result<void> writeDistributions(Database& database, Dictionary& dictionary, qint64 id,
                                const QList<Distribution>& distributions) {
    for (const Distribution& distribution : distributions) {
        const auto name = dictionary.nameId(distribution.name);
        if (!name)
            return tl::unexpected(name.error());
        if (auto done = database.exec(
                "INSERT INTO distribution (sample, side, name, data) VALUES (?, ?, ?, ?)",
                {id, sideCode(distribution.side), *name, encodeDistribution(distribution)});
            !done)
            return done;
    }
    return {};
}

} // namespace

Result<qint64> writeSample(Database& database, Dictionary& dictionary, qint64 run,
                           const SampleRecord& sample) {
    auto id = database.insert(
        "INSERT INTO sample (run, cell, block, position, attempt, state, reason, started_ms, "
        "ended_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        {run, sample.cell, sample.block, sample.order, sample.attempt,
         sampleStateText(sample.state), sqlText(sample.reason), sqlTime(sample.started),
         sqlTime(sample.ended)});
    if (!id)
        return id;
    auto done = writeFlags(database, *id, sample.flags);
    if (done)
        done = writeKnobs(database, dictionary, *id, sample.knobs);
    if (done)
        done = writeMetrics(database, dictionary, *id, sample.metrics);
    if (done)
        done = writeDeltas(database, dictionary, *id, sample.deltas);
    if (done)
        done = writePresent(database, dictionary, *id, sample.presentCounters);
    if (done)
        done = writeSeries(database, *id, sample.series);
    if (done)
        done = writeDistributions(database, dictionary, *id, sample.distributions);
    if (done)
        done = writeStreams(database, *id, sample.streams);
    if (!done)
        return tl::unexpected(done.error());
    return id;
}

} // namespace knobscope
