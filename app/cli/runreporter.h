// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/console.h"
#include "core/run/preflight.h"
#include "core/run/runcontroller.h"

#include <QElapsedTimer>
#include <QObject>

#include <memory>

namespace knobscope::cli {

/// Tells the user of `run` and `resume` what happens. Main thread; the controller's signals arrive
/// here as values.
class RunReporter : public QObject {
    Q_OBJECT
public:
    RunReporter(Console& console, const Experiment& experiment, const QList<Cell>& cells)
        : m_console(console), m_experiment(experiment), m_cells(cells) {}

    /// Receives everything the controller tells.
    void follow(const RunController& controller);
    virtual void checked(const PreflightReport& report) = 0;
    /// The end, whether anything was measured or not. `stored` is where the run can be found,
    /// absent when there is none.
    virtual void ended(const RunOutcome& outcome, const std::optional<StoredRun>& stored,
                       const QStringList& exported) = 0;

protected:
    virtual void onRunStarted(qint64 run, int cells) = 0;
    virtual void onPhaseChanged(const QString&) {}
    virtual void onSampleStarted(const SampleStart&) {}
    virtual void onIntervalMeasured(const LiveInterval&) {}
    virtual void onSampleFinished(const SampleRecord& sample) = 0;
    virtual void onProgressed(const RunProgress& progress) = 0;
    virtual void onLogged(const QString&) {}
    /// The outcome's message, one error for each of its lines, and the knobs to set by hand.
    void printErrors(const RunOutcome& outcome);

    Console& m_console;
    const Experiment m_experiment;
    const QList<Cell> m_cells;
};

/// For people: on a terminal one line that is drawn anew, else one line a sample.
class TextReporter : public RunReporter {
    Q_OBJECT
public:
    TextReporter(Console& console, const Experiment& experiment, const QList<Cell>& cells,
                 bool quiet)
        : RunReporter(console, experiment, cells), m_quiet(quiet) {}
    void checked(const PreflightReport& report) override;
    void ended(const RunOutcome& outcome, const std::optional<StoredRun>& stored,
               const QStringList& exported) override;

protected:
    void onRunStarted(qint64 run, int cells) override;
    void onPhaseChanged(const QString& text) override;
    void onSampleStarted(const SampleStart& sample) override;
    void onIntervalMeasured(const LiveInterval& interval) override;
    void onSampleFinished(const SampleRecord& sample) override;
    void onProgressed(const RunProgress& progress) override;
    void onLogged(const QString& line) override;

private:
    void draw();
    [[nodiscard]] QString sampleLine(const SampleRecord& sample) const;
    /// The knobs of a cell, see settingsText(); empty for no cell.
    [[nodiscard]] QString cellText(int cell, int width) const;

    bool m_quiet;
    QString m_doing;   ///< the phase, or which cell is measured
    int m_cell = -1;   ///< of the current sample; -1: none
    QString m_attempt; ///< of the current sample, unless it is the first
    QString m_rate;    ///< of the current sample
    RunProgress m_progress;
    QElapsedTimer m_sinceProgress;
};

/// For scripts: JSON lines, one event each, "finished" the last in any case.
class JsonReporter : public RunReporter {
    Q_OBJECT
public:
    using RunReporter::RunReporter;
    void checked(const PreflightReport& report) override;
    void ended(const RunOutcome& outcome, const std::optional<StoredRun>& stored,
               const QStringList& exported) override;

protected:
    void onRunStarted(qint64 run, int cells) override;
    void onSampleFinished(const SampleRecord& sample) override;
    void onProgressed(const RunProgress& progress) override;
};

/// The check list of some hosts.
[[nodiscard]] QString checksTable(const QList<PreflightReport>& reports, int width);

/// What a run changes on the hosts, with the values that are put back; empty when nothing.
[[nodiscard]] QString changesTable(const PreflightReport& report, int width);

/// "host1: Interface eth9: There is no such interface..."
[[nodiscard]] QString checkText(const Check& check);

/// "941.2 Mbit/s" or "23456 transactions/s" of a measured sample; empty when it has neither.
[[nodiscard]] QString mainValueText(const Experiment& experiment, const SampleRecord& sample);

} // namespace knobscope::cli
