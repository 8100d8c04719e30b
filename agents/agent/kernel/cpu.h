// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/kernel/snapshot.h"

#include <string_view>

namespace knobscope::agent {

/// The "cpu" lines of /proc/stat; `ticks_per_second` is sysconf(_SC_CLK_TCK). Old kernels have
/// fewer columns, which read as zero time.
[[nodiscard]] CpuReading parseCpu(std::string_view text, double ticks_per_second);

} // namespace knobscope::agent
