// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/hostsession.h"
#include "core/model/matrix.h"

namespace knobscope {

/// One line of the check list before a run.
struct Check {
    enum class State { Ok, Warning, Failed };
    State state = State::Ok;
    QString host;         ///< label; empty: of the experiment as a whole
    QString title;        ///< "Knob link:mtu = 1500, 9000"
    QString detail;       ///< what was found; for Warning and Failed what to do
    bool refusal = false; ///< Failed for single values only: the other cells can be measured
};

/// What a run changes on a host, and what it puts back at the end.
struct PlannedChange {
    HostRef host;
    QString label; ///< of the host
    QString knob;
    QString interface; ///< empty for a knob of the host as a whole
    std::optional<QString> now;
    QStringList values; ///< each once, in the order of the axis
};

/// A value that a host does not take, or with which its packets do not get through.
struct RefusedValue {
    HostRef host;
    QString knob;
    KnobValue value;
    QString reason; ///< "host1: link:mtu 9000: invalid argument"
};

struct PreflightReport {
    QList<Check> checks;
    QList<PlannedChange> changes;
    QList<RefusedValue> refused;

    [[nodiscard]] bool passed() const; ///< no check failed
    /// Whether nothing failed but single values, so that the cells without them can be measured.
    [[nodiscard]] bool passedButRefusals() const;
    /// How a run would end now: AllWell, BadInput or HostUnusable (as int of ExitStatus).
    int exitStatus = 0;
};

/// By the number of the cell: why it cannot be measured. Empty when all can be.
[[nodiscard]] QMap<int, QString> refusedCells(const Experiment& experiment,
                                              const QList<Cell>& cells,
                                              const QList<RefusedValue>& refused);

/// Connects to all hosts and finds out, with a few packets at most and leaving all as it was,
/// whether the experiment can run: agent starts, interface and address exist, every knob exists and
/// takes each of its values (set, read back, put back), each receiver's test address answers its
/// sender, and packets as large as each MTU of the matrix get through.
/// Blocks; cancellable; call from a worker thread.
[[nodiscard]] PreflightReport preflight(const Experiment& experiment, const HostOptions& options,
                                        const CancelToken& cancel);

/// The part that needs no experiment: can this host be used? For `check HOST` and the wizard.
[[nodiscard]] PreflightReport checkHost(const HostSpec& host, const HostOptions& options,
                                        const CancelToken& cancel);

} // namespace knobscope
