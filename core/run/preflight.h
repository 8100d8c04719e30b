// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/hostsession.h"
#include "core/model/experiment.h"

namespace knobscope {

/// One line of the check list before a run.
struct Check {
    enum class State { Ok, Warning, Failed };
    State state = State::Ok;
    QString host;   ///< label; empty: of the experiment as a whole
    QString title;  ///< "Knob link:mtu = 1500, 9000"
    QString detail; ///< what was found; for Warning and Failed what to do
};

struct PreflightReport {
    QList<Check> checks;
    [[nodiscard]] bool passed() const; ///< no check failed
    /// How a run would end now: AllWell, BadInput or HostUnusable (as int of ExitStatus).
    int exitStatus = 0;
};

/// Connects to all hosts and finds out, without traffic and leaving all as it was, whether the
/// experiment can run: agent starts, interface and address exist, every knob exists and takes each
/// of its values (set, read back, put back), each receiver's test address answers its sender.
/// Blocks; cancellable; call from a worker thread.
[[nodiscard]] PreflightReport preflight(const Experiment& experiment, const HostOptions& options,
                                        const CancelToken& cancel);

/// The part that needs no experiment: can this host be used? For `check HOST` and the wizard.
[[nodiscard]] PreflightReport checkHost(const HostSpec& host, const HostOptions& options,
                                        const CancelToken& cancel);

} // namespace knobscope
