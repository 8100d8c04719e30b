// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/uniquefd.h"

#include <string>

namespace knobscope::agent {

/// The host whose knobs are read and set: where the kernel shows its files, and what must stay open
/// for a knob to hold. Lives in the process that sets knobs; one thread.
struct KnobHost {
    std::string sys = "/sys";
    std::string proc = "/proc";
    std::string dev = "/dev";
    /// cpu_dma_latency while cpu:latency is set; the kernel drops the setting when it closes.
    UniqueFd latency = {};
};

} // namespace knobscope::agent
