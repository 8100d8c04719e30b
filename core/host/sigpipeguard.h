// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <csignal>
#include <ctime>

namespace knobscope {

/// Keeps SIGPIPE from this thread while it lives: writing to a peer that is gone is an error
/// value here, and neither pipes nor libssh can ask for that call by call.
class SigpipeGuard {
public:
    SigpipeGuard() {
        sigset_t pending;
        sigpending(&pending);
        m_wasPending = sigismember(&pending, SIGPIPE) == 1;
        sigset_t block;
        sigemptyset(&block);
        sigaddset(&block, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &block, &m_previous);
    }
    ~SigpipeGuard() {
        if (!m_wasPending) {
            sigset_t set;
            sigemptyset(&set);
            sigaddset(&set, SIGPIPE);
            const timespec now{};
            sigtimedwait(&set, nullptr, &now);
        }
        pthread_sigmask(SIG_SETMASK, &m_previous, nullptr);
    }
    SigpipeGuard(const SigpipeGuard&) = delete;
    SigpipeGuard& operator=(const SigpipeGuard&) = delete;

private:
    sigset_t m_previous{};
    bool m_wasPending = false;
};

} // namespace knobscope
