// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/uniquefd.h"

#include <sys/types.h>

namespace knobscope::agent {

/// What the worker asks of the guardian, over the socket that joins them: JSON-RPC lines with the
/// protocol's knob.read, knob.apply, knob.restore and quit, hello (HelloParams → [UndoReport]), and
/// the notification "renew". The guardian sends "log" notifications.
inline constexpr const char* kRenewMethod = "renew";

/// Exit statuses of the agent.
enum class AgentExit {
    AllWell = 0,
    WorkerLost = 1, ///< the worker died or the lease ran out; knobs were put back
    BadArguments = 2,
    NotRestored = 4, ///< a knob could not be put back; the journal keeps it
};

/// The guardian process: owns the knobs and their journal, and puts them back when the worker
/// quits, dies or does not renew its lease, or on SIGTERM and SIGINT. Returns when all is done and
/// the worker is gone. The signals SIGTERM, SIGINT and SIGCHLD must be blocked already; no thread
/// may have been started.
[[nodiscard]] AgentExit runGuardian(UniqueFd socket, pid_t worker);

} // namespace knobscope::agent
