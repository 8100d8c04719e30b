// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/models/checktables.h"

#include "app/gui/icons.h"

#include <QCoreApplication>

namespace knobscope {

namespace {

QString said(const char* text) {
    return QCoreApplication::translate("CheckTables", text);
}

} // namespace

Table checkTable(const PreflightReport& report) {
    Table table;
    table.header = {said("Check"), said("Host"), said("Found")};
    for (const Check& check : report.checks) {
        const char* name = check.state == Check::State::Ok        ? "ok"
                           : check.state == Check::State::Warning ? "warning"
                                                                  : "failed";
        TableCell title = textCell(check.title, check.title);
        title.icon = icon(name);
        TableCell detail = textCell(check.detail, check.detail);
        detail.strong = check.state == Check::State::Failed;
        table.rows.append({title, textCell(check.host), detail});
    }
    return table;
}

Table stepTable(const QList<HostStep>& steps) {
    Table table;
    table.header = {said("Step"), said("Host"), said("Time"), said("Found")};
    for (const HostStep& step : steps) {
        const bool failed = step.state == HostStep::State::Failed;
        TableCell title = textCell(stepTitle(step.kind));
        title.icon = icon(failed                                   ? "failed"
                          : step.state == HostStep::State::Ok      ? "ok"
                          : step.state == HostStep::State::Skipped ? "info"
                                                                   : "live");
        const QString found = step.state == HostStep::State::Running ? said("going on…")
                              : step.advice.isEmpty()
                                  ? step.text
                                  : QStringLiteral("%1: %2").arg(step.text, step.advice);
        TableCell detail = textCell(found, found);
        detail.strong = failed;
        const double ms = double(step.took.count()) / 1000;
        const bool timed = step.state == HostStep::State::Ok || failed;
        table.rows.append(
            {title, textCell(step.host),
             textCell(timed ? said("%1 ms").arg(ms, 0, 'f', ms < 10 ? 1 : 0) : QString()), detail});
    }
    return table;
}

Table changeTable(const PreflightReport& report) {
    Table table;
    table.header = {said("Host"), said("Knob"), said("Now, and again at the end"),
                    said("Values in the run")};
    for (const PlannedChange& change : report.changes) {
        const QString knob = change.interface.isEmpty()
                                 ? change.knob
                                 : said("%1 on %2").arg(change.knob, change.interface);
        table.rows.append({textCell(change.label), textCell(knob, change.knob),
                           textCell(change.now.value_or(said("unknown"))),
                           textCell(change.values.join(QStringLiteral(", ")))});
    }
    return table;
}

} // namespace knobscope
