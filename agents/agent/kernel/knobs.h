// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"

#include <string>

namespace knobscope::agent {

/// Host knobs through the kernel's own interfaces: sysctl: through /proc/sys, link: through
/// rtnetlink, feature: through ethtool. No other program is run, no text of one is read.
/// Values are plain text as the host has them: "4096 131072 6291456" (white space of sysctls
/// folded to one blank), "1500", "on", "off".
/// Failures are AgentError(kKnob) with the kernel's own words where it gives some.

/// Reads the knob's value.
[[nodiscard]] std::string readKnob(const protocol::KnobTarget& knob);
/// Sets it. Returning well means that the kernel took the call; read it back to see what it made
/// of it.
void writeKnob(const protocol::KnobSetting& setting);
/// Whether two values of this knob mean the same ("4096\t131072" and "4096 131072", "on" and "1"
/// for a feature).
[[nodiscard]] bool sameKnobValue(const std::string& knob, const std::string& a,
                                 const std::string& b);
/// Order of application: channels, rings, MTU, offloads, coalescing, RSS, IRQ; sysctls last.
/// Lower is applied first and restored last.
[[nodiscard]] int knobRank(const std::string& knob);
/// sysctl names may use dots or slashes ("net.ipv4.conf.eth0/1.mtu"); gives the /proc/sys path.
/// Throws for a name that leaves /proc/sys.
[[nodiscard]] std::string sysctlPath(const std::string& name);

} // namespace knobscope::agent
