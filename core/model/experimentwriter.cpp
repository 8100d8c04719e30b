// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/experimentfile.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace knobscope {

namespace {

using Ordered = nlohmann::ordered_json;

constexpr std::size_t kLineWidth = 100;

Ordered toJson(const KnobValue& value) {
    if (value.number && QString::number(*value.number) == value.text)
        return *value.number;
    return value.text.toStdString();
}

/// 10 rather than 10.0.
Ordered toJson(double number) {
    if (number == std::floor(number) && std::abs(number) < 1e15)
        return static_cast<std::int64_t>(number);
    return number;
}

Ordered toJson(const QMap<QString, KnobValue>& values) {
    Ordered json = Ordered::object();
    for (auto it = values.begin(); it != values.end(); ++it)
        json[it.key().toStdString()] = toJson(it.value());
    return json;
}

Ordered toJson(const HostSpec& host) {
    Ordered json = Ordered::object();
    if (host.local)
        json["local"] = true;
    else
        json["ssh"] = host.ssh.toStdString();
    json["address"] = host.address.toStdString();
    json["interface"] = host.interface.toStdString();
    return json;
}

/// A list only where there are several.
Ordered toJson(const QList<HostSpec>& hosts) {
    if (hosts.size() == 1)
        return toJson(hosts.first());
    Ordered json = Ordered::array();
    for (const HostSpec& host : hosts)
        json.push_back(toJson(host));
    return json;
}

Ordered toJson(const TestSpec& test) {
    Ordered json = Ordered::object();
    json["kind"] = test.kind.toStdString();
    json["backend"] = test.backend.toStdString();
    json["seconds"] = toJson(test.seconds);
    json["warmup_seconds"] = toJson(test.warmupSeconds);
    json.update(toJson(test.options));
    return json;
}

Ordered toJson(const Axis& axis) {
    Ordered json = Ordered::object();
    json["knob"] = axis.knob.toStdString();
    json["side"] = sideName(axis.side).toStdString();
    json["values"] = Ordered::array();
    for (const KnobValue& value : axis.values)
        json["values"].push_back(toJson(value));
    return json;
}

Ordered toJson(const PlanSpec& plan) {
    const PlanSpec standard;
    const bool confidence = plan.repeatsMin != plan.repeatsMax ||
                            plan.confidenceLevel != standard.confidenceLevel ||
                            plan.halfWidthPercent != standard.halfWidthPercent;
    Ordered json = Ordered::object();
    if (confidence) {
        json["repeats"] = {{"min", plan.repeatsMin}, {"max", plan.repeatsMax}};
        json["confidence"] = {{"level", toJson(plan.confidenceLevel)},
                              {"half_width_percent", toJson(plan.halfWidthPercent)}};
    } else {
        json["repeats"] = plan.repeatsMin;
    }
    json["order"] = plan.blocks ? "blocks" : "sequential";
    json["seed"] = plan.seed;
    json["pause_seconds"] = toJson(plan.pauseSeconds);
    json["retries"] = plan.retries;
    return json;
}

Ordered toJson(const CommandKnob& knob) {
    Ordered json = Ordered::object();
    json["get"] = knob.get.toStdString();
    json["set"] = knob.set.toStdString();
    if (!knob.restore.isEmpty())
        json["restore"] = knob.restore.toStdString();
    json["timeout_seconds"] = toJson(knob.timeoutSeconds);
    return json;
}

/// One line, with blanks as people write them.
std::string inlineText(const Ordered& json) {
    if (!json.is_structured() || json.empty())
        return json.dump();
    std::string text;
    for (const auto& item : json.items()) {
        text += text.empty() ? "" : ", ";
        if (json.is_object())
            text += Ordered(item.key()).dump() + ": ";
        text += inlineText(item.value());
    }
    return json.is_object() ? "{ " + text + " }" : "[" + text + "]";
}

/// Indented, but what fits a line stays on it: a hundred values are not a hundred lines.
std::string pretty(const Ordered& json, std::size_t indent, bool top) {
    const std::string flat = inlineText(json);
    if (!json.is_structured() || json.empty() || (!top && indent + flat.size() <= kLineWidth))
        return flat;
    const std::string pad(indent + 4, ' ');
    std::string text;
    for (const auto& item : json.items()) {
        text += text.empty() ? "\n" : ",\n";
        text += pad;
        if (json.is_object())
            text += Ordered(item.key()).dump() + ": ";
        text += pretty(item.value(), indent + 4, false);
    }
    text += "\n" + std::string(indent, ' ');
    return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

} // namespace

QByteArray writeExperiment(const Experiment& experiment) {
    Ordered json = Ordered::object();
    json["format"] = "knobscope-experiment";
    json["version"] = 1;
    json["name"] = experiment.name.toStdString();
    json["hosts"] = {{"sender", toJson(experiment.hosts(Side::Sender))},
                     {"receiver", toJson(experiment.hosts(Side::Receiver))}};
    json["test"] = toJson(experiment.test);
    json["axes"] = Ordered::array();
    for (const Axis& axis : experiment.axes)
        json["axes"].push_back(toJson(axis));
    json["exclude"] = Ordered::array();
    for (const Exclusion& exclusion : experiment.exclude)
        json["exclude"].push_back(toJson(exclusion));
    json["plan"] = toJson(experiment.plan);
    for (auto it = experiment.commands.begin(); it != experiment.commands.end(); ++it)
        json["commands"][it.key().toStdString()] = toJson(it.value());
    return QByteArray::fromStdString(pretty(json, 0, true)) + '\n';
}

} // namespace knobscope
