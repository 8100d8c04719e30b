// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/checklog.h"
#include "core/run/hostgroup.h"

namespace knobscope {

/// Makes the connections of the test, once for each combination of test settings that a host may
/// refuse, and ends them before anything is measured.
void checkConnections(CheckLog& log, const Experiment& experiment, HostGroup& hosts,
                      const CancelToken& cancel);

/// Sends a few packets there and back that are as large as the interfaces allow, at the MTUs that
/// the hosts have now or, where the matrix sets them, at each of those. A device between the hosts
/// that takes less would drop what the test sends. MTUs stay set: restoreKnobs() is to follow.
void checkPacketSizes(CheckLog& log, const Experiment& experiment, HostGroup& hosts,
                      const CancelToken& cancel);

} // namespace knobscope
