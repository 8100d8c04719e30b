// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"

namespace knobscope::agent {

/// Throws AgentError when a thread of this process cannot run where the test wants it.
void checkPlacement(const protocol::TrafficConfig& config);
/// Puts the calling thread on the CPU or NUMA node, and under the real-time priority, of the test.
/// Throws AgentError.
void placeThread(const protocol::TrafficConfig& config);

} // namespace knobscope::agent
