// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/engine/message.h"
#include "agents/agent/engine/watermark.h"

namespace knobscope::agent {

/// The receiver's time begins when the first byte is there to be read. Without warm-up all bytes
/// count; after one, it starts with the first bytes that come then, which are left out: they were
/// on their way before.
class Beginning {
public:
    void note(Stream& stream, Course& course, const Setup& setup) {
        if (m_noted)
            return;
        m_noted = true;
        course.begin();
        if (setup.warmup().count() == 0)
            stream.begin = stream.mark();
    }

private:
    bool m_noted = false;
};

/// The sending end of one tcp_stream. The conductor ends it by shutting down the sending side,
/// which also wakes a send() that waits for room: it returns what it had taken. `buffer` is
/// borrowed, here and below; so are stream, course and setup.
class Sender {
public:
    Sender(Stream& stream, Course& course, const Setup& setup, const std::vector<char>& buffer,
           std::size_t index);
    /// One send call. False: the stream has ended. Throws AgentError.
    bool step();

private:
    Stream& m_stream;
    Course& m_course;
    const Setup& m_setup;
    const std::size_t m_size;
    SendWay m_way;
    const std::uint64_t m_limit;
    std::uint64_t m_measured = 0;
};

/// The receiving end of one tcp_stream.
class Receiver {
public:
    Receiver(Stream& stream, Course& course, const Setup& setup, std::vector<char>& buffer);
    /// One receive call; the first one when there is something to read. False: the stream has
    /// ended. Throws AgentError.
    bool step(bool wait);

private:
    Stream& m_stream;
    Course& m_course;
    const Setup& m_setup;
    std::vector<char>& m_buffer;
    Beginning m_beginning;
    ReceiveWay m_way;
    Watermark m_mark;
};

/// The server's side of one tcp_rr connection.
class Answerer {
public:
    Answerer(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers);
    /// Answers all requests that are there; with `wait`, until the end; the first time when there
    /// is something to read. False: the stream has ended. Throws AgentError.
    bool step(bool wait);
    /// A response is not whole in the socket.
    [[nodiscard]] bool owes() const { return m_owes; }

private:
    Stream& m_stream;
    Course& m_course;
    const Setup& m_setup;
    Beginning m_beginning;
    Message m_request;
    Message m_response;
    ReceiveWay m_way;
    bool m_owes = false;
};

} // namespace knobscope::agent
