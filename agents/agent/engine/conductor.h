// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/engine/connections.h"
#include "agents/agent/engine/flows.h"
#include "agents/agent/kernel/snapshot.h"

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace knobscope::agent {

/// Takes one test through its steps: connections up, start, warm-up, measured time, end, figures.
/// run() is the body of a thread of its own, which starts and joins one thread a stream; start(),
/// cancel() and progress() are called from outside at any time.
class Conductor {
public:
    /// Everything is borrowed, and outlives the conductor. `cancelled` is set before course.changed
    /// is raised. Either an acceptor (server) or a control link (client).
    Conductor(const Setup& setup, std::span<Stream> streams, Course& course,
              const std::atomic<bool>& cancelled);

    void useAcceptor(std::unique_ptr<Acceptor> acceptor) { m_acceptor = std::move(acceptor); }
    void useControl(std::unique_ptr<ControlLink> control) { m_control = std::move(control); }

    void start(); ///< from outside
    [[nodiscard]] bool started() const { return m_started.load() != 0; }
    [[nodiscard]] protocol::Interval progress() const; ///< from outside

    /// Returns the figures or throws AgentError; leaves no thread and no open socket.
    protocol::TrafficResult run();

private:
    protocol::TrafficResult conduct();
    void acceptStreams();
    void awaitStart();
    void launch();
    /// What a thread for these streams uses.
    [[nodiscard]] std::vector<int> descriptorsOf(const std::vector<std::size_t>& indices) const;
    void threadMain(const std::vector<std::size_t>& indices) const;
    void streamMain(Stream& stream, std::size_t index) const;
    void open();
    void follow();
    void settle();
    void windDown(bool failed);

    void advance(TimePoint now);
    void enterMeasure();
    void stopSending();
    void hearPeer();
    void recordInterval(TimePoint now);
    [[nodiscard]] TimePoint nextStep() const;
    void wait(TimePoint until);
    void await(ControlLink::Word word, TimePoint deadline);
    void checkCancelled() const;
    void checkFailures() const;
    void checkProgress(TimePoint now);
    [[nodiscard]] bool allDone(std::optional<bool> sends = std::nullopt) const;
    [[nodiscard]] bool has(bool sends) const;
    [[noreturn]] void failLate() const;

    [[nodiscard]] TimePoint startTime() const;
    [[nodiscard]] TimePoint expectedEnd() const;
    [[nodiscard]] Counts totals() const;
    [[nodiscard]] std::vector<Counts> countsByStream(bool measuredDatagrams) const;
    [[nodiscard]] protocol::Interval intervalAt(TimePoint time) const;
    void addTcp(protocol::Interval& interval) const;
    void collect();
    void collectLatency();
    void finishIntervals(TimePoint last);
    [[nodiscard]] protocol::StreamResult streamResult(const Stream& stream,
                                                      std::size_t index) const;
    [[nodiscard]] std::optional<protocol::Datagrams> datagramsOf(const Stream& stream,
                                                                 std::size_t index) const;

    const Setup& m_setup;
    std::span<Stream> m_streams;
    Course& m_course;
    const std::atomic<bool>& m_cancelled;
    std::unique_ptr<Acceptor> m_acceptor;
    std::unique_ptr<ControlLink> m_control;
    std::vector<std::thread> m_threads;
    std::atomic<Clock::rep> m_started{0};
    std::atomic<Clock::rep> m_ended{0};
    std::size_t m_nextInterval = 1;
    bool m_saidDone = false;
    std::int64_t m_unfinished = -1; ///< bytes on their way when last looked, after the end
    TimePoint m_lastProgress{};     ///< when that number last changed
    std::optional<CpuReading> m_cpuBefore;
    std::optional<CpuReading> m_cpuAfter;
    protocol::TrafficResult m_result;
};

} // namespace knobscope::agent
