// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/stopsignals.h"

#include <QSocketNotifier>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <unistd.h>

namespace knobscope::cli {

namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

/// A signal handler reaches nothing but static data; this is all it needs.
std::atomic<int> writeEnd{-1};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void onStopSignal(int) {
    const int saved = errno;
    const char byte = 0;
    (void)!write(writeEnd.load(), &byte, 1); // a full pipe already says enough
    errno = saved;
}

} // namespace

/// What the process did on these signals before.
struct StopSignals::Handlers {
    std::array<struct sigaction, kSignals.size()> stop;
};

StopSignals::StopSignals(QObject* parent)
    : QObject(parent), m_handlers(std::make_unique<Handlers>()) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0)
        qFatal("No pipe can be made; the program has too many open files");
    m_read = ends[0];
    writeEnd = ends[1];
    m_notifier = std::make_unique<QSocketNotifier>(m_read, QSocketNotifier::Read);
    connect(m_notifier.get(), &QSocketNotifier::activated, this, &StopSignals::readPipe);

    struct sigaction action = {};
    action.sa_handler = onStopSignal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (std::size_t i = 0; i < kSignals.size(); ++i)
        sigaction(kSignals[i], &action, &m_handlers->stop[i]);
}

StopSignals::~StopSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
        sigaction(kSignals[i], &m_handlers->stop[i], nullptr);
    close(writeEnd.exchange(-1));
    m_notifier.reset();
    close(m_read);
}

void StopSignals::readPipe() {
    std::array<char, 16> bytes{};
    ssize_t got = 0;
    while ((got = read(m_read, bytes.data(), bytes.size())) > 0) {
        for (ssize_t i = 0; i < got; ++i)
            emit received(++m_count);
    }
}

} // namespace knobscope::cli
