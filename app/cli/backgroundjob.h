// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/console.h"

#include <functional>

namespace knobscope::cli {

/// Runs `work` on a thread of its own while the main thread's event loop serves signals and what
/// the work reports; returns its result when it has ended. SIGINT, SIGTERM or SIGHUP call `stop`
/// (once, on the main thread); later ones only tell the user to wait, since the knobs must go back.
int runInBackground(Console& console, const std::function<int()>& work,
                    const std::function<void()>& stop);

} // namespace knobscope::cli
