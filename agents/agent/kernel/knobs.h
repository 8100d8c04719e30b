// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/kernel/knobfamily.h"
#include "agents/agent/kernel/knobhost.h"
#include "agents/protocol/protocol.h"

#include <string>
#include <vector>

namespace knobscope::agent {

/// Host knobs through the kernel's own interfaces: /proc/sys, rtnetlink, ethtool netlink and its
/// ioctl, /sys and /proc. No other program is run, no text of one is read, but for the command
/// lines of a user's own command: knobs. Values are plain text as the host has them: "4096 131072
/// 6291456" (white space of sysctls folded to one blank), "1500", "on", "off". Failures are
/// AgentError(kKnob) with the kernel's own words where it gives some.

/// Reads the knob's value.
[[nodiscard]] std::string readKnob(KnobHost& host, const protocol::KnobTarget& knob);
/// Sets it. Returning well means that the kernel took the call; read it back to see what it made
/// of it.
void writeKnob(KnobHost& host, const protocol::KnobTarget& knob, const std::string& value);
/// Puts back a value that readKnob() had given before the knob was first set.
void restoreKnob(KnobHost& host, const protocol::KnobTarget& knob, const std::string& original);

/// Whether two values of this knob mean the same ("4096\t131072" and "4096 131072", "on" and "1"
/// for a feature).
[[nodiscard]] bool sameKnobValue(const std::string& knob, const std::string& a,
                                 const std::string& b);
/// Whether `has`, as it was read, is what `asked` asks for: "fq" is met by "fq limit 10000".
[[nodiscard]] bool meetsKnobValue(const std::string& knob, const std::string& asked,
                                  const std::string& has);
/// Whether restoreKnob() can put back this value, as readKnob() has given it.
[[nodiscard]] bool canPutBack(const std::string& knob, const std::string& value);
/// Who but the agent moves this knob on the host by itself ("coalesce:adaptive-rx is on"); empty:
/// nobody, or it is not known.
[[nodiscard]] std::string knobMover(KnobHost& host, const protocol::KnobTarget& knob);

/// Order of application: private flags, channels, rings, pause and speed, MTU, offloads,
/// coalescing, RSS, IRQ and queues, the rest, sysctls. Lower is applied first and restored last.
[[nodiscard]] int knobRank(const std::string& knob);
/// The same for putting back: lower is put back last.
[[nodiscard]] int knobUndoRank(const std::string& knob);
/// Whether the knob belongs to an interface.
[[nodiscard]] bool knobNeedsInterface(const std::string& knob);
/// Whether restoreKnob() does something even where the value is the original already.
[[nodiscard]] bool restoresMore(const std::string& knob);
[[nodiscard]] LinkEffect knobLinkEffect(const std::string& knob);
/// Other knobs of the interface that setting this one may change.
[[nodiscard]] std::vector<std::string> knobsReset(const std::string& knob);

/// Names of all knobs that do not depend on the host ("coalesce:rx-usecs"), and the prefixes of the
/// others ("sysctl:").
[[nodiscard]] std::vector<std::string> knobNames();

/// The command that a person can type to give the knob this value; empty where there is none.
[[nodiscard]] std::string knobCommand(KnobHost& host, const protocol::KnobTarget& knob,
                                      const std::string& value);

/// sysctl names may use dots or slashes ("net.ipv4.conf.eth0/1.mtu"); gives the /proc/sys path.
/// Throws for a name that leaves /proc/sys.
[[nodiscard]] std::string sysctlPath(const std::string& name);

} // namespace knobscope::agent
