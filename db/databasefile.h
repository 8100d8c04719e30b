// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "db/database.h"

namespace knobscope {

// Nothing here (or elsewhere in the program) may open and close the file but SQLite: to close any
// descriptor of a file drops all locks that the process has on it, and another program would then
// take the log of a living connection for a dead one's and remove it.

/// A file that is too short for a database must not be handed to SQLite, which would take it for
/// its own. A missing or empty one is none either, and may become one.
Result<void> checkSize(const QString& path);

/// For reading only: finds out how an existing file can be read truthfully where it cannot be
/// written. Null when file and folder can be written: then nothing stands against the usual way.
/// BadInput when there is no such file; Storage when it cannot be read whole.
Result<std::unique_ptr<Database>> openFileToRead(const QString& path);

} // namespace knobscope
