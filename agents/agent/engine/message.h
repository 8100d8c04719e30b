// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/engine/calls.h"
#include "agents/agent/engine/flows.h"
#include "agents/agent/engine/ways.h"

#include <sys/socket.h>

#include <bit>

namespace knobscope::agent {

[[nodiscard]] inline bool wouldBlock(int error) {
    return error == EAGAIN || error == EWOULDBLOCK;
}

/// One request or response on its way, moved in as many calls as the kernel needs.
class Message {
public:
    explicit Message(std::vector<char>& buffer) : m_buffer(buffer) {}
    [[nodiscard]] bool begun() const { return m_moved > 0; }

    /// True: sent whole. False: the socket has no room (only with MSG_DONTWAIT).
    bool send(Stream& stream, int flags, const std::string& peer) {
        while (m_moved < m_buffer.size()) {
            const ssize_t n = sendBytes(stream.socket.get(), m_buffer.data() + m_moved,
                                        m_buffer.size() - m_moved, flags | MSG_NOSIGNAL);
            if (n >= 0) {
                stream.counters.sent(static_cast<std::uint64_t>(n));
                m_moved += static_cast<std::size_t>(n);
            } else if (wouldBlock(errno)) {
                return false;
            } else if (errno != EINTR) {
                failTransfer("sending to", peer, errno);
            }
        }
        m_moved = 0;
        return true;
    }

    enum class Received { kWhole, kNotYet, kEnd };
    Received receive(Stream& stream, ReceiveWay& way, bool wait, const std::string& peer) {
        while (m_moved < m_buffer.size()) {
            const ssize_t n = way.take(m_buffer.data() + m_moved, m_buffer.size() - m_moved, wait);
            if (n > 0) {
                stream.counters.received(static_cast<std::uint64_t>(n));
                if (stream.begin)
                    stream.receiveSizes.add(static_cast<std::uint64_t>(n));
                m_moved += static_cast<std::size_t>(n);
            } else if (n == 0) {
                return Received::kEnd;
            } else if (wouldBlock(errno)) {
                return Received::kNotYet;
            } else if (errno != EINTR) {
                failTransfer("receiving from", peer, errno);
            }
        }
        m_moved = 0;
        return Received::kWhole;
    }

private:
    std::vector<char>& m_buffer;
    std::size_t m_moved = 0;
};

/// When the requests in flight were due, in order; responses come in the same order.
class DueTimes {
public:
    explicit DueTimes(int most) : m_times(std::bit_ceil(static_cast<std::size_t>(most))) {}
    void push(TimePoint time) { m_times[m_pushed++ & (m_times.size() - 1)] = time; }
    TimePoint pop() { return m_times[m_popped++ & (m_times.size() - 1)]; }

private:
    std::vector<TimePoint> m_times; ///< a power of two of them: no division a transaction
    std::size_t m_pushed = 0;
    std::size_t m_popped = 0;
};

} // namespace knobscope::agent
