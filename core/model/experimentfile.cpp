// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/experimentfile.h"

#include "core/model/knobcatalogue.h"
#include "core/model/objectreader.h"
#include "core/model/strictjson.h"
#include "core/model/suggest.h"

#include <QFile>
#include <QFileInfo>

#include <cmath>

namespace knobscope {

namespace {

constexpr qint64 kMaxFileBytes = qint64{4} << 20;
constexpr int kVersion = 1;

QStringList testKnobNames() {
    QStringList names;
    for (const KnobEntry& entry : knobCatalogue().knobs) {
        if (entry.info.scope == KnobScope::Test)
            names << entry.info.name;
    }
    return names;
}

/// A value as JSON has it: 65536, "64K", true. Other types are an error of `reader` at `path`.
KnobValue readValue(const Json& json, const QString& path, ObjectReader& reader) {
    if (json.is_string())
        return KnobValue(QString::fromStdString(json.get_ref<const std::string&>()));
    if (json.is_boolean())
        return KnobValue(json.get<bool>() ? QStringLiteral("on") : QStringLiteral("off"));
    if (json.is_number_unsigned())
        return KnobValue(QString::number(json.get<quint64>()));
    if (json.is_number_integer())
        return KnobValue(QString::number(json.get<qint64>()));
    if (json.is_number_float()) {
        const double number = json.get<double>();
        // Beyond 2^53 a double may stand for another whole number than the one written.
        if (number == std::floor(number) && std::abs(number) <= 9007199254740992.0)
            return KnobValue(static_cast<qint64>(number));
        reader.fail(path, QStringLiteral("must be a whole number; write others as a string."));
        return {};
    }
    reader.fail(path, QStringLiteral("must be a number, a string, true or false, but is %1.")
                          .arg(jsonTypeName(json)));
    return {};
}

HostSpec readHost(ObjectReader& hosts, const Json& json, const QString& path) {
    ObjectReader reader(json, path);
    reader.allow({QStringLiteral("ssh"), QStringLiteral("local"), QStringLiteral("address"),
                  QStringLiteral("interface")});
    HostSpec host;
    host.local = reader.boolean("local", false);
    host.ssh = reader.string("ssh", false);
    host.address = reader.string("address", false);
    host.interface = reader.string("interface", false);
    for (const char* text : {"ssh", "address", "interface"}) {
        if (reader.has(text) && reader.string(text, false).isEmpty())
            reader.fail(reader.pathOf(QLatin1String(text)), QStringLiteral("must not be empty."));
    }
    // This computer can talk to itself without further ado.
    if (host.local && host.address.isEmpty() &&
        (host.interface.isEmpty() || host.interface == QLatin1String("lo")))
        host.address = QStringLiteral("127.0.0.1");
    if (host.local && host.interface.isEmpty() &&
        (host.address.startsWith(QLatin1String("127.")) || host.address == QLatin1String("::1")))
        host.interface = QStringLiteral("lo");
    hosts.take(reader);
    return host;
}

/// One host, or a list of them.
QList<HostSpec> readSide(ObjectReader& hosts, const Json& json, Side side) {
    const QString name = sideName(side);
    const QString path = hostPath(side);
    const auto entry = json.find(name.toStdString());
    if (entry == json.end()) {
        hosts.fail(path, QStringLiteral("missing."));
        return {};
    }
    if (!entry->is_array() && !entry->is_object()) {
        hosts.fail(path, QStringLiteral("must be an object, or an array of objects, but is %1.")
                             .arg(jsonTypeName(*entry)));
        return {};
    }
    if (entry->is_object())
        return {readHost(hosts, *entry, path)};
    if (entry->empty())
        hosts.fail(path, QStringLiteral("empty: give at least one host."));
    if (entry->size() > kMaxHosts)
        hosts.fail(
            path,
            QStringLiteral("%1 hosts; at most %2 are possible.").arg(entry->size()).arg(kMaxHosts));
    QList<HostSpec> all;
    for (std::size_t i = 0; i < entry->size() && !hosts.error(); ++i)
        all << readHost(hosts, (*entry)[i], hostPath({side, static_cast<int>(i) + 1}));
    return all;
}

void readHosts(ObjectReader& root, Experiment& experiment) {
    const Json& json = root.object("hosts", true);
    ObjectReader hosts(json, QStringLiteral("hosts"));
    hosts.allow({QStringLiteral("sender"), QStringLiteral("receiver")});
    QList<HostSpec> senders = readSide(hosts, json, Side::Sender);
    QList<HostSpec> receivers = readSide(hosts, json, Side::Receiver);
    root.take(hosts);
    if (senders.isEmpty() || receivers.isEmpty())
        return; // told already
    experiment.sender = senders.takeFirst();
    experiment.moreSenders = senders;
    experiment.receiver = receivers.takeFirst();
    experiment.moreReceivers = receivers;
}

TestSpec readTest(ObjectReader& root) {
    ObjectReader reader(root.object("test", true), QStringLiteral("test"));
    const QStringList knobs = testKnobNames();
    reader.allow(QStringList{QStringLiteral("kind"), QStringLiteral("backend"),
                             QStringLiteral("seconds"), QStringLiteral("warmup_seconds")} +
                 knobs);
    TestSpec test;
    test.kind = reader.string("kind", true);
    if (reader.has("backend"))
        test.backend = reader.string("backend", true);
    test.seconds = reader.number("seconds", test.seconds);
    test.warmupSeconds = reader.number("warmup_seconds", test.warmupSeconds);
    const Json& json = root.object("test", true);
    for (const QString& knob : knobs) {
        if (const auto it = json.find(knob.toStdString()); it != json.end())
            test.options[knob] = readValue(*it, reader.pathOf(knob), reader);
    }
    root.take(reader);
    return test;
}

Axis readAxis(const Json& json, const QString& path, ObjectReader& root) {
    ObjectReader reader(json, path);
    reader.allow({QStringLiteral("knob"), QStringLiteral("side"), QStringLiteral("values")});
    Axis axis;
    axis.knob = canonicalKnobName(reader.string("knob", true));
    if (reader.has("side")) {
        const QString name = reader.string("side", true);
        const auto side = sideFromName(name);
        if (side && *side != Side::Whole)
            axis.side = *side;
        else
            reader.fail(reader.pathOf(QStringLiteral("side")),
                        QStringLiteral("\"%1\" is no side: use sender, receiver or both.")
                            .arg(name.left(60)));
    }
    const Json& values = reader.array("values", true);
    for (std::size_t i = 0; i < values.size(); ++i)
        axis.values << readValue(values[i], QStringLiteral("%1.values[%2]").arg(path).arg(i),
                                 reader);
    root.take(reader);
    return axis;
}

Exclusion readExclusion(const Json& json, const QString& path, ObjectReader& root) {
    // Its keys are knobs; whether each has an axis is checked with the whole.
    ObjectReader reader(json, path);
    Exclusion exclusion;
    if (json.is_object()) {
        for (const auto& item : json.items()) {
            const QString spelt = QString::fromStdString(item.key());
            const QString knob = canonicalKnobName(spelt);
            if (exclusion.contains(knob))
                reader.fail(reader.pathOf(spelt),
                            QStringLiteral("%1 is there twice, spelt in two ways.").arg(knob));
            exclusion[knob] = readValue(item.value(), reader.pathOf(spelt), reader);
        }
    }
    root.take(reader);
    return exclusion;
}

void readCommands(ObjectReader& root, Experiment& experiment) {
    const Json& json = root.object("commands", false);
    for (const auto& item : json.items()) {
        const QString name = QString::fromStdString(item.key());
        ObjectReader reader(item.value(), QStringLiteral("commands.") + name);
        reader.allow({QStringLiteral("get"), QStringLiteral("set"), QStringLiteral("restore"),
                      QStringLiteral("timeout_seconds")});
        CommandKnob& knob = experiment.commands[name];
        knob.get = reader.string("get", true);
        knob.set = reader.string("set", true);
        knob.restore = reader.string("restore", false);
        knob.timeoutSeconds = reader.number("timeout_seconds", knob.timeoutSeconds);
        root.take(reader);
    }
}

void readRepeats(ObjectReader& plan, const Json& json, PlanSpec& spec) {
    if (json.is_object()) {
        ObjectReader reader(json, plan.pathOf(QStringLiteral("repeats")));
        reader.allow({QStringLiteral("min"), QStringLiteral("max")});
        for (const char* key : {"min", "max"}) {
            if (!reader.has(key))
                reader.fail(reader.pathOf(QLatin1String(key)), QStringLiteral("missing."));
        }
        spec.repeatsMin = reader.wholeNumber("min", spec.repeatsMin);
        spec.repeatsMax = reader.wholeNumber("max", spec.repeatsMax);
        plan.take(reader);
    } else if (json.is_number()) {
        spec.repeatsMin = plan.wholeNumber("repeats", spec.repeatsMin);
        spec.repeatsMax = spec.repeatsMin;
    } else {
        plan.fail(
            plan.pathOf(QStringLiteral("repeats")),
            QStringLiteral("must be a whole number or {\"min\": ..., \"max\": ...}, but is %1.")
                .arg(jsonTypeName(json)));
    }
}

void readConfidence(ObjectReader& plan, PlanSpec& spec, bool range) {
    ObjectReader reader(plan.object("confidence", true), plan.pathOf(QStringLiteral("confidence")));
    reader.allow({QStringLiteral("level"), QStringLiteral("half_width_percent")});
    if (!range)
        reader.fail(reader.path(),
                    QStringLiteral("ends a cell between a least and a most number of repeats; give "
                                   "plan.repeats as {\"min\": 5, \"max\": 30}."));
    spec.confidenceLevel = reader.number("level", spec.confidenceLevel);
    spec.halfWidthPercent = reader.number("half_width_percent", spec.halfWidthPercent);
    plan.take(reader);
}

PlanSpec readPlan(ObjectReader& root) {
    const Json& json = root.object("plan", false);
    ObjectReader reader(json, QStringLiteral("plan"));
    reader.allow({QStringLiteral("repeats"), QStringLiteral("confidence"), QStringLiteral("order"),
                  QStringLiteral("seed"), QStringLiteral("pause_seconds"),
                  QStringLiteral("retries")});
    PlanSpec plan;
    if (reader.has("repeats"))
        readRepeats(reader, json["repeats"], plan);
    if (reader.has("confidence"))
        readConfidence(reader, plan, reader.has("repeats") && json["repeats"].is_object());
    if (reader.has("order")) {
        const QString order = reader.string("order", true);
        plan.blocks = order != QLatin1String("sequential");
        if (plan.blocks && order != QLatin1String("blocks"))
            reader.fail(reader.pathOf(QStringLiteral("order")),
                        QStringLiteral("\"%1\" is no order: use blocks or sequential.")
                            .arg(order.left(60)));
    }
    plan.seed = reader.unsignedNumber("seed", plan.seed);
    plan.pauseSeconds = reader.number("pause_seconds", plan.pauseSeconds);
    plan.retries = reader.wholeNumber("retries", plan.retries);
    root.take(reader);
    return plan;
}

void readFormat(ObjectReader& root) {
    if (root.string("format", true) != QLatin1String("knobscope-experiment"))
        root.fail(QStringLiteral("format"), QStringLiteral("must be \"knobscope-experiment\"."));
    if (!root.has("version"))
        root.fail(QStringLiteral("version"), QStringLiteral("missing."));
    if (const int version = root.wholeNumber("version", kVersion); version != kVersion)
        root.fail(QStringLiteral("version"),
                  QStringLiteral("%1 is a version that this program does not read; it reads %2.")
                      .arg(version)
                      .arg(kVersion));
}

} // namespace

QString hostPath(HostRef host) {
    const QString side = QStringLiteral("hosts.") + sideName(host.side);
    return host.number == 0 ? side : QStringLiteral("%1[%2]").arg(side).arg(host.number - 1);
}

Result<Experiment> parseExperiment(const QByteArray& json) {
    if (json.size() > kMaxFileBytes)
        return fail(
            Error::Code::BadInput,
            QStringLiteral("Too large for an experiment: more than %1 bytes.").arg(kMaxFileBytes));
    const auto document = parseStrictJson(json);
    if (!document)
        return tl::unexpected<Error>(document.error());
    ObjectReader root(*document, {});
    readFormat(root);
    root.allow({QStringLiteral("format"), QStringLiteral("version"), QStringLiteral("name"),
                QStringLiteral("hosts"), QStringLiteral("test"), QStringLiteral("axes"),
                QStringLiteral("exclude"), QStringLiteral("plan"), QStringLiteral("commands")});
    Experiment experiment;
    experiment.name = root.string("name", true);
    readHosts(root, experiment);
    experiment.test = readTest(root);
    const Json& axes = root.array("axes", false);
    for (std::size_t i = 0; i < axes.size(); ++i)
        experiment.axes << readAxis(axes[i], QStringLiteral("axes[%1]").arg(i), root);
    const Json& exclude = root.array("exclude", false);
    for (std::size_t i = 0; i < exclude.size(); ++i)
        experiment.exclude << readExclusion(exclude[i], QStringLiteral("exclude[%1]").arg(i), root);
    experiment.plan = readPlan(root);
    readCommands(root, experiment);
    if (root.error())
        return tl::unexpected<Error>(*root.error());
    if (const auto ok = checkExperiment(experiment); !ok)
        return tl::unexpected<Error>(ok.error());
    return experiment;
}

Result<Experiment> readExperimentFile(const QString& path) {
    const QFileInfo info(path);
    if (!info.exists())
        return fail(Error::Code::BadInput, QStringLiteral("%1: there is no such file.").arg(path));
    // Reading a pipe or a device could wait for ever.
    if (!info.isFile())
        return fail(Error::Code::BadInput, QStringLiteral("%1: is no regular file.").arg(path));
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return fail(Error::Code::BadInput, QStringLiteral("%1: cannot be read").arg(path),
                    file.errorString());
    // One byte more than allowed is enough to see that it is too large.
    auto experiment = parseExperiment(file.read(kMaxFileBytes + 1));
    if (!experiment)
        experiment.error().message.prepend(path + QStringLiteral(": "));
    return experiment;
}

} // namespace knobscope
