// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/hostsession.h"
#include "core/model/run.h"
#include "core/run/preflight.h"

namespace knobscope::cli {

// What `runs`, `show`, `check` and `recover` print with --json: one line each.

/// An array, one object a run, in the order given.
[[nodiscard]] QString runsJson(const QList<RunInfo>& runs);
/// An object: run, experiment, hosts, cells with the main metric, figures of single hosts among
/// several, failed attempts, counters that moved. "number": of the host; null for a side as a whole
/// or its only host.
[[nodiscard]] QString runJson(const StoredRun& run);
/// An array, one object a host: host, status (the exit status it stands for), checks.
[[nodiscard]] QString checksJson(const QStringList& hosts, const QList<PreflightReport>& reports);
/// An object: host, status, message (why the host could not be asked, or who has it), knobs.
[[nodiscard]] QString recoveredJson(const QString& host, int status, const QString& message,
                                    const std::vector<protocol::UndoReport>& undone);

} // namespace knobscope::cli
