// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/hostsession.h"

#include <QString>

class QThreadPool;

namespace knobscope {

/// What every part of the window needs to know; made once in main() and handed down.
struct AppContext {
    QString database;            ///< file with the runs
    HostOptions hosts;           ///< how to reach hosts
    QThreadPool* pool = nullptr; ///< for database reads and host checks; outlives the window
};

} // namespace knobscope
