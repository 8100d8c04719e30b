// SPDX-License-Identifier: GPL-3.0-or-later
// udp_rr: a datagram there, a datagram back. What does not come back in time is lost.
#include "agents/agent/engine/flows.h"
#include "agents/agent/engine/message.h"
#include "agents/agent/engine/pacer.h"
#include "agents/agent/error.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <endian.h>

namespace knobscope::agent {

namespace {

/// A request carries its number, as much of it as fits, and the response brings it back: an answer
/// that comes too late is not taken for that to a later request.
class Number {
public:
    explicit Number(const Setup& setup)
        : m_bytes(static_cast<std::size_t>(
              std::min<std::int64_t>({8, setup.config.request_size, setup.config.response_size}))) {
    }
    void write(std::uint64_t number, char* at) const {
        const std::uint64_t bytes = htole64(number);
        std::memcpy(at, &bytes, m_bytes);
    }
    [[nodiscard]] std::uint64_t read(const char* at) const {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, at, m_bytes);
        return le64toh(bytes);
    }
    [[nodiscard]] std::uint64_t cut(std::uint64_t number) const {
        return m_bytes == 8 ? number : number & ((std::uint64_t{1} << 8 * m_bytes) - 1);
    }
    /// Requests that can be in flight at once and be told apart.
    [[nodiscard]] std::size_t most() const { return m_bytes == 1 ? 128 : 32768; }
    void copy(const char* from, char* to) const { std::memcpy(to, from, m_bytes); }

private:
    std::size_t m_bytes;
};

/// The requests in flight, oldest first.
class Client {
public:
    Client(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers,
           std::size_t index)
        : m_stream(stream), m_course(course), m_setup(setup), m_buffers(buffers), m_number(setup),
          m_pacer(setup.config.pace), m_way(stream.socket.get(), setup.config),
          m_sentAt(std::min(static_cast<std::size_t>(setup.config.burst), m_number.most())),
          m_limit(setup.share(setup.config.limit_transactions, index)) {
        // One byte more than a response tells a longer datagram apart.
        m_buffers.receive.resize(m_buffers.receive.size() + 1);
        setTimeouts(stream.socket.get(), setup.config.timeout_seconds);
        if (setup.warmup().count() == 0)
            stream.begin = stream.mark();
    }

    void run() {
        while (!m_course.stopping() && !(m_limit > 0 && m_done >= m_limit)) {
            if (!sendDue())
                continue;
            takeOne();
        }
        if (m_course.aborted())
            failAborted();
        m_stream.end = m_stream.mark();
    }

private:
    [[nodiscard]] std::size_t inFlight() const { return m_sent - m_oldest; }

    /// False: nothing is in flight yet, the pace holds it back.
    bool sendDue() {
        while (inFlight() < std::min(m_most, m_sentAt.size())) {
            const TimePoint due = m_pacer.due(m_now);
            if (due > m_now && due > (m_now = Clock::now())) {
                if (inFlight() > 0)
                    return true;
                Pacer::sleepUntil(std::min(due, m_now + std::chrono::milliseconds(50)));
                m_now = Clock::now();
                return false;
            }
            m_number.write(m_sent, m_buffers.send.data());
            const ssize_t n =
                sendBytes(m_stream.socket.get(), m_buffers.send.data(), m_buffers.send.size(), 0);
            if (n < 0 && errno != EINTR && errno != ENOBUFS && !wouldBlock(errno))
                failTransfer("sending to", m_setup.peerText, errno);
            if (n < 0)
                continue;
            m_pacer.step();
            m_sentAt[m_sent++ % m_sentAt.size()] = due;
            m_stream.counters.sent(static_cast<std::uint64_t>(n));
        }
        return true;
    }

