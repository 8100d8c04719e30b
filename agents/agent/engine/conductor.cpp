// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/conductor.h"

#include "agents/agent/engine/placement.h"
#include "agents/agent/error.h"

#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
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
/// How long what is queued may take to arrive after the end, as long as it moves.
constexpr std::chrono::seconds kLongestDrain{120};
constexpr std::chrono::milliseconds kLookForProgress{250};
/// For waits that only an event ends.
constexpr std::chrono::hours kLong{1};

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

/// The calling thread waits for its turn rather than to push a stream's thread off its CPU, which
/// it would do at each interval: on a busy CPU that costs a fast stream some per cent.
class Unhurried {
public:
    Unhurried() {
        const sched_param none{};
        m_changed = ::sched_getscheduler(0) == SCHED_OTHER &&
                    ::sched_setscheduler(0, SCHED_BATCH, &none) == 0;
    }
    ~Unhurried() {
        const sched_param none{};
        if (m_changed)
            ::sched_setscheduler(0, SCHED_OTHER, &none);
    }
    Unhurried(const Unhurried&) = delete;
    Unhurried& operator=(const Unhurried&) = delete;

private:
    bool m_changed = false;
};

} // namespace

Conductor::Conductor(const Setup& setup, std::span<Stream> streams, Course& course,
                     const std::atomic<bool>& cancelled)
    : m_setup(setup), m_streams(streams), m_course(course), m_cancelled(cancelled) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
        streams[i].sends = setup.sends(i);
        if (setup.transactions() && setup.config.latency_histogram && streams[i].sends)
            streams[i].latency = std::make_unique<protocol::Histogram>();
        if (setup.kind == TestKind::kUdpStream && !streams[i].sends)
            streams[i].tracker = std::make_unique<DatagramTracker>();
    }
}

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
        failTraffic(std::string("the test could not be run: ") + error.what());
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
        if (m_acceptor->step(m_course.changed(), deadline))
            break;
        m_course.changed().clear();
        checkCancelled();
        if (Clock::now() >= deadline)
            failTraffic("the client at " + m_setup.peerText + " did not connect to " +
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
    // Streams that send and streams that receive never share a thread.
    std::vector<std::vector<std::size_t>> groups;
    for (const bool sends : {false, true}) {
        std::vector<std::size_t> indices;
        for (std::size_t i = 0; i < m_streams.size(); ++i) {
            if (m_streams[i].sends == sends)
                indices.push_back(i);
        }
        const std::size_t first = groups.size();
        const std::size_t threads = std::min(m_setup.threads(), indices.size());
        groups.resize(first + threads);
        for (std::size_t i = 0; i < indices.size(); ++i)
            groups[first + i % threads].push_back(indices[i]);
    }
    m_threads.reserve(groups.size());
    for (const auto& group : groups)
        m_threads.emplace_back([this, group] {
            const OwnDescriptors own(descriptorsOf(group));
            threadMain(group);
        });
    while (m_course.waiting() < groups.size())
        wait(Clock::now() + kLong);
}

std::vector<int> Conductor::descriptorsOf(const std::vector<std::size_t>& indices) const {
    std::vector<int> all{m_course.changed().fd()};
    for (const std::size_t index : indices) {
        all.push_back(m_streams[index].socket.get());
        all.push_back(m_streams[index].listener.get());
    }
    return all;
}

void Conductor::threadMain(const std::vector<std::size_t>& indices) const {
    if (m_setup.config.threads == 0)
        return streamMain(m_streams[indices.front()], indices.front());
    std::vector<Stream*> streams;
    for (const std::size_t index : indices)
        streams.push_back(&m_streams[index]);
    try {
        placeThread(m_setup.config);
        runFlows(streams, m_course, m_setup, indices);
    } catch (const std::exception& error) {
        for (Stream* stream : streams) {
            stream->failure = error.what();
            stream->done.store(true);
        }
        m_course.changed().raise();
    }
}

void Conductor::streamMain(Stream& stream, std::size_t index) const {
    try {
        placeThread(m_setup.config);
        // Made here, so that the memory is near the CPU of the thread.
        FlowBuffers buffers = makeBuffers(m_setup, stream.sends);
        m_course.awaitRelease(stream.sends);
        runFlow(stream, m_course, m_setup, buffers, index);
    } catch (const std::exception& error) {
        stream.failure = error.what();
    }
    stream.done.store(true);
    m_course.changed().raise();
}

/// An end reads before the other may send, so that no data waits in a buffer for a receiver that
/// was started later, and the clock of the receiver sees the true first byte.
void Conductor::open() {
    if (has(false)) {
        m_course.release(false);
        m_control->say(Word::kGo);
    }
    if (!has(true))
        return;
    await(Word::kGo, startTime() + kPatience);
    if (m_setup.warmup().count() == 0)
        enterMeasure();
    m_course.begin();
    m_course.release(true);
}

void Conductor::follow() {
    const Unhurried unhurried;
    while (!allDone()) {
        advance(Clock::now());
        if (!m_saidDone && allDone(true)) {
            m_saidDone = true;
            m_control->say(Word::kDone, countsByStream(false));
        }
        wait(nextStep());
        hearPeer();
    }
    if (!m_saidDone)
        m_control->say(Word::kDone, countsByStream(false));
    if (!m_cpuAfter)
        m_cpuAfter = tryReadCpu();
}

