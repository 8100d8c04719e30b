// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/engine/message.h"
#include "agents/agent/engine/pacer.h"

namespace knobscope::agent {

/// The client's side of one tcp_rr connection: keeps up to `burst` requests in flight, one more
/// after each response until there are so many, so that it does not start with a flood. Driven by a
/// loop that waits for the socket.
class Asker {
public:
    Asker(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers,
          std::size_t index);

    /// Sends what is due. False: the socket is full, and must be read before more can be sent. (A
    /// send that waited for room while the server waits for its responses to be read would never
    /// end.)
    bool sendDue();
    /// Takes one response. False: there is none yet (only without `wait`).
    bool takeResponse(bool wait);
    [[nodiscard]] bool idle() const { return m_inFlight == 0; }
    /// Nothing more to send and nothing to wait for.
    [[nodiscard]] bool finished() const { return idle() && !m_request.begun() && ending(); }
    /// When the next request is due, if the pace and not the burst holds it back.
    [[nodiscard]] std::optional<TimePoint> nextDue();
    void finish(); ///< notes the end and tells the server

private:
    [[nodiscard]] bool ending() const {
        return m_course.stopping() || (m_limit > 0 && m_asked >= m_limit);
    }

    Stream& m_stream;
    Course& m_course;
    const Setup& m_setup;
    Message m_request;
    Message m_response;
    ReceiveWay m_way;
    Pacer m_pacer;
    DueTimes m_due;
    const int m_burst;
    const int m_flags;
    const std::uint64_t m_limit;
    std::uint64_t m_asked = 0; ///< after the warm-up
    int m_inFlight = 0;
    int m_most = 1;
    TimePoint m_now = Clock::now();
};

} // namespace knobscope::agent
