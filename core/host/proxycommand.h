// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/sshconfig.h"
#include "core/host/underlay.h"

#include <sys/types.h>

namespace knobscope {

/// A program of the ssh configuration (ProxyCommand) whose standard input and output lead to the
/// host. Run by the user's shell, as ssh does it, but without the terminal: it cannot ask there.
class ProxyCommand final : public Carrier {
public:
    /// HostUnusable when it does not start.
    static Result<Underlay> start(const SshConfig& config);
    ~ProxyCommand() override; ///< takes at most a second

    [[nodiscard]] QString endReason() const override;

private:
    ProxyCommand(pid_t pid, Fd words) : m_pid(pid), m_words(std::move(words)) {}
    [[nodiscard]] bool reap(std::chrono::milliseconds limit) const;

    const pid_t m_pid;
    const Fd m_words; ///< the file that takes its standard error
    mutable bool m_gone = false;
    mutable int m_status = 0;
};

} // namespace knobscope
