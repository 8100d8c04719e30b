// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/hoststeps.h"
#include "core/run/checklog.h"

namespace knobscope {

// What is found out about one host before a run. Each asks the agent and writes lines into the log.

/// How the host was reached, step by step, and where that stopped; `error` is why it did.
void checkSteps(CheckLog& log, const QString& label, const HostSteps& steps,
                const std::optional<Error>& error);
/// Which system it is, with which rights the agent runs, and what an earlier run had left.
void checkAgent(CheckLog& log, const HostSession& host, const Experiment& experiment,
                HostRef which);
/// Whether another run has the host.
void checkFree(CheckLog& log, HostSession& host);
/// Whether its clock agrees with this computer's.
void checkClock(CheckLog& log, HostSession& host);
/// The test interface and its address, and what else on the host may move the knobs of the matrix.
/// False: no use in going on.
[[nodiscard]] bool checkPlace(CheckLog& log, HostSession& host, const Experiment& experiment,
                              HostRef which);

/// Lease of a host whose own connection a knob can cut: back sooner than others.
inline constexpr std::chrono::seconds kGuardedLease{5};

/// Shortens the lease where the run sets knobs of the interface over which SSH comes in. True: it
/// did. A host that is out of contact is left as it is: the next call tells.
[[nodiscard]] bool guardConnection(HostSession& host, const Experiment& experiment, HostRef which,
                                   const protocol::Environment& environment);

} // namespace knobscope
