// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/runreporter.h"

#include "app/cli/texttable.h"
#include "core/model/knobcatalogue.h"
#include "core/model/metrics.h"
#include "core/model/plural.h"
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
        m_console.error(QStringLiteral("Not put back: ") + line);
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

namespace {

QString stateText(Check::State state) {
    switch (state) {
    case Check::State::Ok:
        return QStringLiteral("ok");
    case Check::State::Warning:
        return QStringLiteral("warning");
    case Check::State::Failed:
        break;
    }
    return QStringLiteral("FAILED");
}

} // namespace

QString checksTable(const QList<PreflightReport>& reports, int width) {
    QList<QStringList> rows;
    for (const PreflightReport& report : reports) {
        for (const Check& check : report.checks)
            rows.append({check.host.isEmpty() ? QStringLiteral("all") : check.host,
                         stateText(check.state), check.title, check.detail});
    }
    return table({{QStringLiteral("Host"), 16},
                  {QStringLiteral("State")},
                  {QStringLiteral("Check")},
                  {QStringLiteral("Found")}},
                 rows, width);
}

QString changesTable(const PreflightReport& report, int width) {
    if (report.changes.isEmpty())
        return {};
    QList<QStringList> rows;
    for (const PlannedChange& change : report.changes)
        rows.append({change.label,
                     change.interface.isEmpty()
                         ? change.knob
                         : QStringLiteral("%1 on %2").arg(change.knob, change.interface),
                     change.now.value_or(QStringLiteral("unknown")),
                     change.values.join(QStringLiteral(", "))});
    return table({{QStringLiteral("Host"), 16},
                  {QStringLiteral("Knob"), 24},
                  {QStringLiteral("Now, and again at the end")},
                  {QStringLiteral("Values in the run")}},
                 rows, width);
}

/// Failed checks are the outcome's message.
void TextReporter::checked(const PreflightReport& report) {
    if (!m_quiet && report.passedButRefusals() && !report.changes.isEmpty())
        m_console.print(QStringLiteral("Changes on the hosts:\n") +
                        wrapped(changesTable(report, m_console.width()), m_console.width()));
    for (const Check& check : report.checks) {
        if (check.state == Check::State::Warning && !m_quiet)
            m_console.note(QStringLiteral("Warning: ") + checkText(check));
    }
}

void TextReporter::onRunStarted(qint64 run, int cells) {
    if (!m_quiet)
        m_console.print(wrapped(QStringLiteral("Run %1: %2, %3")
                                    .arg(run)
                                    .arg(m_experiment.name, counted(cells, QStringLiteral("cell"))),
                                m_console.width()));
}

void TextReporter::onPhaseChanged(const QString& text) {
    m_doing = text;
    m_cell = -1;
    m_attempt.clear();
    m_rate.clear();
    draw();
}

void TextReporter::onSampleStarted(const SampleStart& sample) {
    m_doing = QStringLiteral("cell %1/%2  ").arg(sample.cell + 1).arg(m_cells.size());
    m_cell = sample.cell;
    m_attempt =
        sample.attempt > 0 ? QStringLiteral(" (attempt %1)").arg(sample.attempt + 1) : QString();
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

QString TextReporter::cellText(int cell, int width) const {
    if (cell < 0 || cell >= m_cells.size())
        return {};
    QList<std::pair<QString, QString>> settings;
    const QList<KnobValue>& values = m_cells[cell].values;
    for (qsizetype i = 0; i < values.size() && i < m_experiment.axes.size(); ++i) {
        const Axis& axis = m_experiment.axes[i];
        const auto twins = std::count_if(m_experiment.axes.begin(), m_experiment.axes.end(),
                                         [&](const Axis& a) { return a.knob == axis.knob; });
        const QString side = twins > 1 ? sideName(axis.side) + QLatin1Char(' ') : QString();
        settings.append({side + shortKnobName(axis.knob), values[i].text});
    }
    return settings.isEmpty() ? m_experiment.test.kind : settingsText(settings, width);
}

QString TextReporter::sampleLine(const SampleRecord& sample) const {
    QString line = QStringLiteral("sample %1  block %2  cell %3/%4  %5  ")
                       .arg(sample.order + 1)
                       .arg(sample.block + 1)
                       .arg(sample.cell + 1)
                       .arg(m_cells.size())
                       .arg(cellText(sample.cell, 0));
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
        m_console.print(wrapped(sampleLine(sample), m_console.width()));
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
    const QString rest = m_attempt + (m_rate.isEmpty() ? QString() : QStringLiteral("  ") + m_rate);
    // Room for the rate, so that names do not change their length when it comes. One column stays
    // free, see Console::progress().
    constexpr int kRate = 16;
    const int taken = displayWidth(line) + std::max(kRate, displayWidth(rest));
    const int room = m_console.width() - 1 - taken;
    m_console.progress(line + cellText(m_cell, std::max(room, 1)) + rest);
}

void TextReporter::ended(const RunOutcome& outcome, const std::optional<StoredRun>& stored,
                         const QStringList& exported) {
    if (stored) {
        const RunInfo& info = stored->info;
        m_console.print(QLatin1Char('\n') + wrapped(cellTable(*stored), m_console.width()));
        // What could not be stored at the end leaves the run as if it went on.
        const bool ended = info.state != RunState::Running;
        QString line = QStringLiteral("Run %1 %2: %3 measured")
                           .arg(info.id)
                           .arg(ended ? runStateName(info.state) : QStringLiteral("interrupted"),
                                counted(info.samplesDone, QStringLiteral("sample")));
        if (info.samplesFailed > 0)
            line += QStringLiteral(", %1 failed").arg(info.samplesFailed);
        if (info.resumable || !ended)
            line += QStringLiteral("; go on with: knobscope-cli resume %1").arg(info.id);
        m_console.print(wrapped(line, m_console.width()));
    }
    for (const QString& path : exported)
        m_console.print(QStringLiteral("Wrote ") + path);
    printErrors(outcome);
}

} // namespace knobscope::cli
