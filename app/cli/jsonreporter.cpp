// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runreporter.h"

#include <nlohmann/json.hpp>

namespace knobscope::cli {

namespace {

/// Keeps the order of writing, "event" first.
using Event = nlohmann::ordered_json;

std::string text(const QString& value) {
    return value.toStdString();
}

void print(Console& console, const Event& event) {
    // Bytes that are no UTF-8 are replaced rather than thrown about.
    console.print(QString::fromStdString(
        event.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)));
}

Event list(const QStringList& values) {
    Event array = Event::array();
    for (const QString& value : values)
        array.push_back(text(value));
    return array;
}

Event time(const QDateTime& value) {
    return value.isValid() ? Event(text(value.toUTC().toString(Qt::ISODateWithMs))) : Event();
}

Event settings(const Experiment& experiment, const QList<Cell>& cells, int index) {
    Event array = Event::array();
    if (index < 0 || index >= cells.size())
        return array;
    const Cell& cell = cells[index];
    for (qsizetype i = 0; i < cell.values.size() && i < experiment.axes.size(); ++i)
        array.push_back({{"knob", text(experiment.axes[i].knob)},
                         {"side", text(sideName(experiment.axes[i].side))},
                         {"value", text(cell.values[i].text)}});
    return array;
}

Event metrics(const SampleRecord& sample) {
    Event all = Event::object();
    for (const Metric& metric : sample.metrics) {
        const QString side =
            metric.side == Side::Whole ? QStringLiteral("sample") : sideName(metric.side);
        all[text(side)][text(metric.name)] = metric.value;
    }
    return all;
}

const char* stateName(SampleState state) {
    switch (state) {
    case SampleState::Done:
        return "done";
    case SampleState::Flagged:
        return "flagged";
    case SampleState::Failed:
        break;
    }
    return "failed";
}

const char* stateName(Check::State state) {
    switch (state) {
    case Check::State::Ok:
        return "ok";
    case Check::State::Warning:
        return "warning";
    case Check::State::Failed:
        break;
    }
    return "failed";
}

} // namespace

void JsonReporter::checked(const PreflightReport& report) {
    for (const Check& check : report.checks)
        print(m_console, {{"event", "check"},
                          {"state", stateName(check.state)},
                          {"host", text(check.host)},
                          {"title", text(check.title)},
                          {"detail", text(check.detail)}});
}

void JsonReporter::onRunStarted(qint64 run, int cells) {
    print(m_console, {{"event", "run_started"},
                      {"run", run},
                      {"name", text(m_experiment.name)},
                      {"cells", cells}});
}

void JsonReporter::onSampleFinished(const SampleRecord& sample) {
    print(m_console, {{"event", "sample"},
                      {"id", sample.id},
                      {"cell", sample.cell},
                      {"settings", settings(m_experiment, m_cells, sample.cell)},
                      {"block", sample.block},
                      {"order", sample.order},
                      {"attempt", sample.attempt},
                      {"state", stateName(sample.state)},
                      {"reason", text(sample.reason)},
                      {"flags", list(sample.flags)},
                      {"started", time(sample.started)},
                      {"ended", time(sample.ended)},
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
    Event event{{"event", "finished"},
                {"status", static_cast<int>(outcome.status)},
                {"message", text(outcome.message)},
                {"not_restored", list(outcome.notRestored)},
                {"exported", list(exported)}};
    if (stored) {
        event["run"] = stored->info.id;
        event["state"] = text(runStateName(stored->info.state));
        event["samples_done"] = stored->info.samplesDone;
        event["samples_failed"] = stored->info.samplesFailed;
    } else {
        event["run"] = nullptr;
    }
    print(m_console, event);
    printErrors(outcome);
}

} // namespace knobscope::cli