/// Streams that no end of a connection ends must be told that nothing more will come.
void Conductor::hearPeer() {
    if (m_course.peerDone() || !m_control->heard(Word::kDone))
        return;
    for (std::size_t i = 0; i < m_streams.size(); ++i)
        m_streams[i].expected.store(m_control->done()[i].transactions);
    m_course.setPeerDone();
    for (const Stream& stream : m_streams) {
        if (stream.sends)
            continue;
        if (stream.listener)
            ::shutdown(stream.listener.get(), SHUT_RDWR);
        else if (m_setup.kind == TestKind::kUdpRr)
            ::shutdown(stream.socket.get(), SHUT_RD);
    }
}

void Conductor::advance(TimePoint now) {
    checkProgress(now);
    const auto epoch = m_course.epoch();
    if (!epoch)
        return;
    if (m_course.phase() == Phase::kWarmup && now >= *epoch + m_setup.warmup())
        enterMeasure();
    if (m_setup.interval().count() > 0 &&
        now >= *epoch + m_setup.interval() * static_cast<long>(m_nextInterval))
        recordInterval(now);
    if (has(true) && m_course.phase() == Phase::kMeasure && now >= *epoch + m_setup.duration())
        stopSending();
}

/// After the end what is queued may take long on a slow path; only silence is a failure.
void Conductor::checkProgress(TimePoint now) {
    if (now < expectedEnd())
        return;
    std::int64_t unfinished = static_cast<std::int64_t>(totals().bytesReceived);
    for (const Stream& stream : m_streams) {
        int queued = 0;
        if (stream.socket && ::ioctl(stream.socket.get(), SIOCOUTQ, &queued) == 0)
            unfinished -= queued;
    }
    if (unfinished != m_unfinished || m_lastProgress == TimePoint{}) {
        m_unfinished = unfinished;
        m_lastProgress = now;
    }
    if (now >= m_lastProgress + kPatience || now >= expectedEnd() + kLongestDrain)
        failLate();
}

void Conductor::enterMeasure() {
    m_cpuBefore = tryReadCpu();
    m_course.enter(Phase::kMeasure);
}

void Conductor::stopSending() {
    m_course.enter(Phase::kStop);
    // Transactions end by themselves once all are answered, datagrams at the sender's next look.
    if (m_setup.kind == TestKind::kTcpStream) {
        for (const Stream& stream : m_streams) {
            if (stream.sends)
                ::shutdown(stream.socket.get(), SHUT_WR);
        }
    }
    m_cpuAfter = tryReadCpu();
}

void Conductor::recordInterval(TimePoint now) {
    m_result.intervals.push_back(intervalAt(now));
    addTcp(m_result.intervals.back());
    // A late wake-up skips what it missed: the amounts are cumulative.
    const auto passed = (now - *m_course.epoch()) / m_setup.interval();
    m_nextInterval = static_cast<std::size_t>(passed) + 1;
}

TimePoint Conductor::nextStep() const {
    const TimePoint now = Clock::now();
    TimePoint next = expectedEnd();
    if (next <= now)
        next = now + kLookForProgress;
    const auto epoch = m_course.epoch();
    if (!epoch)
        return next;
    if (m_course.phase() == Phase::kWarmup)
        next = std::min(next, *epoch + m_setup.warmup());
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
            failTraffic(stream.failure);
    }
    if (m_control->closed() && !m_control->heard(Word::kTotals))
        failTraffic(
            "the other end of the test at " + m_setup.peerText +
            " closed its connection before the end of the test: it was stopped, or its agent has "
            "ended");
}

void Conductor::failLate() const {
    const std::string late = std::to_string(kPatience.count()) + " s";
    if (!has(true) && !m_course.epoch())
        failTraffic("nothing came from " + m_setup.peerText + " until " + late +
                    " after the test should have ended");
    if (has(true) && !m_course.epoch())
        failTraffic("the other end of the test at " + m_setup.peerText + " did not start within " +
                    late);
    failTraffic(
        "the test with " + m_setup.peerText + " had not ended " + late +
        " after it should have: the other end does not answer, or the path is too slow for what "
        "is still queued");
}

bool Conductor::allDone(std::optional<bool> sends) const {
    return std::all_of(m_streams.begin(), m_streams.end(), [&](const Stream& stream) {
        return stream.done.load() || (sends && stream.sends != *sends);
    });
}

bool Conductor::has(bool sends) const {
    return std::any_of(m_streams.begin(), m_streams.end(),
                       [&](const Stream& stream) { return stream.sends == sends; });
}

/// Both ends tell what they counted, and read the last state of their sockets while the other end
/// still holds its own open.
void Conductor::settle() {
    const TimePoint deadline = std::max(expectedEnd(), Clock::now()) + kPatience;
    m_control->say(Word::kTotals, countsByStream(true));
    await(Word::kTotals, deadline);
    collect();
    m_control->say(Word::kBye);
    const TimePoint farewell = Clock::now() + kFarewell;
    while (!m_control->closed() && !m_control->heard(Word::kBye) && Clock::now() < farewell)
        wait(farewell);
}

void Conductor::windDown(bool failed) {
    if (failed)
        m_course.enter(Phase::kAbort);
    for (const Stream& stream : m_streams) {
        if (failed && stream.socket)
            ::shutdown(stream.socket.get(), SHUT_RDWR);
        if (failed && stream.listener)
            ::shutdown(stream.listener.get(), SHUT_RDWR);
    }
    m_course.release(false);
    m_course.release(true);
    for (std::thread& thread : m_threads)
        thread.join();
    m_threads.clear();
    for (Stream& stream : m_streams) {
        if (failed && stream.socket)
            resetOnClose(stream.socket.get());
        stream.socket.reset();
        stream.listener.reset();
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
