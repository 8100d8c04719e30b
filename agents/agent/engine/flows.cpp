// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/flows.h"

#include "agents/agent/engine/transactions.h"
#include "agents/agent/error.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <random>

namespace knobscope::agent {

namespace {

/// A smaller buffer makes the receiver, not the path, the limit.
constexpr std::int64_t kMinStreamReceive = 64 << 10;

/// Bytes that no link or disk on the way can compress.
std::vector<char> noise(std::int64_t size) {
    std::vector<char> bytes(static_cast<std::size_t>(size));
    std::minstd_rand random(1);
    std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<char>(random() >> 8); });
    return bytes;
}

/// The conductor ends this by shutting down the sending side, which also wakes a send() that waits
/// for room: it returns what it had taken.
void sendData(Stream& stream, Course& course, const Setup& setup, const std::vector<char>& buffer) {
    const int socket = stream.socket.get();
    if (setup.warmup().count() == 0)
        stream.begin = stream.mark();
    for (;;) {
        const ssize_t sent = ::send(socket, buffer.data(), buffer.size(), MSG_NOSIGNAL);
        if (sent < 0) {
            if (errno == EINTR)
                continue;
            if (errno == EPIPE && course.phase() == Phase::kStop)
                break;
            failTransfer("sending to", setup.peerText, errno);
        }
        stream.counters.sent(static_cast<std::uint64_t>(sent));
        if (!stream.begin && course.phase() != Phase::kWarmup)
            stream.begin = stream.mark();
    }
    stream.end = stream.mark();
}

/// Without warm-up the clock starts when the first byte is there to be read and all bytes count;
/// after a warm-up it starts with the first bytes that come then, which it leaves out: they were
/// on their way before.
void receiveData(Stream& stream, Course& course, const Setup& setup, std::vector<char>& buffer) {
    const int socket = stream.socket.get();
    awaitFirstByte(socket);
    course.begin();
    if (setup.warmup().count() == 0)
        stream.begin = stream.mark();
    for (;;) {
        const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
        if (got == 0)
            break;
        if (got < 0) {
            if (errno == EINTR)
                continue;
            failTransfer("receiving from", setup.peerText, errno);
        }
        stream.counters.received(static_cast<std::uint64_t>(got));
        if (!stream.begin && course.phase() != Phase::kWarmup)
            stream.begin = stream.mark();
    }
    stream.end = stream.mark();
}

} // namespace

FlowBuffers makeBuffers(const Setup& setup) {
    const auto& config = setup.config;
    const auto empty = [](std::int64_t size) {
        return std::vector<char>(static_cast<std::size_t>(size));
    };
    if (setup.transactions && setup.active)
        return {noise(config.request_size), empty(config.response_size)};
    if (setup.transactions)
        return {noise(config.response_size), empty(config.request_size)};
    if (setup.active)
        return {noise(config.message_size), {}};
    return {{}, empty(std::max(config.message_size, kMinStreamReceive))};
}

void runFlow(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers) {
    if (setup.transactions && setup.active)
        sendRequests(stream, course, setup, buffers);
    else if (setup.transactions)
        answerRequests(stream, course, setup, buffers);
    else if (setup.active)
        sendData(stream, course, setup, buffers.send);
    else
        receiveData(stream, course, setup, buffers.receive);
}

} // namespace knobscope::agent
