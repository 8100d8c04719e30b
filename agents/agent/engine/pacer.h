// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/engine/fd.h"

#include <cerrno>
#include <ctime>

namespace knobscope::agent {

/// Even steps in time from its first use on. A late caller catches up: the times that are due do
/// not move.
class Pacer {
public:
    /// `rate` steps a second; 0: everything is due at once.
    explicit Pacer(double rate) : m_step(rate > 0 ? 1e9 / rate : 0) {}
    [[nodiscard]] bool on() const { return m_step > 0; }
    /// When the next step is due; `now` while it is off, or for the first.
    [[nodiscard]] TimePoint due(TimePoint now) {
        if (!on())
            return now;
        if (m_steps == 0)
            m_start = now;
        return m_start + std::chrono::nanoseconds(
                             static_cast<std::int64_t>(m_step * static_cast<double>(m_steps)));
    }
    void step(double count = 1) { m_steps += count; }

    static void sleepUntil(TimePoint time) {
        const auto ns = time.time_since_epoch().count();
        const timespec until{static_cast<time_t>(ns / 1'000'000'000),
                             static_cast<long>(ns % 1'000'000'000)};
        while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
        }
    }

private:
    double m_step; ///< ns
    double m_steps = 0;
    TimePoint m_start{};
};

} // namespace knobscope::agent
