// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments.h"
#include "app/cli/console.h"
#include "core/host/hostsession.h"
#include "core/model/run.h"
#include "core/run/runcontroller.h"

#include <memory>

namespace knobscope {
class RunRepository;
}

namespace knobscope::cli {

// The subcommands. Each needs the application object, runs on the main thread, and returns the
// exit status (an ExitStatus).

[[nodiscard]] int runExperiment(const Arguments& arguments, Console& console);
[[nodiscard]] int resumeRun(const Arguments& arguments, Console& console);
[[nodiscard]] int listRuns(const Arguments& arguments, Console& console);
[[nodiscard]] int showRun(const Arguments& arguments, Console& console);
[[nodiscard]] int exportRun(const Arguments& arguments, Console& console);
[[nodiscard]] int checkHosts(const Arguments& arguments, Console& console);
[[nodiscard]] int recoverHosts(const Arguments& arguments, Console& console);

// What they share.

[[nodiscard]] HostOptions hostOptions(const Arguments& arguments);
/// To store runs: makes the database when there is none.
[[nodiscard]] Result<std::unique_ptr<RunRepository>> openRuns(const Arguments& arguments);
/// To read them: makes nothing. Null when the usual database is not there yet; one that was named
/// must be.
[[nodiscard]] Result<std::unique_ptr<RunRepository>> readRuns(const Arguments& arguments);
[[nodiscard]] Result<StoredRun> loadRun(const Arguments& arguments);
/// CSV files and figure.pdf of the main metric. The paths written.
[[nodiscard]] Result<QStringList> exportAll(const StoredRun& run, const QString& directory);
[[nodiscard]] Result<void> drawFigure(const StoredRun& run, const QString& style,
                                      const QString& path);
[[nodiscard]] int statusOf(const Error& error);

} // namespace knobscope::cli
