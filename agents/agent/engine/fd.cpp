// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/fd.h"

#include "agents/agent/error.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <ctime>

namespace knobscope::agent {

void Fd::reset(int fd) {
    if (m_fd >= 0)
        ::close(m_fd);
    m_fd = fd;
}

Event::Event() : m_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!m_fd)
        throw AgentError(protocol::errorcode::kTraffic, errnoText("cannot make an eventfd", errno));
}

void Event::raise() const {
    const std::uint64_t one = 1;
    // The only failure is a counter that is full, and then it is raised.
    [[maybe_unused]] const auto written = ::write(m_fd.get(), &one, sizeof one);
}

void Event::clear() const {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto read = ::read(m_fd.get(), &count, sizeof count);
}

namespace {
/// No descriptor has this number.
constexpr unsigned kNone = ~0U;

#ifdef __SANITIZE_THREAD__
// It takes a number for the same descriptor in all threads.
constexpr bool kPossible = false;
#else
constexpr bool kPossible = true;
#endif
} // namespace

OwnDescriptors::OwnDescriptors(std::vector<int> kept)
    // A kernel that cannot close them all, which closing none finds out, must not copy them.
    : m_own(kPossible && ::close_range(kNone, kNone, 0) == 0 && ::unshare(CLONE_FILES) == 0) {
    if (!m_own)
        return;
    std::sort(kept.begin(), kept.end());
    unsigned next = STDERR_FILENO + 1;
    for (const int fd : kept) {
        const auto number = static_cast<unsigned>(fd);
        if (fd < 0 || number < next)
            continue;
        if (number > next)
            ::close_range(next, number - 1, 0);
        next = number + 1;
    }
    ::close_range(next, kNone, 0);
}

OwnDescriptors::~OwnDescriptors() {
    if (m_own)
        ::close_range(0, kNone, 0);
}

void allowDescriptors(std::size_t count) {
    // Descriptors are given out from 0 up, so a new one tells how many there are at least.
    const Fd next(::dup(STDIN_FILENO));
    const rlim_t wanted = static_cast<rlim_t>(std::max(next.get(), 0)) + count;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
        return;
    if (limit.rlim_max < wanted)
        throw AgentError(protocol::errorcode::kKnob,
                         "the test needs " + std::to_string(wanted) +
                             " open files, and this host allows a program " +
                             std::to_string(limit.rlim_max) +
                             "; ask for fewer streams, or raise the limit (ulimit -Hn)");
    limit.rlim_cur = wanted;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0)
        throw AgentError(protocol::errorcode::kKnob,
                         errnoText("cannot raise the limit of open files", errno));
}

int pollUntil(pollfd* fds, std::size_t count, TimePoint until) {
    using namespace std::chrono;
    for (;;) {
        const auto left =
            std::max(duration_cast<std::chrono::nanoseconds>(until - Clock::now()), 0ns);
        timespec timeout{};
        timeout.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000);
        timeout.tv_nsec = static_cast<long>(left.count() % 1'000'000'000);
        const int ready = ::ppoll(fds, count, &timeout, nullptr);
        if (ready >= 0)
            return ready;
        if (errno != EINTR)
            throw AgentError(protocol::errorcode::kTraffic,
                             errnoText("waiting for the test connections", errno));
    }
}

} // namespace knobscope::agent
