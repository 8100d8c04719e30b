// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/experiment.h"

namespace knobscope {

// Command lines of an experiment run on hosts with the rights of the agent. The user has read each
// set of them once, and this computer's settings remember that. Any thread.

/// Whether the experiment has none, or the user has allowed these.
[[nodiscard]] bool commandsAllowed(const Experiment& experiment);
void allowCommands(const Experiment& experiment);

} // namespace knobscope
