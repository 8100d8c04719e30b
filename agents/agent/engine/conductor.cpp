// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/conductor.h"

#include "agents/agent/error.h"

#include <sys/socket.h>

#include <algorithm>
#include <csignal>
#include <exception>

namespace knobscope::agent {

namespace {

using Word = ControlLink::Word;

/// A server that nobody connects to, and that nobody starts, listens for this long.
constexpr std::chrono::seconds kIdleListen{30};
/// How long the passive end keeps its sockets open for the active one to read their last state.
constexpr std::chrono::seconds kFarewell{1};
/// For waits that only an event ends.
constexpr std::chrono::hours kLong{1};

[[noreturn]] void fail(const std::string& message) {
    throw AgentError(protocol::errorcode::kTraffic, message);
}

/// CPU figures are an extra: a host that does not tell them can still be measured.
std::optional<CpuReading> tryReadCpu() {
    try {
        return readCpu();
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

/// The threads of a test take no signals: those are for the worker's main thread.
void blockSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

} // namespace

Conductor::Conductor(const Setup& setup, std::span<Stream> streams, Course& course,
                     const std::atomic<bool>& cancelled)
    : m_setup(setup), m_streams(streams), m_course(course), m_cancelled(cancelled) {}

void Conductor::start() {
    m_started.store(Clock::now().time_since_epoch().count());
    m_course.changed().raise();
}

protocol::TrafficResult Conductor::run() {
    blockSignals();
    try {
        protocol::TrafficResult result = conduct();
        windDown(false);
        return result;
    } catch (const AgentError&) {
        windDown(true);
        throw;
    } catch (const std::exception& error) {
        windDown(true);
        fail(std::string("the test could not be run: ") + error.what());
    }
}

protocol::TrafficResult Conductor::conduct() {
    if (m_acceptor)
        acceptStreams();
    awaitStart();
    launch();
    open();
    follow();
    settle();
    return std::move(m_result);
}

void Conductor::acceptStreams() {
    const TimePoint idleEnd = Clock::now() + kIdleListen;
    for (;;) {
        const TimePoint deadline = started() ? startTime() + kPatience : idleEnd;
        if (m_acceptor->step(m_streams, m_course.changed(), deadline))
            break;
        m_course.changed().clear();
        checkCancelled();
        if (Clock::now() >= deadline)
            fail("the client at " + m_setup.peerText + " did not connect to " +
                 m_setup.addressText + " port " + std::to_string(m_acceptor->port()) +
                 " in time; " + std::to_string(m_acceptor->strangers()) +
                 " other connections were dropped");
    }
    m_control = m_acceptor->takeControl();
    m_result.strangers = m_acceptor->strangers();
}

void Conductor::awaitStart() {
    while (!started())
        wait(Clock::now() + kLong);
}

void Conductor::launch() {
    m_threads.reserve(m_streams.size());
    for (Stream& stream : m_streams)
        m_threads.emplace_back([this, &stream] { streamMain(stream); });
    while (m_course.waiting() < m_streams.size())
        wait(Clock::now() + kLong);
}

void Conductor::streamMain(Stream& stream) const {
    try {
        if (m_setup.config.cpu)
            pinThread(*m_setup.config.cpu);
        // Made here, so that the memory is near the CPU of the thread.
        FlowBuffers buffers = makeBuffers(m_setup);
        m_course.awaitRelease();
        runFlow(stream, m_course, m_setup, buffers);
    } catch (const std::exception& error) {
        stream.failure = error.what();
    }
    stream.done.store(true);
    m_course.changed().raise();
}

/// The passive end reads before it lets the active one send, so that no data waits in a buffer for
/// a receiver that was started later, and the clock of the receiver sees the true first byte.
void Conductor::open() {
    if (!m_setup.active) {
        m_course.release();
        m_control->say(Word::kGo);
        return;
    }
    await(Word::kGo, startTime() + kPatience);
    if (m_setup.warmup().count() == 0)
        enterMeasure();
    m_course.begin();
    m_course.release();
}

void Conductor::follow() {
    while (!allDone()) {
        advance(Clock::now());
        wait(nextStep());
    }
    if (!m_cpuAfter)
        m_cpuAfter = tryReadCpu();
}

void Conductor::advance(TimePoint now) {
    if (now >= expectedEnd() + kPatience)
        failLate();
    const auto epoch = m_course.epoch();
    if (!epoch)
        return;
    if (m_course.phase() == Phase::kWarmup && now >= *epoch + m_setup.warmup())
        enterMeasure();
    if (m_setup.interval().count() > 0 &&
        now >= *epoch + m_setup.interval() * static_cast<long>(m_nextInterval))
        recordInterval(now);
    if (m_setup.active && m_course.phase() == Phase::kMeasure && now >= *epoch + m_setup.duration())
        stopSending();
}

void Conductor::enterMeasure() {
    m_cpuBefore = tryReadCpu();
    m_course.enter(Phase::kMeasure);
}

void Conductor::stopSending() {
    m_course.enter(Phase::kStop);
    // Transactions end by themselves once all are answered.
    if (!m_setup.transactions) {
        for (const Stream& stream : m_streams)
            ::shutdown(stream.socket.get(), SHUT_WR);
    }
    m_cpuAfter = tryReadCpu();
}

void Conductor::recordInterval(TimePoint now) {
    m_result.intervals.push_back(intervalAt(now));
    // A late wake-up skips what it missed: the amounts are cumulative.
    const auto passed = (now - *m_course.epoch()) / m_setup.interval();
    m_nextInterval = static_cast<std::size_t>(passed) + 1;
}

TimePoint Conductor::nextStep() const {
    TimePoint next = expectedEnd() + kPatience;
    const auto epoch = m_course.epoch();
    if (!epoch)
        return next;
    if (m_course.phase() == Phase::kWarmup)
        next = std::min(next, *epoch + m_setup.warmup());
    if (m_setup.active && m_course.phase() == Phase::kMeasure)
        next = std::min(next, *epoch + m_setup.duration());
    if (m_setup.interval().count() > 0)
        next = std::min(next, *epoch + m_setup.interval() * static_cast<long>(m_nextInterval));
    return next;
}

/// Sleeps until `until` or until something happens, and throws when it is the end of the test.
void Conductor::wait(TimePoint until) {
    pollfd fds[] = {{m_course.changed().fd(), POLLIN, 0}, {m_control->fd(), POLLIN, 0}};
    pollUntil(fds, 2, until);
    if (fds[0].revents != 0)
        m_course.changed().clear();
    if (fds[1].revents != 0)
        m_control->receive();
    checkCancelled();
    checkFailures();
}

void Conductor::await(Word word, TimePoint deadline) {
    while (!m_control->heard(word)) {
        if (Clock::now() >= deadline)
            failLate();
        wait(deadline);
    }
}

void Conductor::checkCancelled() const {
    if (m_cancelled.load())
        throw AgentError(protocol::errorcode::kCancelled, "the test was cancelled");
}

void Conductor::checkFailures() const {
    for (const Stream& stream : m_streams) {
        if (stream.done.load() && !stream.failure.empty())
            fail(stream.failure);
    }
    const Word last = m_setup.active ? Word::kTotals : Word::kDone;
    if (m_control->closed() && !m_control->heard(last))
        fail("the other end of the test at " + m_setup.peerText +
             " closed its connection before the end of the test: it was stopped, or its agent has "
             "ended");
}

void Conductor::failLate() const {
    const std::string late = std::to_string(kPatience.count()) + " s";
    if (!m_setup.active && !m_course.epoch())
        fail("nothing came from " + m_setup.peerText + " until " + late +
             " after the test should have ended");
    if (m_setup.active && !m_course.epoch())
        fail("the other end of the test at " + m_setup.peerText + " did not start within " + late);
    fail("the test with " + m_setup.peerText + " had not ended " + late +
         " after it should have: the other end does not answer, or the path is too slow for what "
         "is still queued");
}

bool Conductor::allDone() const {
    return std::all_of(m_streams.begin(), m_streams.end(),
                       [](const Stream& stream) { return stream.done.load(); });
}

/// Both ends tell what they counted, and read the last state of their sockets while the other end
/// still holds its own open.
void Conductor::settle() {
    const TimePoint deadline = expectedEnd() + kPatience;
    if (m_setup.active) {
        m_control->say(Word::kDone, countsByStream());
        await(Word::kTotals, deadline);
        compareCounts();
        collect();
        return;
    }
    await(Word::kDone, deadline);
    compareCounts();
    collect();
    m_control->say(Word::kTotals, countsByStream());
    const TimePoint farewell = Clock::now() + kFarewell;
    while (!m_control->closed() && Clock::now() < farewell)
        wait(farewell);
}

void Conductor::compareCounts() const {
    const auto ours = countsByStream();
    const auto& theirs = m_control->counts();
    for (std::size_t i = 0; i < ours.size(); ++i) {
        const bool same = ours[i].bytesSent == theirs[i].bytesReceived &&
                          ours[i].bytesReceived == theirs[i].bytesSent &&
                          ours[i].transactions == theirs[i].transactions;
        if (!same)
            fail("the ends of the test count differently on stream " + std::to_string(i) +
                 ": sent " + std::to_string(ours[i].bytesSent) + " bytes here, " +
                 std::to_string(theirs[i].bytesReceived) + " arrived at " + m_setup.peerText +
                 "; sent " + std::to_string(theirs[i].bytesSent) + " there, " +
                 std::to_string(ours[i].bytesReceived) +
                 " arrived here; something on the path alters the data");
    }
}

void Conductor::windDown(bool failed) {
    for (const Stream& stream : m_streams) {
        if (failed && stream.socket)
            ::shutdown(stream.socket.get(), SHUT_RDWR);
    }
    m_course.release();
    for (std::thread& thread : m_threads)
        thread.join();
    m_threads.clear();
    for (Stream& stream : m_streams) {
        if (failed && stream.socket)
            resetOnClose(stream.socket.get());
        stream.socket.reset();
    }
    m_control.reset();
    m_acceptor.reset();
    if (failed) // progress() stands still from now on
        m_ended.store(Clock::now().time_since_epoch().count());
}

TimePoint Conductor::startTime() const {
    return TimePoint(Clock::duration(m_started.load()));
}

TimePoint Conductor::expectedEnd() const {
    return m_course.epoch().value_or(startTime()) + m_setup.duration();
}

} // namespace knobscope::agent
