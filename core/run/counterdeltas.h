// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"
#include "core/model/sample.h"

namespace knobscope {

/// after − before of each counter that both snapshots have. A 32-bit counter that wrapped once is
/// recognised: it fell, both values fit into 32 bits, and the step modulo 2^32 is below 2^31.
/// Any other fall is kept as it is, for gauges such as TcpCurrEstab do fall.
void addDeltas(SampleRecord& sample, HostRef host, const protocol::Snapshot& before,
               const protocol::Snapshot& after);

/// Of a side with several hosts, whose deltas the sample has already: their sums. A counter that
/// only some hosts have is summed over those.
void addSummedDeltas(SampleRecord& sample, Side side);

} // namespace knobscope
