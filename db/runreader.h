// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/run.h"
#include "db/dictionary.h"

namespace knobscope {

/// All runs, newest first, without loading their samples. `resumable` says whether samples are
/// missing; whether a running one is alive is the caller's to find out.
Result<QList<RunInfo>> readRunList(Database& database);

/// One line of that list; absent when there is no such run.
Result<std::optional<RunInfo>> readRunInfo(Database& database, qint64 run);

/// The environments stored for a run, in the order they were added.
Result<QList<HostFacts>> readHosts(Database& database, Dictionary& dictionary, qint64 run);

/// The whole run. Rows that make no sense are Storage errors that name them. Within the caller's
/// transaction, so that a run being written is seen at one moment.
Result<StoredRun> readRun(Database& database, Dictionary& dictionary, qint64 run);

} // namespace knobscope
