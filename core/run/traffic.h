// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/hostgroup.h"
#include "core/run/sampleresult.h"

namespace knobscope {

// The traffic of one sample on an open group: all instances at once. Each call blocks; its timeouts
// are those of agentcalls. An error names the host that it came from, and when several fail it is
// the one that the others follow from.

/// Asks all receivers to listen, then all senders to connect.
[[nodiscard]] Result<void> prepareTraffic(const Experiment& experiment, const Cell& cell,
                                          HostGroup& hosts);

/// Ends whatever traffic is prepared or flows. A host that is out of reach is passed over.
void cancelTraffic(HostGroup& hosts);

/// Prepares, starts all instances as close together as the links allow, and waits for their end.
/// When one fails, or the user stops, the others are cancelled; stopped is Cancelled.
[[nodiscard]] Result<std::vector<InstanceResult>> transferTraffic(const Experiment& experiment,
                                                                  const Cell& cell,
                                                                  HostGroup& hosts,
                                                                  const CancelToken& cancel);

} // namespace knobscope
