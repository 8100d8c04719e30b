// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/jsontext.h"

#include <cmath>

namespace knobscope::cli {

namespace {

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

std::string jsonText(const QString& value) {
    return value.toStdString();
}

Json jsonList(const QStringList& values) {
    Json array = Json::array();
    for (const QString& value : values)
        array.push_back(jsonText(value));
    return array;
}

Json jsonTime(const QDateTime& value) {
    return value.isValid() ? Json(jsonText(value.toUTC().toString(Qt::ISODateWithMs))) : Json();
}

Json jsonNumber(std::optional<double> value) {
    return value && std::isfinite(*value) ? Json(*value) : Json();
}

Json jsonHostNumber(HostRef host) {
    return host.number == 0 ? Json() : Json(host.number);
}

Json jsonValue(const KnobValue& value) {
    return value.number ? Json(*value.number) : Json(jsonText(value.text));
}

Json jsonSettings(const Experiment& experiment, const Cell& cell) {
    Json array = Json::array();
    for (qsizetype i = 0; i < cell.values.size() && i < experiment.axes.size(); ++i)
        array.push_back({{"knob", jsonText(experiment.axes[i].knob)},
                         {"side", jsonText(sideName(experiment.axes[i].side))},
                         {"value", jsonValue(cell.values[i])}});
    return array;
}

Json jsonCheck(const Check& check) {
    return {{"state", stateName(check.state)},
            {"title", jsonText(check.title)},
            {"detail", jsonText(check.detail)}};
}

Json jsonChange(const PlannedChange& change) {
    return {{"host", jsonText(change.label)},
            {"side", jsonText(sideName(change.host.side))},
            {"number", jsonHostNumber(change.host)},
            {"knob", jsonText(change.knob)},
            {"interface", change.interface.isEmpty() ? Json() : Json(jsonText(change.interface))},
            {"now", change.now ? Json(jsonText(*change.now)) : Json()},
            {"values", jsonList(change.values)}};
}

const char* jsonState(SampleState state) {
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

QString jsonLine(const Json& value) {
    return QString::fromStdString(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

} // namespace knobscope::cli
