// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runreporter.h"

#include "core/model/metrics.h"
#include "core/report/csvexport.h"

namespace knobscope::cli {

void RunReporter::follow(const RunController& controller) {
    connect(&controller, &RunController::runStarted, this, &RunReporter::onRunStarted);
    connect(&controller, &RunController::phaseChanged, this, &RunReporter::onPhaseChanged);
    connect(&controller, &RunController::sampleStarted, this, &RunReporter::onSampleStarted);
    connect(&controller, &RunController::intervalMeasured, this, &RunReporter::onIntervalMeasured);
    connect(&controller, &RunController::sampleFinished, this, &RunReporter::onSampleFinished);
    connect(&controller, &RunController::progressed, this, &RunReporter::onProgressed);
    connect(&controller, &RunController::logged, this, &RunReporter::onLogged);
}

void RunReporter::printErrors(const RunOutcome& outcome) {
    if (outcome.status != ExitStatus::AllWell) {
        for (const QString& line : outcome.message.split(QLatin1Char('\n'), Qt::SkipEmptyParts))
            m_console.error(line);
    }
    for (const QString& line : outcome.notRestored)
        m_console.error(QStringLiteral("not put back: ") + line);
}

QString mainValueText(const Experiment& experiment, const SampleRecord& sample) {
    const MetricInfo info = metricInfo(mainMetric(experiment.test.kind));
    const auto value = sample.metric(info.name);
    return value ? numberText(*value) + QLatin1Char(' ') + info.unit : QString();
}

QString checkText(const Check& check) {
    const QString host = check.host.isEmpty() ? QString() : check.host + QStringLiteral(": ");
    return host + check.title + QStringLiteral(": ") + check.detail;
}

/// Failed checks are the outcome's message.
void TextReporter::checked(const PreflightReport& report) {
    for (const Check& check : report.checks) {
        if (check.state == Check::State::Warning && !m_quiet)
            m_console.note(QStringLiteral("Warning: ") + checkText(check));
    }
}

void TextReporter::onRunStarted(qint64 run, int cells) {
    if (!m_quiet)
        m_console.print(
            QStringLiteral("Run %1: %2, %3 cells").arg(run).arg(m_experiment.name).arg(cells));
}

void TextReporter::onPhaseChanged(const QString& text) {
    m_doing = text;
    m_rate.clear();
    draw();
}

void TextReporter::onSampleStarted(const SampleStart& sample) {
    m_doing = QStringLiteral("cell %1/%2  %3")
                  .arg(sample.cell + 1)
                  .arg(m_cells.size())
                  .arg(sample.label.isEmpty() ? m_experiment.test.kind : sample.label);
    if (sample.attempt > 0)
        m_doing += QStringLiteral(" (attempt %1)").arg(sample.attempt + 1);
    m_rate.clear();
    draw();
}

void TextReporter::onIntervalMeasured(const LiveInterval& interval) {
    if (interval.side != Side::Receiver)
        return;
    m_rate = interval.transactionsPerSecond > 0
                 ? numberText(interval.transactionsPerSecond) + QStringLiteral(" transactions/s")
                 : numberText(interval.mbitPerSecond) + QStringLiteral(" Mbit/s");
    draw();
}

QString TextReporter::sampleLine(const SampleRecord& sample) const {
    QString label;
    if (sample.cell >= 0 && sample.cell < m_cells.size())
        label = cellLabel(m_experiment, m_cells[sample.cell]);
    QString line = QStringLiteral("sample %1  block %2  cell %3/%4  %5  ")
                       .arg(sample.order + 1)
                       .arg(sample.block + 1)
                       .arg(sample.cell + 1)
                       .arg(m_cells.size())
                       .arg(label.isEmpty() ? m_experiment.test.kind : label);
    if (!sample.measured())
        return line + QStringLiteral("FAILED: ") + sample.reason;
    line += mainValueText(m_experiment, sample);
    for (const QString& flag : sample.flags)
        line += QStringLiteral("  [") + flag + QLatin1Char(']');
    return line;
}

void TextReporter::onSampleFinished(const SampleRecord& sample) {
    if (m_quiet)
        return;
    // On a terminal good samples pass by in the progress line; what went wrong stays to be read.
    if (!m_console.interactive() || !sample.measured())
        m_console.print(sampleLine(sample));
    draw();
}

void TextReporter::onProgressed(const RunProgress& progress) {
    m_progress = progress;
    m_rate.clear(); // of a sample that has ended
    m_sinceProgress.start();
    draw();
}

void TextReporter::onLogged(const QString& line) {
    if (!m_quiet)
        m_console.note(line);
    draw();
}

void TextReporter::draw() {
    if (m_quiet || !m_console.interactive())
        return;
    QString line;
    if (m_progress.planned > 0) {
        const double left =
            m_progress.remainingSeconds - static_cast<double>(m_sinceProgress.elapsed()) / 1000;
        line = QStringLiteral("[%1/%2] %3 left  ")
                   .arg(m_progress.done)
                   .arg(m_progress.planned)
                   .arg(durationText(std::max(left, 0.0)));
    }
    line += m_doing;
    if (!m_rate.isEmpty())
        line += QStringLiteral("  ") + m_rate;
    m_console.progress(line);
}

void TextReporter::ended(const RunOutcome& outcome, const std::optional<StoredRun>& stored,
                         const QStringList& exported) {
    if (stored) {
        const RunInfo& info = stored->info;
        m_console.print(QLatin1Char('\n') + cellTable(*stored));
        QString line = QStringLiteral("Run %1 %2: %3 samples measured")
                           .arg(info.id)
                           .arg(runStateName(info.state))
                           .arg(info.samplesDone);
        if (info.samplesFailed > 0)
            line += QStringLiteral(", %1 failed").arg(info.samplesFailed);
        if (info.resumable)
            line += QStringLiteral("; go on with: knobscope-cli resume %1").arg(info.id);
        m_console.print(line);
    }
    for (const QString& path : exported)
        m_console.print(QStringLiteral("Wrote ") + path);
    printErrors(outcome);
}

} // namespace knobscope::cli
