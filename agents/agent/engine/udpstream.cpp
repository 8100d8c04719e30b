// SPDX-License-Identifier: GPL-3.0-or-later
// udp_stream: numbered datagrams one way.
#include "agents/agent/engine/flows.h"
#include "agents/agent/engine/message.h"
#include "agents/agent/engine/pacer.h"
#include "agents/agent/error.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <sched.h>

namespace knobscope::agent {

namespace {

constexpr std::size_t kBatch = 32; ///< datagrams a system call
constexpr std::size_t kMaxSegments = 64;
constexpr std::size_t kMaxGso = 65507;
constexpr double kLook = 0.1; ///< waiting calls look this often whether the test has ended

/// Numbered datagrams in buffers of their own, and the calls that send them. What the datagrams
/// hold beside their header never changes.
class Outbox {
public:
    Outbox(int socket, const Setup& setup)
        : m_socket(socket), m_size(static_cast<std::size_t>(setup.config.message_size)),
          m_gso(setup.config.udp_gso),
          m_batch(m_gso ? std::clamp<std::size_t>(kMaxGso / m_size, 1, kMaxSegments) : kBatch),
          m_bytes(noise(static_cast<std::int64_t>(m_batch * m_size))) {
        for (std::size_t i = 0; i < m_batch; ++i) {
            m_vectors[i] = {at(i), m_size};
            m_messages[i].msg_hdr.msg_iov = &m_vectors[i];
            m_messages[i].msg_hdr.msg_iovlen = 1;
        }
        if (m_gso) {
            // As a socket option it would also cut what another call sends.
            const int size = static_cast<int>(m_size);
            if (::setsockopt(socket, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof size) != 0)
                throw AgentError(
                    protocol::errorcode::kTraffic,
                    errnoText("the kernel refuses UDP_SEGMENT " + std::to_string(m_size), errno));
        }
    }

    [[nodiscard]] std::size_t batch() const { return m_batch; }

    /// Sends up to `count` datagrams numbered from `number`. How many the kernel took, or -1 with
    /// errno.
    int send(std::size_t count, std::uint64_t number, bool measured, std::uint64_t now) {
        for (std::size_t i = 0; i < count; ++i)
            DatagramHeader{number + i, measured, now}.write(at(i));
        if (!m_gso)
            return ::sendmmsg(m_socket, m_messages.data(), static_cast<unsigned>(count), 0);
        const ssize_t sent = sendBytes(m_socket, m_bytes.data(), count * m_size, 0);
        return sent < 0 ? -1 : static_cast<int>(count);
    }

private:
    char* at(std::size_t i) { return m_bytes.data() + i * m_size; }

    int m_socket;
    std::size_t m_size;
    bool m_gso;
    std::size_t m_batch;
    std::vector<char> m_bytes;
    std::array<iovec, kMaxSegments> m_vectors{};
    std::array<mmsghdr, kMaxSegments> m_messages{};
};

/// Buffers for the datagrams of one call. With GRO a message may hold many of one size.
class Inbox {
public:
    Inbox(int socket, const Setup& setup)
        : m_socket(socket), m_gro(setup.config.udp_gro),
          m_size(m_gro ? std::size_t{65536}
                       : static_cast<std::size_t>(setup.config.message_size) + 1),
          m_batch(m_gro ? 8 : kBatch), m_bytes(m_batch * m_size) {
        for (std::size_t i = 0; i < m_batch; ++i) {
            m_vectors[i] = {m_bytes.data() + i * m_size, m_size};
            m_messages[i].msg_hdr.msg_iov = &m_vectors[i];
            m_messages[i].msg_hdr.msg_iovlen = 1;
        }
    }

