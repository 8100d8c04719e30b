// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/flows.h"

#include "agents/agent/engine/transfer.h"
#include "agents/agent/error.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <random>

namespace knobscope::agent {

namespace {

/// A smaller buffer makes the receiver, not the path, the limit.
constexpr std::int64_t kMinStreamReceive = 256 << 10;

void sendData(Stream& stream, Course& course, const Setup& setup, const std::vector<char>& buffer,
              std::size_t index) {
    Sender sender(stream, course, setup, buffer, index);
    while (sender.step()) {
    }
}

void receiveData(Stream& stream, Course& course, const Setup& setup, std::vector<char>& buffer) {
    Receiver receiver(stream, course, setup, buffer);
    awaitFirstByte(stream.socket.get());
    while (receiver.step(true)) {
    }
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
