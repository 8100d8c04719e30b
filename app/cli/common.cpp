// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"

#include "app/figure/curvefigure.h"
#include "core/host/savedhosts.h"
#include "core/host/ttysecrets.h"
#include "core/model/metrics.h"
#include "core/report/csvexport.h"
#include "core/report/curves.h"
#include "db/runrepository.h"

#include <QDir>
#include <QFile>

namespace knobscope::cli {

HostOptions hostOptions(const Arguments& arguments) {
    HostOptions options;
    options.run = QStringLiteral("knobscope-cli");
    options.sshConfig = arguments.sshConfig;
    options.savedHosts = defaultSavedHostsPath();
    options.acceptNewHostKeys = arguments.acceptNewKeys;
    options.sudo = arguments.sudo ? SudoMode::Password : SudoMode::Auto;
    options.secrets = std::make_shared<SecretMemory>(std::make_shared<TtySecrets>());
    return options;
}

Result<std::unique_ptr<RunRepository>> openRuns(const Arguments& arguments) {
    return RunRepository::open(arguments.database.isEmpty() ? RunRepository::defaultPath()
                                                            : arguments.database);
}

Result<std::unique_ptr<RunRepository>> readRuns(const Arguments& arguments) {
    if (!arguments.database.isEmpty())
        return RunRepository::openToRead(arguments.database);
    const QString usual = RunRepository::defaultPath();
    if (!QFile::exists(usual))
        return nullptr;
    return RunRepository::openToRead(usual);
}

namespace {

tl::unexpected<Error> nothingStored() {
    return fail(Error::Code::BadInput, QStringLiteral("There is no run, as none is stored yet"),
                QStringLiteral("measure one with: knobscope-cli run FILE"));
}

/// A number or "last", the newest.
Result<qint64> findRun(RunRepository& runs, const QString& name) {
    if (name != QLatin1String("last"))
        return name.toLongLong(); // digits only, the command line made sure of it
    const auto list = runs.listRuns();
    if (!list)
        return tl::unexpected<Error>(list.error());
    if (list->isEmpty())
        return nothingStored();
    return list->first().id;
}

} // namespace

Result<StoredRun> loadRun(const Arguments& arguments) {
    const auto runs = readRuns(arguments);
    if (!runs)
        return tl::unexpected<Error>(runs.error());
    if (!*runs)
        return nothingStored();
    const auto id = findRun(**runs, arguments.run);
    if (!id)
        return tl::unexpected<Error>(id.error());
    return (*runs)->loadRun(*id);
}

Result<void> drawFigure(const StoredRun& run, const QString& style, const QString& path) {
    const auto figure = figureStyle(style);
    if (!figure)
        return tl::unexpected<Error>(figure.error());
    const auto curves =
        curvesOf(run, defaultXAxis(run.experiment), mainMetric(run.experiment.test.kind));
    if (!curves)
        return tl::unexpected<Error>(curves.error());
    return exportFigure(*curves, *figure, path);
}

Result<QStringList> exportAll(const StoredRun& run, const QString& directory) {
    auto paths = exportCsv(run, directory);
    if (!paths)
        return paths;
    const bool anything = std::any_of(run.samples.cbegin(), run.samples.cend(),
                                      [](const SampleRecord& sample) { return sample.measured(); });
    if (!anything)
        return paths; // no curve to draw
    const QString path = QDir(directory).filePath(QStringLiteral("figure.pdf"));
    if (const auto drawn = drawFigure(run, QStringLiteral("acm"), path); !drawn)
        return tl::unexpected<Error>(drawn.error());
    paths->append(path);
    return paths;
}

int statusOf(const Error& error) {
    switch (error.code) {
    case Error::Code::Cancelled:
        return static_cast<int>(ExitStatus::Cancelled);
    case Error::Code::BadInput:
    case Error::Code::Storage: // the database or the folder that was named cannot be used
        return static_cast<int>(ExitStatus::BadInput);
    default:
        return static_cast<int>(ExitStatus::HostUnusable);
    }
}

} // namespace knobscope::cli
