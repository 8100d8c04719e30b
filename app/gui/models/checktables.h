// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/models/runtables.h"
#include "core/host/hoststeps.h"
#include "core/run/preflight.h"

namespace knobscope {

/// One row a check of a preflight.
[[nodiscard]] Table checkTable(const PreflightReport& report);
/// One row a step on the way to a host.
[[nodiscard]] Table stepTable(const QList<HostStep>& steps);
/// One row a host and knob that a run changes: what it is now, and the values of the run.
[[nodiscard]] Table changeTable(const PreflightReport& report);

} // namespace knobscope
