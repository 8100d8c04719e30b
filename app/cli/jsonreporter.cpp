// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/jsontext.h"
#include "app/cli/runreporter.h"

namespace knobscope::cli {

namespace {

void print(Console& console, const Json& event) {
    console.print(jsonLine(event));
}

Json settings(const Experiment& experiment, const QList<Cell>& cells, int index) {
    return index >= 0 && index < cells.size() ? jsonSettings(experiment, cells[index])
                                              : Json::array();
}

/// By "sample", "sender", "receiver" and, where a side has several hosts, "sender_1"...
Json metrics(const SampleRecord& sample) {
    Json all = Json::object();
    for (const Metric& metric : sample.metrics) {
        QString host = QStringLiteral("sample");
        if (metric.host.side != Side::Whole)
            host = hostName(metric.host).replace(QLatin1Char(' '), QLatin1Char('_'));
        all[jsonText(host)][jsonText(metric.name)] = metric.value;
    }
    return all;
}

} // namespace

void JsonReporter::checked(const PreflightReport& report) {
    for (const Check& check : report.checks) {
        Json event{{"event", "check"}, {"host", jsonText(check.host)}};
        event.update(jsonCheck(check));
        print(m_console, event);
    }
    for (const PlannedChange& change : report.changes) {
        Json event{{"event", "change"}};
        event.update(jsonChange(change));
        print(m_console, event);
    }
}

void JsonReporter::onRunStarted(qint64 run, int cells) {
    print(m_console, {{"event", "run_started"},
                      {"run", run},
                      {"name", jsonText(m_experiment.name)},
                      {"cells", cells}});
}

void JsonReporter::onSampleFinished(const SampleRecord& sample) {
    print(m_console, {{"event", "sample"},
                      {"id", sample.id},
                      {"cell", sample.cell + 1},
                      {"settings", settings(m_experiment, m_cells, sample.cell)},
                      {"block", sample.block + 1},
                      {"order", sample.order + 1},
                      {"attempt", sample.attempt + 1},
                      {"state", jsonState(sample.state)},
                      {"reason", jsonText(sample.reason)},
                      {"flags", jsonList(sample.flags)},
                      {"started", jsonTime(sample.started)},
                      {"ended", jsonTime(sample.ended)},
                      {"metrics", metrics(sample)}});
}

void JsonReporter::onProgressed(const RunProgress& progress) {
    print(m_console, {{"event", "progress"},
                      {"done", progress.done},
                      {"planned", progress.planned},
                      {"elapsed_s", progress.elapsedSeconds},
                      {"remaining_s", progress.remainingSeconds}});
}

void JsonReporter::ended(const RunOutcome& outcome, const std::optional<StoredRun>& stored,
                         const QStringList& exported) {
    Json event{{"event", "finished"},
               {"status", static_cast<int>(outcome.status)},
               {"message", jsonText(outcome.message)},
               {"not_restored", jsonList(outcome.notRestored)},
               {"exported", jsonList(exported)}};
    if (stored) {
        event["run"] = stored->info.id;
        event["state"] = jsonText(runStateName(stored->info.state));
        event["samples_done"] = stored->info.samplesDone;
        event["samples_failed"] = stored->info.samplesFailed;
    } else {
        event["run"] = nullptr;
    }
    print(m_console, event);
    printErrors(outcome);
}

} // namespace knobscope::cli
