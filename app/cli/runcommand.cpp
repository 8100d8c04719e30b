// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/backgroundjob.h"
#include "app/cli/commands.h"
#include "app/cli/dryrun.h"
#include "app/cli/runreporter.h"
#include "core/model/experimentfile.h"
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
    m_outcome.status = static_cast<ExitStatus>(report.exitStatus);
    QStringList failed;
    for (const Check& check : report.checks) {
        if (check.state == Check::State::Failed)
            failed.append(checkText(check));
    }
    m_outcome.message = failed.join(QLatin1Char('\n'));
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
    if (!arguments.exportDir.isEmpty() && !arguments.dryRun) {
        if (const auto made = makeExportFolder(arguments.exportDir); !made)
            return refuse(arguments, console, made.error());
    }
    if (arguments.dryRun) {
        console.print(arguments.json ? planJson(*experiment)
                                     : planText(*experiment, console.width()));
        return static_cast<int>(ExitStatus::AllWell);
    }
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
    return Measurement(arguments, console, stored->experiment, stored->info.id).run();
}

} // namespace knobscope::cli
