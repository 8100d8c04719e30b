// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/engine/engine.h"
#include "agents/agent/frame/rpc.h"
#include "agents/agent/uniquefd.h"

#include <chrono>
#include <functional>
#include <optional>
#include <thread>

namespace knobscope::agent {

/// The traffic.* methods: one test at a time on this host, through an Engine. Lives in the
/// worker's main thread; the making of connections runs in a thread of its own, so that pings are
/// answered meanwhile. Failures are AgentError.
class TrafficSession {
public:
    using Answer = std::function<void(const Outcome&)>;
    using Notify = std::function<void(const protocol::Interval&)>;
    explicit TrafficSession(Notify notify);
    ~TrafficSession(); ///< cancels, and waits for the threads
    TrafficSession(const TrafficSession&) = delete;
    TrafficSession& operator=(const TrafficSession&) = delete;

    /// Answered when this side is ready.
    void prepare(const protocol::PrepareParams& params, Answer answer);
    void start();
    /// Answered when the test has ended.
    void result(Answer answer);
    /// Well too when there is nothing to cancel: the test may have ended by itself just now.
    void cancel();

    /// Readable when there is work for process(); -1: none now.
    [[nodiscard]] int fd() const;
    /// When process() has to be called at the latest.
    [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> nextInterval() const;
    void process(bool readable);

private:
    enum class State { Idle, Preparing, Prepared, Running, Ended };
    void prepared();
    void ended();
    void reset();

    Notify m_notify;
    State m_state = State::Idle;
    std::unique_ptr<Engine> m_engine;
    std::chrono::steady_clock::duration m_interval{};
    std::chrono::steady_clock::time_point m_next;

    std::thread m_preparing;
    UniqueFd m_preparedFd;                   ///< eventfd
    std::optional<Outcome> m_prepareOutcome; ///< the thread's, until it is joined
    Answer m_prepareAnswer;
    bool m_cancelled = false;

    std::vector<Answer> m_waiting;    ///< traffic.result
    std::optional<Outcome> m_outcome; ///< ended, and nobody has asked yet
};

} // namespace knobscope::agent
