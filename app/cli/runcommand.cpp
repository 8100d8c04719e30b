// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/backgroundjob.h"
#include "app/cli/commands.h"
#include "app/cli/dryrun.h"
#include "app/cli/runreporter.h"
#include "app/cli/texttable.h"
#include "core/model/experimentfile.h"
#include "core/model/plural.h"
#include "db/runrepository.h"

#include <QDir>
#include <QFileInfo>
#include <QThread>

namespace knobscope::cli {

namespace {

/// One `run` or `resume`. Lives on the main thread; measure() runs on the worker thread, where the
/// database connection and the controller's calls belong.
class Measurement {
public:
    Measurement(const Arguments& arguments, Console& console, const Experiment& experiment,
                std::optional<qint64> resumed)
        : m_arguments(arguments), m_console(console), m_experiment(experiment), m_resumed(resumed),
          m_controller(std::make_unique<RunController>(hostOptions(arguments))) {
        const QList<Cell> cells = expandMatrix(experiment);
        if (arguments.json)
            m_reporter = std::make_unique<JsonReporter>(console, experiment, cells);
        else
            m_reporter =
                std::make_unique<TextReporter>(console, experiment, cells, arguments.quiet);
        m_reporter->follow(*m_controller);
    }

    int run();

private:
    void measure();
    [[nodiscard]] bool hostsPass();
    [[nodiscard]] bool leaveOut(const QList<RefusedValue>& refused);

