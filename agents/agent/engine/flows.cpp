// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/flows.h"

#include "agents/agent/engine/watermark.h"
#include "agents/agent/engine/ways.h"
#include "agents/agent/error.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <random>

namespace knobscope::agent {

namespace {

/// A smaller buffer makes the receiver, not the path, the limit.
constexpr std::int64_t kMinStreamReceive = 256 << 10;

/// The conductor ends this by shutting down the sending side, which also wakes a send() that waits
/// for room: it returns what it had taken.
void sendData(Stream& stream, Course& course, const Setup& setup, const std::vector<char>& buffer,
              std::size_t index) {
    SendWay way(stream.socket.get(), setup.config, buffer);
    const std::uint64_t limit = setup.share(setup.config.limit_bytes, index);
    std::uint64_t measured = 0;
    if (setup.warmup().count() == 0)
        stream.begin = stream.mark();
    for (;;) {
        std::size_t bytes = buffer.size();
        if (limit > 0 && limit - measured < bytes)
            bytes = static_cast<std::size_t>(limit - measured);
        const ssize_t sent = way.give(bytes);
        if (sent < 0) {
            if (errno == EINTR)
                continue;
            if (errno == EPIPE && course.stopping())
                break;
            failTransfer("sending to", setup.peerText, errno);
        }
        stream.counters.sent(static_cast<std::uint64_t>(sent));
        if (!stream.begin) {
            markBegin(stream, course);
        } else if (limit > 0 && (measured += static_cast<std::uint64_t>(sent)) >= limit) {
            ::shutdown(stream.socket.get(), SHUT_WR);
            break;
        }
    }
    stream.end = stream.mark();
}

/// Without warm-up the clock starts when the first byte is there to be read and all bytes count;
/// after a warm-up it starts with the first bytes that come then, which it leaves out: they were
/// on their way before.
void receiveData(Stream& stream, Course& course, const Setup& setup, std::vector<char>& buffer) {
    ReceiveWay way(stream.socket.get(), setup.config);
    Watermark mark(stream.socket.get(), setup.config);
    awaitFirstByte(stream.socket.get());
    course.begin();
    if (setup.warmup().count() == 0)
        stream.begin = stream.mark();
    for (;;) {
        const ssize_t got = way.take(buffer.data(), buffer.size());
        if (got == 0)
            break;
        if (got < 0) {
            if (errno == EINTR)
                continue;
            failTransfer("receiving from", setup.peerText, errno);
        }
        stream.counters.received(static_cast<std::uint64_t>(got));
        mark.took(static_cast<std::size_t>(got));
        if (stream.begin)
            stream.receiveSizes.add(static_cast<std::uint64_t>(got));
        else
            markBegin(stream, course);
    }
    if (course.aborted())
        failAborted();
    stream.end = stream.mark();
}

} // namespace

std::vector<char> noise(std::int64_t size) {
    std::vector<char> bytes(static_cast<std::size_t>(size));
    std::minstd_rand random(1);
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random() >> 8); });
    return bytes;
}

FlowBuffers makeBuffers(const Setup& setup, bool sends) {
    const auto& config = setup.config;
    const auto empty = [](std::int64_t size) {
        return std::vector<char>(static_cast<std::size_t>(size));
    };
    if (setup.transactions() && sends)
        return {noise(config.request_size), empty(config.response_size)};
    if (setup.transactions())
        return {noise(config.response_size), empty(config.request_size)};
    if (setup.udp())
        return {}; // has its own, one a datagram
    if (sends)
        return {noise(config.message_size), {}};
    if (config.receive_size > 0)
        return {{}, empty(config.receive_size)};
    return {{}, empty(std::max(config.message_size, kMinStreamReceive))};
}

void runFlow(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers,
             std::size_t index) {
    switch (setup.kind) {
    case TestKind::kTcpStream:
        return stream.sends ? sendData(stream, course, setup, buffers.send, index)
                            : receiveData(stream, course, setup, buffers.receive);
    case TestKind::kTcpRr:
        return stream.sends ? sendRequests(stream, course, setup, buffers, index)
                            : answerRequests(stream, course, setup, buffers);
    case TestKind::kTcpCrr:
        return stream.sends ? makeConnections(stream, course, setup, buffers, index)
                            : takeConnections(stream, course, setup, buffers, index);
    case TestKind::kUdpStream:
        return stream.sends ? sendDatagrams(stream, course, setup, index)
                            : receiveDatagrams(stream, course, setup);
    case TestKind::kUdpRr:
        return stream.sends ? sendDatagramRequests(stream, course, setup, buffers, index)
                            : answerDatagramRequests(stream, course, setup, buffers);
    }
}

void awaitFirstByte(int socket) {
    pollfd ready{socket, POLLIN, 0};
    while (::poll(&ready, 1, -1) < 0 && errno == EINTR) {
    }
}

void failTransfer(const char* doing, const std::string& peer, int error) {
    std::string message = errnoText(std::string(doing) + " " + peer + " failed", error);
    if (error == ECONNRESET || error == EPIPE)
        message += " (the agent there has ended or stopped the test)";
    if (error == ECONNREFUSED)
        message += " (nothing listens there any more)";
    throw AgentError(protocol::errorcode::kTraffic, message);
}

void failEarlyEnd(const std::string& peer) {
    throw AgentError(protocol::errorcode::kTraffic, "the other end at " + peer +
                                                        " closed the connection in the middle of a "
                                                        "transaction");
}

void failAborted() {
    throw AgentError(protocol::errorcode::kTraffic, "the test was ended");
}

} // namespace knobscope::agent
