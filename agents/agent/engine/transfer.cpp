// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/transfer.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace knobscope::agent {

Sender::Sender(Stream& stream, Course& course, const Setup& setup, const std::vector<char>& buffer,
               std::size_t index)
    : m_stream(stream), m_course(course), m_setup(setup), m_size(buffer.size()),
      m_way(stream.socket.get(), setup.config, buffer),
      m_limit(setup.share(setup.config.limit_bytes, index)) {
    if (setup.warmup().count() == 0)
        stream.begin = stream.mark();
}

bool Sender::step() {
    std::size_t bytes = m_size;
    if (m_limit > 0)
        bytes = std::min(bytes, static_cast<std::size_t>(m_limit - m_measured));
    const ssize_t sent = m_way.give(bytes);
    if (sent < 0) {
        if (errno == EINTR || wouldBlock(errno))
            return true;
        if (errno != EPIPE || !m_course.stopping())
            failTransfer("sending to", m_setup.peerText, errno);
        m_stream.end = m_stream.mark();
        return false;
    }
    m_stream.counters.sent(static_cast<std::uint64_t>(sent));
    if (!m_stream.begin) {
        markBegin(m_stream, m_course);
        return true;
    }
    m_measured += static_cast<std::uint64_t>(sent);
    if (m_limit == 0 || m_measured < m_limit)
        return true;
    ::shutdown(m_stream.socket.get(), SHUT_WR);
    m_stream.end = m_stream.mark();
    return false;
}

Receiver::Receiver(Stream& stream, Course& course, const Setup& setup, std::vector<char>& buffer)
    : m_stream(stream), m_course(course), m_setup(setup), m_buffer(buffer),
      m_way(stream.socket.get(), setup.config), m_mark(stream.socket.get(), setup.config) {}

bool Receiver::step(bool wait) {
    m_beginning.note(m_stream, m_course, m_setup);
    const ssize_t got = m_way.take(m_buffer.data(), m_buffer.size(), wait);
    if (got < 0) {
        if (errno != EINTR && !wouldBlock(errno))
            failTransfer("receiving from", m_setup.peerText, errno);
        return true;
    }
    if (got == 0) {
        if (m_course.aborted())
            failAborted();
        m_stream.end = m_stream.mark();
        return false;
    }
    m_stream.counters.received(static_cast<std::uint64_t>(got));
    m_mark.took(static_cast<std::size_t>(got));
    if (m_stream.begin)
        m_stream.receiveSizes.add(static_cast<std::uint64_t>(got));
    else
        markBegin(m_stream, m_course);
    return true;
}

Answerer::Answerer(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers)
    : m_stream(stream), m_course(course), m_setup(setup), m_request(buffers.receive),
      m_response(buffers.send), m_way(stream.socket.get(), setup.config) {}

bool Answerer::step(bool wait) {
    m_beginning.note(m_stream, m_course, m_setup);
    for (;;) {
        if (!m_owes) {
            const auto got = m_request.receive(m_stream, m_way, wait, m_setup.peerText);
            if (got == Message::Received::kNotYet)
                return true;
            if (got == Message::Received::kEnd)
                break;
        }
        m_owes = !m_response.send(m_stream, wait ? 0 : MSG_DONTWAIT, m_setup.peerText);
        if (m_owes)
            return true;
        m_stream.counters.transaction();
        markBegin(m_stream, m_course);
    }
    if (m_course.aborted())
        failAborted();
    if (m_request.begun())
        failEarlyEnd(m_setup.peerText);
    m_stream.end = m_stream.mark();
    return false;
}

} // namespace knobscope::agent