    const Arguments& m_arguments;
    Console& m_console;
    const Experiment m_experiment;
    const std::optional<qint64> m_resumed;
    std::unique_ptr<RunController> m_controller;
    std::unique_ptr<RunReporter> m_reporter;
    CancelToken m_cancelChecks;
    // Written by the worker, read when it has ended.
    RunOutcome m_outcome;
    std::optional<StoredRun> m_stored;
    qsizetype m_cells = 0;
    qsizetype m_leftOut = 0; ///< of them
};

/// Before anything is measured: a folder that cannot be written would be found out too late.
Result<void> makeExportFolder(const QString& directory) {
    const QFileInfo folder(directory);
    if (!QDir().mkpath(directory) || !folder.isDir() || !folder.isWritable())
        return fail(Error::Code::BadInput,
                    QStringLiteral("Nothing can be written to %1").arg(directory),
                    QStringLiteral("name another folder with --export"));
    return {};
}

int Measurement::run() {
    (void)runInBackground(
        m_console,
        [this] {
            measure();
            return 0;
        },
        [this] {
            m_cancelChecks.cancel();
            m_controller->requestStop();
        });
    QStringList exported;
    if (m_stored && !m_arguments.exportDir.isEmpty()) {
        const auto paths = exportAll(*m_stored, m_arguments.exportDir);
        if (paths) {
            exported = *paths;
        } else if (m_outcome.status == ExitStatus::AllWell) {
            // The arguments were right; the disk may be full by now.
            m_outcome.status = ExitStatus::SamplesFailed;
            m_outcome.message = paths.error().text();
        } else {
            m_console.error(paths.error());
        }
    }
    m_reporter->ended(m_outcome, m_stored, exported);
    return static_cast<int>(m_outcome.status);
}

/// The report of the checks reaches the reporter before anything that is measured.
bool Measurement::hostsPass() {
    const PreflightReport report =
        preflight(m_experiment, hostOptions(m_arguments), m_cancelChecks);
    QMetaObject::invokeMethod(
        m_reporter.get(), [reporter = m_reporter.get(), report] { reporter->checked(report); },
        Qt::QueuedConnection);
    if (report.passed())
        return true;
    if (m_arguments.skipRefused && report.passedButRefusals())
        return leaveOut(report.refused);
    m_outcome.status = static_cast<ExitStatus>(report.exitStatus);
    QStringList failed;
    for (const Check& check : report.checks) {
        if (check.state == Check::State::Failed)
            failed.append(checkText(check));
    }
    if (report.passedButRefusals() && leaveOut(report.refused))
        failed.append(QStringLiteral("%1 can be measured all the same: add --skip-refused")
                          .arg(counted(m_cells - m_leftOut, QStringLiteral("cell"))));
    m_outcome.message = failed.join(QLatin1Char('\n'));
    return false;
}

/// False: no cell is left.
bool Measurement::leaveOut(const QList<RefusedValue>& refused) {
    const QList<Cell> cells = expandMatrix(m_experiment);
    m_leftOut = refusedCells(m_experiment, cells, refused).size();
    m_cells = cells.size();
    m_controller->leaveOut(refused);
    if (m_leftOut < m_cells)
        return true;
    m_outcome.status = ExitStatus::BadInput;
    m_outcome.message = QStringLiteral("Every cell has a value that a host refuses: %1")
                            .arg(refused.first().reason);
    return false;
}

void Measurement::measure() {
    const auto runs = openRuns(m_arguments);
    if (!runs) {
        m_outcome.status = ExitStatus::BadInput;
        m_outcome.message = runs.error().text();
        return;
    }
    if (!hostsPass())
        return;
    m_outcome = m_resumed ? m_controller->resume(*m_resumed, **runs)
                          : m_controller->execute(m_experiment, **runs);
    if (m_outcome.run == 0)
        return;
    auto stored = (*runs)->loadRun(m_outcome.run);
    if (stored) {
        m_stored = std::move(*stored);
    } else if (m_outcome.status == ExitStatus::AllWell) {
        m_outcome.status = ExitStatus::SamplesFailed;
        m_outcome.message = stored.error().text();
    }
}

/// A run that cannot go on is refused before any host is asked.
Result<StoredRun> loadResumable(const Arguments& arguments) {
    auto stored = loadRun(arguments);
    if (!stored || stored->info.resumable)
        return stored;
    const QString run = QStringLiteral("Run %1").arg(stored->info.id);
    if (stored->info.state == RunState::Running)
        return fail(Error::Code::BadInput,
                    run + QStringLiteral(" is being measured by another program"),
                    QStringLiteral("wait until it ends, or stop it there"));
    return fail(
        Error::Code::BadInput, run + QStringLiteral(" cannot be resumed"),
        QStringLiteral("it is %1 and has all its samples").arg(runStateName(stored->info.state)));
}

/// Command lines run with the rights of the agent: a person must have read them.
Result<void> allowCommands(const Arguments& arguments, const Experiment& experiment) {
    const QStringList lines = commandLines(experiment);
    if (lines.isEmpty() || arguments.allowCommands)
        return {};
    return fail(Error::Code::BadInput,
                QStringLiteral("The experiment runs command lines of its own on its hosts:\n%1\n"
                               "Read them, then add --allow-commands")
                    .arg(lines.join(QLatin1Char('\n'))));
}

/// The check list and what would be changed, without measuring.
int checkExperimentHosts(const Arguments& arguments, Console& console,
                         const Experiment& experiment) {
    CancelToken cancel;
    PreflightReport report;
    (void)runInBackground(
        console,
        [&] {
            report = preflight(experiment, hostOptions(arguments), cancel);
            return 0;
        },
        [&] { cancel.cancel(); });
    if (arguments.json) {
        JsonReporter(console, experiment, {}).checked(report);
        return report.exitStatus;
    }
    const int width = console.width();
    console.print(wrapped(checksTable({report}, width), width));
    if (const QString changes = changesTable(report, width); !changes.isEmpty())
        console.print(QStringLiteral("Changes on the hosts:\n") + wrapped(changes, width));
    for (const Check& check : report.checks) {
        if (check.state == Check::State::Failed)
            console.error(checkText(check));
    }
    return report.exitStatus;
}

/// With --json even a refusal ends with the "finished" event.
int refuse(const Arguments& arguments, Console& console, const Error& error) {
    RunOutcome outcome;
    outcome.status = static_cast<ExitStatus>(statusOf(error));
    outcome.message = error.text();
    if (arguments.json)
        JsonReporter(console, {}, {}).ended(outcome, std::nullopt, {});
    else
        console.error(error);
    return static_cast<int>(outcome.status);
}

} // namespace

int runExperiment(const Arguments& arguments, Console& console) {
    const auto experiment = readExperimentFile(arguments.file);
    if (!experiment)
        return refuse(arguments, console, experiment.error());
    if (!arguments.exportDir.isEmpty() && arguments.measures()) {
        if (const auto made = makeExportFolder(arguments.exportDir); !made)
            return refuse(arguments, console, made.error());
    }
    if (arguments.dryRun) {
        console.print(arguments.json ? planJson(*experiment)
                                     : planText(*experiment, console.width()));
        return static_cast<int>(ExitStatus::AllWell);
    }
    if (const auto allowed = allowCommands(arguments, *experiment); !allowed)
        return refuse(arguments, console, allowed.error());
    if (arguments.preflight)
        return checkExperimentHosts(arguments, console, *experiment);
    return Measurement(arguments, console, *experiment, std::nullopt).run();
}

int resumeRun(const Arguments& arguments, Console& console) {
    const auto stored = loadResumable(arguments);
    if (!stored)
        return refuse(arguments, console, stored.error());
    if (!arguments.exportDir.isEmpty()) {
        if (const auto made = makeExportFolder(arguments.exportDir); !made)
            return refuse(arguments, console, made.error());
    }
    if (const auto allowed = allowCommands(arguments, stored->experiment); !allowed)
        return refuse(arguments, console, allowed.error());
    return Measurement(arguments, console, stored->experiment, stored->info.id).run();
}

} // namespace knobscope::cli