    /// Number of messages, or -1 with errno. Waits for the first.
    int receive() {
        for (std::size_t i = 0; m_gro && i < m_batch; ++i) {
            m_messages[i].msg_hdr.msg_control = m_controls[i].data();
            m_messages[i].msg_hdr.msg_controllen = m_controls[i].size();
        }
        return ::recvmmsg(m_socket, m_messages.data(), static_cast<unsigned>(m_batch),
                          MSG_WAITFORONE, nullptr);
    }
    [[nodiscard]] const char* data(std::size_t i) const { return m_bytes.data() + i * m_size; }
    [[nodiscard]] std::size_t length(std::size_t i) const { return m_messages[i].msg_len; }
    /// Bytes of each datagram in message i but the last.
    [[nodiscard]] std::size_t segment(std::size_t i) const {
        const msghdr& header = m_messages[i].msg_hdr;
        for (cmsghdr* c = m_gro ? CMSG_FIRSTHDR(&header) : nullptr; c != nullptr;
             c = CMSG_NXTHDR(const_cast<msghdr*>(&header), c)) {
            if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
                int size = 0;
                std::memcpy(&size, CMSG_DATA(c), sizeof size);
                return size > 0 ? static_cast<std::size_t>(size) : length(i);
            }
        }
        return std::max<std::size_t>(length(i), 1);
    }

private:
    int m_socket;
    bool m_gro;
    std::size_t m_size;
    std::size_t m_batch;
    std::vector<char> m_bytes;
    std::array<iovec, kBatch> m_vectors{};
    std::array<mmsghdr, kBatch> m_messages{};
    std::array<std::array<char, CMSG_SPACE(sizeof(int))>, kBatch> m_controls{};
};

/// Takes apart one message. True: it was of this test.
bool takeMessage(Stream& stream, const Setup& setup, const char* data, std::size_t length,
                 std::size_t segment, std::uint64_t now) {
    std::uint64_t datagrams = 0;
    std::uint64_t bytes = 0;
    bool measured = false;
    for (std::size_t at = 0; at < length; at += segment) {
        const std::size_t size = std::min(segment, length - at);
        // The token that opened the stream may come again.
        if (size != static_cast<std::size_t>(setup.config.message_size) ||
            std::memcmp(data + at, setup.token.data(), kTokenBytes) == 0)
            continue;
        const DatagramHeader header = DatagramHeader::read(data + at);
        if (!stream.tracker->arrived(header, now))
            continue;
        measured = measured || header.measured;
        ++datagrams;
        bytes += size;
    }
    if (datagrams == 0)
        return false;
    if (measured && !stream.begin)
        stream.begin = stream.mark();
    stream.counters.received(bytes, datagrams);
    if (stream.begin)
        stream.receiveSizes.add(length);
    return true;
}

} // namespace

void sendDatagrams(Stream& stream, Course& course, const Setup& setup, std::size_t index) {
    Outbox outbox(stream.socket.get(), setup);
    const auto size = static_cast<std::uint64_t>(setup.config.message_size);
    const std::uint64_t limit = setup.share(setup.config.limit_bytes, index);
    Pacer pacer(setup.config.rate / 8 / static_cast<double>(size)); // datagrams a second
    // At a given rate datagrams leave one by one, unless the clock could not follow.
    const double perMs = setup.config.rate / 8 / static_cast<double>(size) / 1000;
    const std::size_t batch =
        pacer.on()
            ? std::clamp<std::size_t>(static_cast<std::size_t>(perMs / 50), 1, outbox.batch())
            : outbox.batch();
    std::uint64_t number = 0;
    std::uint64_t measured = 0;
    while (!course.stopping() && !(limit > 0 && measured >= limit)) {
        TimePoint now = Clock::now();
        if (const TimePoint due = pacer.due(now); due > now) {
            Pacer::sleepUntil(std::min(due, now + std::chrono::milliseconds(50)));
            if ((now = Clock::now()) < due)
                continue;
        }
        if (course.phase() != Phase::kWarmup && !stream.begin)
            stream.begin = stream.mark();
        std::size_t count = batch;
        if (limit > 0 && stream.begin)
            count = std::min<std::size_t>(count, (limit - measured + size - 1) / size);
        const int sent = outbox.send(count, number, stream.begin.has_value(), nanoseconds(now));
        if (sent < 0) {
            if (errno == ENOBUFS) // dropped by a queue of this host: never on the wire
                ::sched_yield();
            else if (errno != EINTR && !wouldBlock(errno))
                failTransfer("sending to", setup.peerText, errno);
            continue;
        }
        const auto datagrams = static_cast<std::uint64_t>(sent);
        stream.counters.sent(datagrams * size, datagrams);
        number += datagrams;
        pacer.step(static_cast<double>(datagrams));
        if (stream.begin)
            measured += datagrams * size;
    }
    if (course.aborted())
        failAborted();
    stream.end = stream.mark();
}

void receiveDatagrams(Stream& stream, Course& course, const Setup& setup) {
    Inbox inbox(stream.socket.get(), setup);
    setTimeouts(stream.socket.get(), kLook);
    bool first = true;
    for (;;) {
        if (course.aborted())
            failAborted();
        if (course.peerDone() && stream.tracker->allReceived() >= stream.expected.load())
            break;
        const int messages = inbox.receive();
        if (messages < 0) {
            if (wouldBlock(errno)) {
                if (course.peerDone())
                    break; // what is still missing is lost
            } else if (errno != EINTR) {
                failTransfer("receiving from", setup.peerText, errno);
            }
            continue;
        }
        const std::uint64_t now = nanoseconds(Clock::now());
        for (std::size_t i = 0; i < static_cast<std::size_t>(messages); ++i) {
            if (takeMessage(stream, setup, inbox.data(i), inbox.length(i), inbox.segment(i), now)) {
                if (first)
                    course.begin();
                first = false;
            }
        }
        if (!first)
            stream.end = Mark{TimePoint(Clock::duration(static_cast<Clock::rep>(now))),
                              stream.counters.read()};
    }
    if (!stream.end)
        stream.end = stream.mark();
}

} // namespace knobscope::agent
