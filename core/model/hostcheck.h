// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/experiment.h"
#include "core/result.h"

namespace knobscope {

/// The part of checkExperiment() that is about the hosts: each for itself, and together. BadInput
/// begins with the path of the entry at fault ("hosts.receiver[1].address: ...").
[[nodiscard]] Result<void> checkHosts(const Experiment& experiment);

} // namespace knobscope
