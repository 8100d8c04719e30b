// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/checklog.h"

#include <algorithm>

namespace knobscope {

namespace {

void leaveOut(PlannedChange& change, const RefusedValue& refused) {
    if (change.host == refused.host && change.knob == refused.knob)
        change.values.removeAll(refused.value.text);
}

} // namespace

void CheckLog::ok(const QString& host, const QString& title, const QString& detail) {
    add({Check::State::Ok, host, title, detail}, ExitStatus::AllWell);
}

void CheckLog::warn(const QString& host, const QString& title, const QString& detail) {
    add({Check::State::Warning, host, title, detail}, ExitStatus::AllWell);
}

void CheckLog::failed(const QString& host, const QString& title, const QString& detail,
                      ExitStatus status) {
    add({Check::State::Failed, host, title, detail}, status);
}

void CheckLog::failed(const QString& host, const QString& title, const Error& error) {
    const auto status = error.code == Error::Code::BadInput    ? ExitStatus::BadInput
                        : error.code == Error::Code::Knob      ? ExitStatus::BadInput
                        : error.code == Error::Code::Cancelled ? ExitStatus::Cancelled
                                                               : ExitStatus::HostUnusable;
    failed(host, title, error.text(), status);
}

void CheckLog::refused(const QString& label, const QString& title, const RefusedValue& value,
                       ExitStatus status) {
    add({Check::State::Failed, label, title, value.reason, true}, status);
    for (PlannedChange& change : m_report.changes)
        leaveOut(change, value);
    m_report.changes.removeIf([](const PlannedChange& change) { return change.values.isEmpty(); });
    m_report.refused.append(value);
    m_report.refused.last().reason =
        QStringLiteral("%1: %2 %3: %4").arg(label, value.knob, value.value.text, value.reason);
}

void CheckLog::changes(PlannedChange change) {
    for (const RefusedValue& refused : std::as_const(m_report.refused))
        leaveOut(change, refused);
    if (!change.values.isEmpty())
        m_report.changes.append(change);
}

void CheckLog::add(const Check& check, ExitStatus status) {
    m_report.checks.append(check);
    if (m_report.exitStatus == 0)
        m_report.exitStatus = static_cast<int>(status);
}

void CheckLog::group(qsizetype from) {
    QList<Check> grouped;
    for (const Check& check : m_report.checks.mid(from)) {
        const auto same = std::find_if(grouped.begin(), grouped.end(), [&](const Check& other) {
            return other.state == check.state && other.host == check.host &&
                   other.detail == check.detail;
        });
        if (same == grouped.end())
            grouped.append(check);
        else
            same->title += QStringLiteral(", ") + check.title.section(QStringLiteral(" = "), 1, -1);
    }
    m_report.checks = m_report.checks.mid(0, from) + grouped;
}

bool PreflightReport::passed() const {
    return std::none_of(checks.cbegin(), checks.cend(),
                        [](const Check& check) { return check.state == Check::State::Failed; });
}

bool PreflightReport::passedButRefusals() const {
    return std::none_of(checks.cbegin(), checks.cend(), [](const Check& check) {
        return check.state == Check::State::Failed && !check.refusal;
    });
}

QMap<int, QString> refusedCells(const Experiment& experiment, const QList<Cell>& cells,
                                const QList<RefusedValue>& refused) {
    QMap<int, QString> reasons;
    if (refused.isEmpty())
        return reasons;
    for (const Cell& cell : cells) {
        for (const HostSetting& setting : hostSettings(experiment, cell)) {
            const auto hit =
                std::find_if(refused.cbegin(), refused.cend(), [&](const RefusedValue& value) {
                    return value.host == setting.host && value.knob == setting.knob &&
                           value.value == setting.value;
                });
            if (hit != refused.cend()) {
                reasons.insert(cell.index, hit->reason);
                break;
            }
        }
    }
    return reasons;
}

} // namespace knobscope
