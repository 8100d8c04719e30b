// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun.h"

#include "app/cli/console.h"
#include "app/cli/jsontext.h"
#include "app/cli/texttable.h"
#include "core/model/matrix.h"
#include "core/model/plan.h"
#include "core/model/plural.h"

namespace knobscope::cli {

namespace {

QString hostText(const HostSpec& host) {
    QString text = QStringLiteral("%1, address %2").arg(host.label(), host.address);
    if (!host.interface.isEmpty())
        text += QStringLiteral(", interface %1").arg(host.interface);
    return text;
}

/// A row a host; of several the number stands with the side.
QList<QStringList> hostLines(const Experiment& experiment) {
    QList<QStringList> rows;
    for (const HostRef host : experiment.hostRefs()) {
        QString name = hostName(host);
        name[0] = name[0].toUpper();
        rows.append({name, hostText(experiment.host(host))});
    }
    return rows;
}

/// "sender 1 to receiver, sender 2 to receiver"; nothing for a single one.
QString instancesText(const Experiment& experiment) {
    QStringList instances;
    for (int i = 0; i < experiment.instances() && experiment.instances() > 1; ++i)
        instances.append(QStringLiteral("%1 to %2")
                             .arg(hostName(experiment.endOf(i, Side::Sender)),
                                  hostName(experiment.endOf(i, Side::Receiver))));
    return instances.join(QStringLiteral(", "));
}

QString rangeText(int least, int most) {
    return least == most ? QString::number(least) : QStringLiteral("%1 to %2").arg(least).arg(most);
}

QString planLine(const PlanSpec& plan, const Estimate& estimate) {
    QString text = QStringLiteral("%1 %2 (%3 a cell")
                       .arg(rangeText(estimate.samplesMin, estimate.samplesMax),
                            nounFor(estimate.samplesMax, QStringLiteral("sample")),
                            rangeText(plan.repeatsMin, plan.repeatsMax));
    if (plan.repeatsMin != plan.repeatsMax)
        text += QStringLiteral(", until ± %1 % at %2 % confidence")
                    .arg(plan.halfWidthPercent)
                    .arg(plan.confidenceLevel * 100);
    text += plan.blocks ? QStringLiteral("), in shuffled blocks, seed %1").arg(plan.seed)
                        : QStringLiteral("), in matrix order");
    return text;
}

} // namespace

QString planText(const Experiment& experiment, int width) {
    const Estimate estimate = estimateRun(experiment);
    QString time = durationText(estimate.secondsMin);
    if (estimate.samplesMin != estimate.samplesMax)
        time += QStringLiteral(" to ") + durationText(estimate.secondsMax);
    const QString test = QStringLiteral("%1 (%2), %3 s after %4 s of warm-up")
                             .arg(experiment.test.kind, experiment.test.backend)
                             .arg(experiment.test.seconds)
                             .arg(experiment.test.warmupSeconds);
    QList<QStringList> head{{QStringLiteral("Experiment"), experiment.name}};
    head += hostLines(experiment);
    if (const QString instances = instancesText(experiment); !instances.isEmpty())
        head.append({QStringLiteral("Instances"), instances});
    head += QList<QStringList>{{QStringLiteral("Test"), test},
                               {QStringLiteral("Plan"), planLine(experiment.plan, estimate)},
                               {QStringLiteral("Time"), QStringLiteral("about ") + time}};
    QString text = nameValueTable(head, width);
    text +=
        QLatin1Char('\n') + counted(estimate.cells, QStringLiteral("cell")) + QStringLiteral(":\n");
    QList<QStringList> rows;
    for (const Cell& cell : expandMatrix(experiment))
        rows.append({QString::number(cell.index + 1), cellLabel(experiment, cell)});
    text += nameValueTable(rows, width);
    if (const QStringList lines = commandLines(experiment); !lines.isEmpty())
        text += QStringLiteral("\nCommand lines that the hosts run:\n") +
                lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
    return text;
}

QString planJson(const Experiment& experiment) {
    const Estimate estimate = estimateRun(experiment);
    Json cells = Json::array();
    for (const Cell& cell : expandMatrix(experiment)) {
        Json values = Json::array();
        for (const KnobValue& value : cell.values)
            values.push_back(jsonValue(value));
        cells.push_back(values);
    }
    Json axes = Json::array();
    for (const Axis& axis : experiment.axes)
        axes.push_back(
            {{"knob", axis.knob.toStdString()}, {"side", sideName(axis.side).toStdString()}});
    const Json event{{"event", "plan"},
                     {"name", experiment.name.toStdString()},
                     {"instances", experiment.instances()},
                     {"axes", axes},
                     {"cells", cells},
                     {"commands", jsonList(commandLines(experiment))},
                     {"samples_min", estimate.samplesMin},
                     {"samples_max", estimate.samplesMax},
                     {"seconds_min", estimate.secondsMin},
                     {"seconds_max", estimate.secondsMax}};
    return jsonLine(event);
}

} // namespace knobscope::cli
