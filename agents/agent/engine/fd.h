// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <utility>

namespace knobscope::agent {

using Clock = std::chrono::steady_clock; ///< CLOCK_MONOTONIC
using TimePoint = Clock::time_point;

/// Owns one file descriptor.
class Fd {
public:
    Fd() = default;
    explicit Fd(int fd) : m_fd(fd) {}
    Fd(Fd&& other) noexcept : m_fd(std::exchange(other.m_fd, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        if (this != &other)
            reset(std::exchange(other.m_fd, -1));
        return *this;
    }
    ~Fd() { reset(); }

    [[nodiscard]] int get() const { return m_fd; }
    explicit operator bool() const { return m_fd >= 0; }
    void reset(int fd = -1);

private:
    int m_fd = -1;
};

/// An eventfd: any thread raises it, one thread polls it. Throws AgentError when the host has no
/// descriptors left.
class Event {
public:
    Event();
    [[nodiscard]] int fd() const { return m_fd.get(); }
    void raise() const;
    void clear() const;

private:
    Fd m_fd;
};

/// Lets the process have `count` descriptors more than it has. Throws AgentError where the host
/// does not allow so many.
void allowDescriptors(std::size_t count);

/// poll() until something is ready or `until` has come; resumes after signals. Returns the number
/// of ready descriptors, 0 at the deadline. Throws AgentError.
int pollUntil(pollfd* fds, std::size_t count, TimePoint until);

} // namespace knobscope::agent
