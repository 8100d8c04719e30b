// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/hostsession.h"
#include "core/host/hoststeps.h"

namespace knobscope {

/// What came of trying a host.
struct HostTest {
    QList<HostStep> steps; ///< in the order in which they were made; those not reached at the end
    std::optional<Error> error; ///< of the step where it stopped; Cancelled: by the user

    [[nodiscard]] bool usable() const { return !error; }
};

/// Tries one host from its name to its test interface, and leaves nothing running there. `changed`
/// is called on this thread as each step begins and ends. Blocks; cancellable; call from a worker
/// thread.
[[nodiscard]] HostTest testHost(const HostSpec& host, const HostOptions& options,
                                const CancelToken& cancel, HostSteps::Observer changed = {});

} // namespace knobscope
