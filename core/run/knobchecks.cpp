// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/knobchecks.h"

#include "core/model/knobcatalogue.h"
#include "core/run/agentcalls.h"
#include "core/run/trafficsetup.h"

namespace knobscope {

namespace {

/// A knob of one host with all its values, in the order of the matrix.
struct KnobValues {
    QString knob;
    QList<KnobValue> values;
};

QList<KnobValues> valuesFor(const Experiment& experiment, HostRef which) {
    QList<KnobValues> all;
    for (const Cell& cell : expandMatrix(experiment)) {
        for (const HostSetting& setting : hostSettings(experiment, cell)) {
            if (setting.host != which)
                continue;
            auto known = std::find_if(all.begin(), all.end(), [&](const KnobValues& each) {
                return each.knob == setting.knob;
            });
            if (known == all.end())
                known = all.insert(all.end(), {setting.knob, {}});
            if (!known->values.contains(setting.value))
                known->values.append(setting.value);
        }
    }
    return all;
}

PlannedChange planned(const KnobValues& knob, const HostSession& host, const HostSpec& spec,
                      HostRef which) {
    const auto entry = findKnob(knob.knob);
    PlannedChange change{which, host.label(), knob.knob, {}, std::nullopt, {}};
    if (entry && !entry->hostWide)
        change.interface = spec.interface;
    for (const KnobValue& value : knob.values)
        change.values.append(value.text);
    return change;
}

/// Says what came of one value.
void judge(CheckLog& log, const HostSession& host, HostRef which, const QString& knob,
           const KnobValue& value, const protocol::KnobOutcome& outcome) {
    const QString title = QStringLiteral("Knob %1 = %2").arg(knob, value.text);
    if (outcome.status == "rejected" || !outcome.accepted) {
        // That the agent is not root, and what to do, stands beside the agent.
        log.refused(host.label(), title,
                    {which, knob, value, QString::fromStdString(outcome.error)},
                    host.hello().uid == 0 ? ExitStatus::BadInput : ExitStatus::HostUnusable);
    } else if (outcome.status == "adjusted") {
        log.warn(host.label(), title,
                 QStringLiteral("The host takes %1 instead; cells with it are flagged")
                     .arg(QString::fromStdString(*outcome.accepted)));
    } else if (!outcome.note.empty()) {
        log.warn(host.label(), title,
                 QStringLiteral("Can be set, but %1; cells with it are flagged")
                     .arg(QString::fromStdString(outcome.note)));
    } else {
        const QString original = outcome.original ? QString::fromStdString(*outcome.original)
                                                  : QStringLiteral("unknown");
        log.ok(host.label(), title, QStringLiteral("can be set (is %1 now)").arg(original));
    }
}

/// `original`: what the host has before anything is set. False: it could not be asked.
bool tryValue(CheckLog& log, HostSession& host, HostRef which, const Experiment& experiment,
              const QString& knob, const KnobValue& value, std::optional<QString>& original) {
    const protocol::KnobSetting setting{
        knob.toStdString(), experiment.host(which).interface.toStdString(),
        value.plain().toStdString(), knobCommands(experiment, knob)};
    const auto outcomes = agentcalls::applyKnobs(host, {setting}).get();
    if (!outcomes) {
        log.failed(host.label(), QStringLiteral("Knob %1 = %2").arg(knob, value.text),
                   outcomes.error());
        return false;
    }
    for (const protocol::KnobOutcome& outcome : *outcomes) {
        if (!original && outcome.original)
            original = QString::fromStdString(*outcome.original);
        judge(log, host, which, knob, value, outcome);
    }
    return true;
}

} // namespace

void checkKnobs(CheckLog& log, HostSession& host, const Experiment& experiment, HostRef which,
                const CancelToken& cancel) {
    const HostSpec& spec = experiment.host(which);
    for (const KnobValues& knob : valuesFor(experiment, which)) {
        const qsizetype first = log.size();
        PlannedChange change = planned(knob, host, spec, which);
        for (const KnobValue& value : knob.values) {
            if (cancel.cancelled())
                return;
            if (!tryValue(log, host, which, experiment, knob.knob, value, change.now))
                return;
        }
        log.group(first);
        log.changes(change);
    }
}

void restoreKnobs(CheckLog& log, HostGroup& hosts) {
    const QString title = QStringLiteral("Putting knobs back");
    std::vector<std::pair<HostSession*, Pending<std::vector<protocol::UndoReport>>>> pending;
    for (const HostRef host : hosts.hosts())
        pending.emplace_back(&hosts.at(host), agentcalls::restoreKnobs(hosts.at(host)));
    for (auto& [host, answer] : pending) {
        const auto restored = answer.get();
        if (!restored) {
            log.failed(host->label(), title, restored.error());
            continue;
        }
        for (const protocol::UndoReport& undo : *restored) {
            if (!undo.restored)
                log.failed(host->label(), title, undoFailureText(host->label(), undo),
                           ExitStatus::KnobNotRestored);
        }
    }
}

} // namespace knobscope
