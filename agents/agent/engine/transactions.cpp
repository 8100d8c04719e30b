// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/transactions.h"

#include "agents/agent/error.h"

#include <sys/socket.h>

#include <cerrno>

namespace knobscope::agent {

namespace {

bool wouldBlock(int error) {
    return error == EAGAIN || error == EWOULDBLOCK;
}

[[noreturn]] void failEarlyEnd(const std::string& peer) {
    throw AgentError(protocol::errorcode::kTraffic, "the other end at " + peer +
                                                        " closed the connection in the middle of a "
                                                        "transaction");
}

/// One message on its way, moved in as many calls as the kernel needs.
class Message {
public:
    explicit Message(std::vector<char>& buffer) : m_buffer(buffer) {}
    [[nodiscard]] bool begun() const { return m_moved > 0; }

    /// True: sent whole. False: the socket has no room (only with MSG_DONTWAIT).
    bool send(Stream& stream, int flags, const std::string& peer) {
        while (m_moved < m_buffer.size()) {
            const ssize_t n = ::send(stream.socket.get(), m_buffer.data() + m_moved,
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
    Received receive(Stream& stream, int flags, const std::string& peer) {
        while (m_moved < m_buffer.size()) {
            const ssize_t n = ::recv(stream.socket.get(), m_buffer.data() + m_moved,
                                     m_buffer.size() - m_moved, flags);
            if (n > 0) {
                stream.counters.received(static_cast<std::uint64_t>(n));
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

void markBegin(Stream& stream, const Course& course) {
    if (!stream.begin && course.phase() != Phase::kWarmup)
        stream.begin = stream.mark();
}

/// Until the socket takes or gives bytes. True: it gives.
bool awaitEither(int socket) {
    pollfd ready{socket, POLLIN | POLLOUT, 0};
    while (::poll(&ready, 1, -1) < 0 && errno == EINTR) {
    }
    return (ready.revents & (POLLIN | POLLHUP | POLLERR)) != 0;
}

} // namespace

void awaitFirstByte(int socket) {
    pollfd ready{socket, POLLIN, 0};
    while (::poll(&ready, 1, -1) < 0 && errno == EINTR) {
    }
}

void failTransfer(const char* doing, const std::string& peer, int error) {
    std::string message = errnoText(std::string(doing) + " " + peer + " failed", error);
    if (error == ECONNRESET || error == EPIPE)
        message += " (the agent there has ended or stopped the test)";
    throw AgentError(protocol::errorcode::kTraffic, message);
}

void sendRequests(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers) {
    const int socket = stream.socket.get();
    const int burst = setup.config.burst;
    Message request(buffers.send);
    Message response(buffers.receive);
    if (setup.warmup().count() == 0)
        stream.begin = stream.mark();
    int inFlight = 0;
    int limit = 1;
    // With several in flight, a send that waited for room while the server waits for its responses
    // to be read would never end; so a full socket means: read first.
    const int sendFlags = burst > 1 ? MSG_DONTWAIT : 0;
    for (;;) {
        bool full = false;
        while (!full && (request.begun() || (inFlight < limit && course.phase() != Phase::kStop))) {
            full = !request.send(stream, sendFlags, setup.peerText);
            if (!full)
                ++inFlight;
        }
        if (full && !awaitEither(socket))
            continue;
        if (!full && inFlight == 0)
            break;
        const auto received = response.receive(stream, full ? MSG_DONTWAIT : 0, setup.peerText);
        if (received == Message::Received::kEnd)
            failEarlyEnd(setup.peerText);
        if (received == Message::Received::kNotYet)
            continue;
        stream.counters.transaction();
        --inFlight;
        if (limit < burst)
            ++limit;
        markBegin(stream, course);
    }
    stream.end = stream.mark();
    ::shutdown(socket, SHUT_WR);
}

void answerRequests(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers) {
    Message request(buffers.receive);
    Message response(buffers.send);
    awaitFirstByte(stream.socket.get());
    course.begin();
    if (setup.warmup().count() == 0)
        stream.begin = stream.mark();
    // Without flags both calls wait, so neither says "not yet".
    while (request.receive(stream, 0, setup.peerText) == Message::Received::kWhole) {
        response.send(stream, 0, setup.peerText);
        stream.counters.transaction();
        markBegin(stream, course);
    }
    if (request.begun())
        failEarlyEnd(setup.peerText);
    stream.end = stream.mark();
}

} // namespace knobscope::agent
