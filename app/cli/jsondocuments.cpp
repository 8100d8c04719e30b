// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/jsondocuments.h"

#include "app/cli/counterrange.h"
#include "app/cli/jsontext.h"
#include "core/model/experimentfile.h"
#include "core/model/metrics.h"
#include "core/report/cellvalues.h"
#include "core/report/hostcells.h"

namespace knobscope::cli {

namespace {

Json infoJson(const RunInfo& info) {
    return {{"run", info.id},
            {"name", jsonText(info.name)},
            {"state", jsonText(runStateName(info.state))},
            {"resumable", info.resumable},
            {"message", jsonText(info.message)},
            {"started", jsonTime(info.started)},
            {"ended", jsonTime(info.ended)},
            {"sender", jsonText(info.sender)},
            {"receiver", jsonText(info.receiver)},
            {"test", jsonText(info.testKind)},
            {"knobs", jsonList(info.knobs)},
            {"cells", info.cells},
            {"samples_done", info.samplesDone},
            {"samples_failed", info.samplesFailed},
            {"samples_planned", info.samplesPlanned}};
}

Json hostsJson(const QList<HostFacts>& hosts) {
    Json array = Json::array();
    for (const HostFacts& host : hosts) {
        Json facts = Json::object();
        for (auto fact = host.facts.cbegin(); fact != host.facts.cend(); ++fact)
            facts[jsonText(fact.key())] = jsonText(fact.value());
        array.push_back({{"side", jsonText(sideName(host.host.side))},
                         {"number", jsonHostNumber(host.host)},
                         {"host", jsonText(host.label)},
                         {"facts", facts}});
    }
    return array;
}

/// Each flag once, with the number of samples that carry it.
Json flagsJson(const CellSamples& samples) {
    QMap<QString, int> counts;
    for (const SampleRecord* sample : samples.measured) {
        for (const QString& flag : sample->flags)
            ++counts[flag];
    }
    Json array = Json::array();
    for (auto flag = counts.cbegin(); flag != counts.cend(); ++flag)
        array.push_back({{"text", jsonText(flag.key())}, {"samples", flag.value()}});
    return array;
}

Json cellsJson(const StoredRun& run, const QString& metric) {
    const QMap<int, CellSamples> samples = samplesByCell(run);
    Json array = Json::array();
    for (const Cell& cell : run.cells) {
        const CellSamples found = samples.value(cell.index);
        const Summary main =
            summarize(found.values(metric, Side::Whole), run.experiment.plan.confidenceLevel);
        const Summary retransmits =
            summarize(found.values(QStringLiteral("retransmits"), Side::Whole));
        Json interval;
        if (main.mean && main.halfWidth)
            interval = Json::array({jsonNumber(*main.mean - *main.halfWidth),
                                    jsonNumber(*main.mean + *main.halfWidth)});
        array.push_back({{"cell", cell.index + 1},
                         {"settings", jsonSettings(run.experiment, cell)},
                         {"n", found.measured.size()},
                         {"mean", jsonNumber(main.mean)},
                         {"half_width", jsonNumber(main.halfWidth)},
                         {"interval", interval},
                         {"retransmits", jsonNumber(retransmits.mean)},
                         {"flagged", found.flagged},
                         {"failed", found.failed},
                         {"flags", flagsJson(found)}});
    }
    return array;
}

/// The figures of single hosts in each cell, where a side has several: means over the repeats.
Json hostCellsJson(const StoredRun& run) {
    Json array = Json::array();
    for (const HostCell& figures : hostCells(run)) {
        Json means = Json::object();
        for (auto mean = figures.means.cbegin(); mean != figures.means.cend(); ++mean)
            means[jsonText(mean.key())] = jsonNumber(mean.value());
        array.push_back({{"cell", figures.cell + 1},
                         {"side", jsonText(sideName(figures.host.side))},
                         {"number", jsonHostNumber(figures.host)},
                         {"host", jsonText(figures.label)},
                         {"means", means}});
    }
    return array;
}

Json failuresJson(const StoredRun& run) {
    Json array = Json::array();
    for (const SampleRecord& sample : run.samples) {
        if (!sample.measured())
            array.push_back({{"cell", sample.cell + 1},
                             {"block", sample.block + 1},
                             {"order", sample.order + 1},
                             {"attempt", sample.attempt + 1},
                             {"reason", jsonText(sample.reason)}});
    }
    return array;
}

Json countersJson(const StoredRun& run) {
    Json array = Json::array();
    for (const CounterRow& counter : countersThatMoved(run)) {
        const auto range = rangeOf(counter);
        if (!range)
            continue;
        const auto extreme = [&](qsizetype at) {
            return Json{{"cell", run.cells.value(at).index + 1},
                        {"mean", jsonNumber(counter.perCell[at])}};
        };
        Json means = Json::array();
        for (const auto& mean : counter.perCell)
            means.push_back(jsonNumber(mean));
        array.push_back({{"counter", jsonText(counter.name)},
                         {"side", jsonText(sideName(counter.host.side))},
                         {"number", jsonHostNumber(counter.host)},
                         {"source", jsonText(counter.source)},
                         {"least", extreme(range->least)},
                         {"most", extreme(range->most)},
                         {"means", means}});
    }
    return array;
}

} // namespace

QString runsJson(const QList<RunInfo>& runs) {
    Json array = Json::array();
    for (const RunInfo& info : runs)
        array.push_back(infoJson(info));
    return jsonLine(array);
}

QString runJson(const StoredRun& run) {
    const QString metric = mainMetric(run.experiment.test.kind);
    Json object = infoJson(run.info);
    object["experiment"] = Json::parse(writeExperiment(run.experiment).toStdString());
    object["hosts"] = hostsJson(run.hosts);
    object["metric"] = jsonText(metric);
    object["unit"] = jsonText(metricInfo(metric).unit);
    object["confidence_level"] = run.experiment.plan.confidenceLevel;
    object["cells"] = cellsJson(run, metric);
    object["host_cells"] = hostCellsJson(run);
    object["failed_attempts"] = failuresJson(run);
    object["counters"] = countersJson(run);
    return jsonLine(object);
}

QString checksJson(const QStringList& hosts, const QList<PreflightReport>& reports) {
    Json array = Json::array();
    for (qsizetype i = 0; i < reports.size(); ++i) {
        Json checks = Json::array();
        for (const Check& check : reports[i].checks)
            checks.push_back(jsonCheck(check));
        array.push_back({{"host", jsonText(hosts.value(i))},
                         {"status", reports[i].exitStatus},
                         {"checks", checks}});
    }
    return jsonLine(array);
}

QString recoveredJson(const QString& host, int status, const QString& message,
                      const std::vector<protocol::UndoReport>& undone) {
    const auto text = [](const std::optional<std::string>& value) {
        return value ? Json(*value) : Json();
    };
    Json knobs = Json::array();
    for (const protocol::UndoReport& undo : undone)
        knobs.push_back({{"knob", undo.name},
                         {"interface", undo.interface},
                         {"restored", undo.restored},
                         {"original", undo.original},
                         {"found", text(undo.found)},
                         {"now", text(undo.now)},
                         {"changed_by_other", undo.changed_by_other},
                         {"interface_gone", undo.interface_gone},
                         {"error", undo.error}});
    return jsonLine({{"host", jsonText(host)},
                     {"status", status},
                     {"message", jsonText(message)},
                     {"knobs", knobs}});
}

} // namespace knobscope::cli
