// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/frame/trafficsession.h"

#include <sys/eventfd.h>

#include <cerrno>

namespace knobscope::agent {

namespace errorcode = protocol::errorcode;
using Clock = std::chrono::steady_clock;

namespace {

constexpr double kShortestInterval = 0.01;
constexpr double kLongestInterval = 3600;

/// Runs a part of the engine; whatever it throws becomes the outcome.
template<typename Call>
Outcome outcomeOf(Call call) {
    try {
        return Json(call());
    } catch (const AgentError& error) {
        return error;
    } catch (const std::exception& error) {
        return AgentError(errorcode::kInternal, error.what());
    }
}

} // namespace

TrafficSession::TrafficSession(Notify notify)
    : m_notify(std::move(notify)), m_preparedFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!m_preparedFd)
        throw AgentError(errorcode::kInternal, errnoText("eventfd", errno));
}

TrafficSession::~TrafficSession() {
    cancel();
    if (m_preparing.joinable())
        m_preparing.join();
}

void TrafficSession::prepare(const protocol::PrepareParams& params, Answer answer) {
    if (m_state == State::Preparing || m_state == State::Running)
        throw AgentError(errorcode::kState,
                         "a test is going on; end it with traffic.cancel before the next");
    const double interval = params.config.interval_seconds;
    if (interval != 0 && !(interval >= kShortestInterval && interval <= kLongestInterval))
        throw AgentError(errorcode::kInvalidParams,
                         "traffic.prepare: config.interval_seconds must be 0 (none) or from 0.01 "
                         "to 3600");
    reset();
    m_interval =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(interval));
    m_engine = std::make_unique<Engine>();
    m_prepareAnswer = std::move(answer);
    m_state = State::Preparing;
    m_preparing = std::thread([this, params] {
        m_prepareOutcome = outcomeOf([&] { return m_engine->prepare(params); });
        ::eventfd_write(m_preparedFd.get(), 1);
    });
}

void TrafficSession::prepared() {
    eventfd_t count = 0;
    if (::eventfd_read(m_preparedFd.get(), &count) != 0)
        return;
    m_preparing.join();
    Outcome outcome = std::move(*m_prepareOutcome);
    m_prepareOutcome.reset();
    if (m_cancelled)
        outcome = AgentError(errorcode::kCancelled, "the test was cancelled");
    const Answer answer = std::exchange(m_prepareAnswer, nullptr);
    if (std::holds_alternative<AgentError>(outcome))
        reset();
    else
        m_state = State::Prepared;
    answer(outcome);
}

void TrafficSession::start() {
    if (m_state != State::Prepared)
        throw AgentError(errorcode::kState, m_state == State::Preparing
                                                ? "the test is still being prepared"
                                                : "no test is prepared; call traffic.prepare");
    m_engine->start();
    m_state = State::Running;
    m_next = Clock::now() + m_interval;
}

void TrafficSession::result(Answer answer) {
    if (m_state == State::Ended) {
        const Outcome outcome = std::move(*m_outcome);
        reset();
        answer(outcome);
    } else if (m_state == State::Running) {
        m_waiting.push_back(std::move(answer));
    } else {
        throw AgentError(errorcode::kState, "no test has been started");
    }
}

void TrafficSession::cancel() {
    if (m_state == State::Prepared)
        return reset();
    if (m_state != State::Preparing && m_state != State::Running)
        return;
    m_cancelled = true;
    m_engine->cancel(); // only raises a flag, so that it can be called beside prepare()
}

int TrafficSession::fd() const {
    if (m_state == State::Preparing)
        return m_preparedFd.get();
    return m_state == State::Running ? m_engine->finishedFd() : -1;
}

std::optional<Clock::time_point> TrafficSession::nextInterval() const {
    if (m_state != State::Running || m_interval == Clock::duration::zero())
        return std::nullopt;
    return m_next;
}

void TrafficSession::process(bool readable) {
    if (m_state == State::Preparing && readable)
        return prepared();
    if (m_state == State::Running && readable)
        return ended();
    if (const auto next = nextInterval(); next && Clock::now() >= *next) {
        m_notify(m_engine->progress());
        // After a late one the grid goes on; what was missed is not made up for.
        while (m_next <= Clock::now())
            m_next += m_interval;
    }
}

void TrafficSession::ended() {
    if (m_interval != Clock::duration::zero())
        m_notify(m_engine->progress());
    const Outcome outcome = outcomeOf([&] { return m_engine->takeResult(); });
    const std::vector<Answer> waiting = std::exchange(m_waiting, {});
    reset();
    if (waiting.empty()) {
        m_outcome = outcome;
        m_state = State::Ended;
    }
    for (const Answer& answer : waiting)
        answer(outcome);
}

void TrafficSession::reset() {
    m_engine.reset();
    m_outcome.reset();
    m_waiting.clear();
    m_cancelled = false;
    m_state = State::Idle;
}

} // namespace knobscope::agent
