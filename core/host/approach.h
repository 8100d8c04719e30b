// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/hostsession.h"
#include "core/host/hoststeps.h"
#include "core/host/patience.h"
#include "core/host/secretsource.h"

namespace knobscope {

/// What goes along while one host is reached, from resolving its name to the agent's hello. The
/// thread that reaches it owns it.
class Approach {
public:
    Approach(const HostOptions& options, CancelToken cancel, HostSteps& steps)
        : options(options), cancel(std::move(cancel)), steps(steps) {}

    const HostOptions& options;
    const CancelToken cancel;
    HostSteps& steps;

    /// Asks the user. While the user thinks, neither the step's time nor the patience runs.
    /// Errors: Cancelled; HostUnusable when nobody can be asked, with the reason.
    [[nodiscard]] Result<Secret> ask(const SecretRequest& request, Patience& patience);
    void judge(const SecretRequest& request, const Secret& answer, bool right);
    /// Errors: Cancelled.
    [[nodiscard]] Result<bool> trusts(const NewHostKey& key, Patience& patience);

private:
    template<typename Answer>
    Result<Answer> asked(const QString& host, Patience& patience,
                         const std::function<Result<Answer>()>& question);
};

} // namespace knobscope
