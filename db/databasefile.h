// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "db/database.h"

namespace knobscope {

/// A file that is no database must not be handed to SQLite, which would take an empty or very
/// short one for its own. A missing or empty one is none either, and may become one.
Result<void> checkHeader(const QString& path);

/// For reading only: finds out how an existing file can be read truthfully where it cannot be
/// written. Null when file and folder can be written: then nothing stands against the usual way.
/// BadInput when there is no such file; Storage when it cannot be read whole.
Result<std::unique_ptr<Database>> openFileToRead(const QString& path);

} // namespace knobscope
