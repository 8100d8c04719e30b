// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/lab/labrun.h"

#include <QJsonArray>

namespace knobscope::test {

/// A lab with one driver's network cards, runs on it, and whether it is as it was found.
/// One thread. Calls block.
class VmRun {
public:
    /// What came of `knobscope-cli run`.
    struct Outcome {
        int status = -1;
        QByteArray errors; ///< what it said on standard error
        QList<QJsonObject> events;
        StoredRun run; ///< without samples where the checks before the run failed

        /// Check lines of a host about a knob, as "state: title: detail".
        [[nodiscard]] QStringList checks(const QString& host, const QString& knob) const;
    };

    VmRun() : m_lab(Lab::Kind::Machine), m_run(m_lab) {}

    /// False: error() says why.
    [[nodiscard]] bool up(const QString& driver);
    [[nodiscard]] QString error() const { return m_lab.error(); }
    [[nodiscard]] const Lab& lab() const { return m_lab; }
    [[nodiscard]] const LabRun& files() const { return m_run; }

    /// Runs an experiment on host1 (sender) and host2 (receiver) into a database of its own.
    [[nodiscard]] Outcome run(const QJsonObject& experiment);
    /// What a program said in a host; white space at the ends is left out.
    [[nodiscard]] QString tell(const QString& host, const QStringList& command) const;
    /// Every setting of both hosts that ethtool, ip, tc and sysctl tell and that is another one
    /// than when the lab came up.
    [[nodiscard]] QStringList changes() const;

private:
    [[nodiscard]] QStringList settings() const;

    Lab m_lab;
    LabRun m_run;
    QStringList m_before;
};

/// Axes of one value each, on both hosts: what every driver of the lab has and can be set at once.
[[nodiscard]] QJsonArray manyKnobs();
/// What is wrong with a run that set each of these knobs on both hosts; empty: nothing.
[[nodiscard]] QString problemOf(const VmRun::Outcome& outcome, const QJsonArray& axes);

[[nodiscard]] QJsonObject axis(const QString& knob, const QString& side, const QJsonArray& values);

} // namespace knobscope::test
