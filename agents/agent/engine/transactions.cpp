// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/asker.h"
#include "agents/agent/engine/transfer.h"

namespace knobscope::agent {

Asker::Asker(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers,
             std::size_t index)
    : m_stream(stream), m_course(course), m_setup(setup), m_request(buffers.send),
      m_response(buffers.receive), m_way(stream.socket.get(), setup.config),
      m_pacer(setup.config.pace), m_due(setup.config.burst), m_burst(setup.config.burst),
      // With one in flight the server reads whatever comes, so a send may wait.
      m_flags(setup.config.burst > 1 || setup.config.threads > 0 ? MSG_DONTWAIT : 0),
      m_limit(setup.share(setup.config.limit_transactions, index)) {
    if (setup.warmup().count() == 0)
        stream.begin = stream.mark();
}

bool Asker::sendDue() {
    while (m_request.begun() || (m_inFlight < m_most && !ending())) {
        if (!m_request.begun()) {
            const TimePoint due = m_pacer.due(m_now);
            if (due > m_now && due > (m_now = Clock::now()))
                return true;
            m_pacer.step();
            m_due.push(due);
        }
        if (!m_request.send(m_stream, m_flags, m_setup.peerText))
            return false;
        ++m_inFlight;
        if (m_stream.begin)
            ++m_asked;
    }
    return true;
}

bool Asker::takeResponse(bool wait) {
    switch (m_response.receive(m_stream, m_way, wait, m_setup.peerText)) {
    case Message::Received::kNotYet:
        return false;
    case Message::Received::kEnd:
        failEarlyEnd(m_setup.peerText);
    case Message::Received::kWhole:
        break;
    }
    m_stream.counters.transaction();
    --m_inFlight;
    if (m_most < m_burst)
        ++m_most;
    m_now = Clock::now();
    const TimePoint due = m_due.pop();
    if (!m_stream.begin)
        markBegin(m_stream, m_course);
    else if (m_stream.latency)
        m_stream.latency->record(nanoseconds(m_now) - nanoseconds(due));
    return true;
}

std::optional<TimePoint> Asker::nextDue() {
    if (!m_pacer.on() || m_inFlight >= m_most || ending())
        return std::nullopt;
    return m_pacer.due(Clock::now());
}

void Asker::finish() {
    m_stream.end = m_stream.mark();
    ::shutdown(m_stream.socket.get(), SHUT_WR);
}

namespace {

/// Until the socket gives bytes, or has room when `room` is wanted, or the time has come.
/// True: it gives.
bool awaitSocket(int socket, bool room, std::optional<TimePoint> until) {
    pollfd ready{socket, static_cast<short>(room ? POLLIN | POLLOUT : POLLIN), 0};
    if (until) {
        pollUntil(&ready, 1, *until);
    } else {
        while (::poll(&ready, 1, -1) < 0 && errno == EINTR) {
        }
    }
    return (ready.revents & (POLLIN | POLLHUP | POLLERR)) != 0;
}

} // namespace

void sendRequests(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers,
                  std::size_t index) {
    Asker asker(stream, course, setup, buffers, index);
    const int socket = stream.socket.get();
    while (!asker.finished()) {
        const bool full = !asker.sendDue();
        if (full) {
            if (awaitSocket(socket, true, std::nullopt))
                (void)asker.takeResponse(false);
        } else if (const auto due = asker.nextDue()) {
            // A long pause must not outlast the end of the test.
            const TimePoint until = std::min(*due, Clock::now() + std::chrono::milliseconds(50));
            if (asker.idle())
                Pacer::sleepUntil(until);
            else if (awaitSocket(socket, false, until))
                (void)asker.takeResponse(false);
        } else if (!asker.idle()) {
            (void)asker.takeResponse(true);
        }
    }
    asker.finish();
}

void answerRequests(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers) {
    Answerer answerer(stream, course, setup, buffers);
    awaitFirstByte(stream.socket.get());
    while (answerer.step(true)) {
    }
}

} // namespace knobscope::agent
