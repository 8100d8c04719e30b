// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"
#include "core/model/matrix.h"

namespace knobscope {

/// What a host's agent is told for a cell: test, fixed options and the cell's test knobs.
[[nodiscard]] protocol::TrafficConfig trafficConfig(const Experiment& experiment, const Cell& cell,
                                                    HostRef host);

/// Payload of a datagram of a udp_stream without message_size: fits into an Ethernet frame.
inline constexpr qint64 kDatagramBytes = 1448;

/// Whether a kind of test moves data rather than transactions.
[[nodiscard]] bool isStream(const QString& testKind);

/// A fresh 128 bit token as 32 hex digits, from the system's random generator.
[[nodiscard]] std::string newToken();

/// Command lines for the agent; absent for a knob that is no command:.
[[nodiscard]] std::optional<protocol::KnobCommands> knobCommands(const Experiment& experiment,
                                                                 const QString& knob);

/// Host settings of a cell for the agent of one host.
[[nodiscard]] std::vector<protocol::KnobSetting> knobSettings(const Experiment& experiment,
                                                              const Cell& cell, HostRef host);

} // namespace knobscope
