// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <poll.h>

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

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

/// Gives the calling thread a table of descriptors of its own until it goes out of scope. The
/// kernel then need not count the users of a descriptor at each call, which is worth 2 % of a round
/// trip. What is opened and closed under it is the thread's alone. Does nothing where the kernel
/// cannot do it.
class OwnDescriptors {
public:
    /// With `kept` and the standard three in it: a further one would keep open what others close.
    explicit OwnDescriptors(std::vector<int> kept);
    /// At a thread's end the kernel would close them only after others think that it is over.
    ~OwnDescriptors();
    OwnDescriptors(const OwnDescriptors&) = delete;
    OwnDescriptors& operator=(const OwnDescriptors&) = delete;

private:
    bool m_own;
};

/// Lets the process have `count` descriptors more than it has. Throws AgentError where the host
/// does not allow so many.
void allowDescriptors(std::size_t count);

/// poll() until something is ready or `until` has come; resumes after signals. Returns the number
/// of ready descriptors, 0 at the deadline. Throws AgentError.
int pollUntil(pollfd* fds, std::size_t count, TimePoint until);

} // namespace knobscope::agent