    void takeOne() {
        const ssize_t n = m_way.take(m_buffers.receive.data(), m_buffers.receive.size());
        m_now = Clock::now();
        if (n < 0) {
            if (wouldBlock(errno))
                giveUp();
            else if (errno != EINTR)
                failTransfer("receiving from", m_setup.peerText, errno);
            return;
        }
        if (static_cast<std::size_t>(n) + 1 != m_buffers.receive.size())
            return;
        const std::uint64_t which = m_number.read(m_buffers.receive.data());
        for (std::size_t i = m_oldest; i < m_sent; ++i) {
            if (m_number.cut(i) != which)
                continue;
            if (m_stream.begin)
                m_stream.lost += i - m_oldest; // overtaken: what was asked before is lost
            m_oldest = i + 1;
            answered(m_sentAt[i % m_sentAt.size()], static_cast<std::uint64_t>(n));
            return;
        }
    }

    void answered(TimePoint asked, std::uint64_t bytes) {
        m_stream.counters.received(bytes);
        m_stream.counters.transaction();
        if (m_most < m_sentAt.size())
            ++m_most;
        if (m_stream.begin) {
            m_stream.receiveSizes.add(bytes);
            if (m_stream.latency)
                m_stream.latency->record(nanoseconds(m_now) - nanoseconds(asked));
            ++m_done;
        } else {
            markBegin(m_stream, m_course);
        }
    }

    void giveUp() {
        if (m_stream.begin) {
            m_stream.lost += inFlight();
            m_done += inFlight();
        }
        m_oldest = m_sent;
        m_most = 1;
    }

    Stream& m_stream;
    Course& m_course;
    const Setup& m_setup;
    FlowBuffers& m_buffers;
    Number m_number;
    Pacer m_pacer;
    ReceiveWay m_way;
    std::vector<TimePoint> m_sentAt;
    const std::uint64_t m_limit;
    std::uint64_t m_done = 0; ///< answered or lost, after the warm-up
    std::size_t m_sent = 0;
    std::size_t m_oldest = 0; ///< number of the oldest in flight
    std::size_t m_most = 1;
    TimePoint m_now = Clock::now();
};

} // namespace

void sendDatagramRequests(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers,
                          std::size_t index) {
    Client(stream, course, setup, buffers, index).run();
}

void answerDatagramRequests(Stream& stream, Course& course, const Setup& setup,
                            FlowBuffers& buffers) {
    const int socket = stream.socket.get();
    const Number number(setup);
    ReceiveWay way(socket, setup.config);
    const std::size_t expected = buffers.receive.size();
    // Room for the token that opened the stream and may come again.
    buffers.receive.resize(std::max(expected, kProofBytes) + 1);
    bool first = true;
    // The conductor shuts the socket down when the client has ended or the test is aborted.
    while (!course.peerDone()) {
        if (course.aborted())
            failAborted();
        const ssize_t n = way.take(buffers.receive.data(), buffers.receive.size());
        if (n < 0 && errno != EINTR && !wouldBlock(errno))
            failTransfer("receiving from", setup.peerText, errno);
        if (n < 0 || static_cast<std::size_t>(n) != expected ||
            (expected == kProofBytes &&
             std::memcmp(buffers.receive.data(), setup.token.data(), kTokenBytes) == 0))
            continue;
        if (first) {
            course.begin();
            if (setup.warmup().count() == 0)
                stream.begin = stream.mark();
            first = false;
        }
        stream.counters.received(static_cast<std::uint64_t>(n));
        number.copy(buffers.receive.data(), buffers.send.data());
        const ssize_t sent = sendBytes(socket, buffers.send.data(), buffers.send.size(), 0);
        if (sent < 0 && errno != EINTR && errno != ENOBUFS && !wouldBlock(errno))
            failTransfer("sending to", setup.peerText, errno);
        if (sent > 0)
            stream.counters.sent(static_cast<std::uint64_t>(sent));
        stream.counters.transaction();
        markBegin(stream, course);
    }
    stream.end = stream.mark();
}

} // namespace knobscope::agent
