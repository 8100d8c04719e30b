// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "db/database.h"

#include <vector>

namespace knobscope {

/// Brings a schema from one version to the next: statements, run in one transaction.
using Migration = std::vector<std::string_view>;

/// Element i leads from version i to i + 1. Published elements never change; new ones are added.
[[nodiscard]] const std::vector<Migration>& migrations();

/// Refuses a file of a newer version or of another program without touching it; else sets WAL and
/// runs the migrations that are missing, all or none.
Result<void> bringUpToDate(Database& database, const std::vector<Migration>& steps);

/// For a file that is only read: refuses one whose schema is not the newest, and changes nothing.
Result<void> requireUpToDate(Database& database, const std::vector<Migration>& steps);

} // namespace knobscope
