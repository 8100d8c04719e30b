// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/preflight.h"
#include "core/run/runcontroller.h"

namespace knobscope {

/// Takes down what the checks before a run find. `host`: its label, empty for all.
class CheckLog {
public:
    void ok(const QString& host, const QString& title, const QString& detail);
    void warn(const QString& host, const QString& title, const QString& detail);
    void failed(const QString& host, const QString& title, const QString& detail,
                ExitStatus status);
    void failed(const QString& host, const QString& title, const Error& error);
    /// A value that cannot be measured with; the rest of the matrix can.
    void refused(const QString& label, const QString& title, const RefusedValue& value,
                 ExitStatus status);
    /// Values that are refused, before or after, are not among those that will be set.
    void changes(PlannedChange change);

    /// How many lines there are, for grouped().
    [[nodiscard]] qsizetype size() const { return m_report.checks.size(); }
    /// Lines from `from` on of which the same is to be said share one:
    /// "Knob link:mtu = 1500, 9000".
    void group(qsizetype from);
    [[nodiscard]] const PreflightReport& report() const { return m_report; }

private:
    void add(const Check& check, ExitStatus status);

    PreflightReport m_report;
};

} // namespace knobscope
