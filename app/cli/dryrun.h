// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/experiment.h"

namespace knobscope::cli {

/// What `run --dry-run` shows: hosts, test, cells, samples, expected time. No host is asked.
/// For a terminal of `width` columns; 0: without a limit.
[[nodiscard]] QString planText(const Experiment& experiment, int width);
/// The same as one JSON line, event "plan".
[[nodiscard]] QString planJson(const Experiment& experiment);

} // namespace knobscope::cli
