// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/checklog.h"
#include "core/run/hostgroup.h"

namespace knobscope {

/// Sets every value that the matrix has for one host and reads it back, and notes what the run will
/// change there. The last values stay set: restoreKnobs() is to follow.
void checkKnobs(CheckLog& log, HostSession& host, const Experiment& experiment, HostRef which,
                const CancelToken& cancel);

/// Puts back what checks have set, on all hosts at once.
void restoreKnobs(CheckLog& log, HostGroup& hosts);

} // namespace knobscope
