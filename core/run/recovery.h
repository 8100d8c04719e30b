// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/hoststeps.h"
#include "core/run/agentcalls.h"
#include "core/run/runcontroller.h"

#include <optional>
#include <vector>

namespace knobscope {

/// What came of looking for knobs that a dead run left on a host.
struct Recovery {
    std::vector<protocol::UndoReport> undone; ///< each knob that was left, and what came of it
    QStringList notRestored;    ///< of those, with the value and the command to set it by hand
    std::optional<Error> inUse; ///< a run that lives has the host: its knobs are not left over
    std::optional<Error> error; ///< the host could not be asked; Cancelled: the user stopped it

    [[nodiscard]] ExitStatus status() const;
};

/// Starts an agent there, which puts back what a dead one left, and asks whether a living run has
/// the host. Blocks; cancellable; call from a worker thread.
[[nodiscard]] Recovery recoverHost(const HostSpec& host, const HostOptions& options,
                                   const CancelToken& cancel, HostSteps* steps = nullptr);

/// "sysctl:net.ipv4.tcp_sack is back to 1": a line for each knob that is as it was, or one that
/// says that nothing was left.
[[nodiscard]] QStringList recoveryLines(const Recovery& recovery);

} // namespace knobscope
