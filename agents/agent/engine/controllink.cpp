// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/controllink.h"

#include "agents/agent/engine/setup.h"
#include "agents/agent/error.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>

namespace knobscope::agent {

namespace {

constexpr std::size_t kNumberBytes = 8;
constexpr std::size_t kCountsBytes = 3 * kNumberBytes;
constexpr std::size_t kPortBytes = 2;

void append(std::vector<unsigned char>& bytes, std::uint64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8)
        bytes.push_back(static_cast<unsigned char>(number >> shift));
}

std::uint64_t number(const unsigned char* at) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < kNumberBytes; ++i)
        value = (value << 8) | at[i];
    return value;
}

} // namespace

ControlLink::ControlLink(Fd socket, std::string peer, std::size_t streams)
    : m_socket(std::move(socket)), m_peer(std::move(peer)), m_streams(streams) {
    setNoDelay(m_socket.get());
    setBlocking(m_socket.get(), false);
}

bool ControlLink::heard(Word word) const {
    return m_heard.find(static_cast<char>(word)) != std::string::npos;
}

void ControlLink::receive() {
    std::array<unsigned char, 4096> buffer;
    while (!m_closed) {
        const ssize_t got = ::recv(m_socket.get(), buffer.data(), buffer.size(), 0);
        if (got > 0) {
            m_input.insert(m_input.end(), buffer.begin(), buffer.begin() + got);
            while (parseOne()) {
            }
        } else if (got < 0 && errno == EINTR) {
            continue;
        } else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            return;
        } else {
            m_closed = true; // closed or reset: the caller knows whether that was due
        }
    }
}

void ControlLink::parseCounts(std::vector<Counts>& counts) {
    counts.clear();
    for (std::size_t i = 0; i < m_streams; ++i) {
        const unsigned char* at = m_input.data() + 1 + i * kCountsBytes;
        Counts one;
        one.bytesSent = number(at);
        one.bytesReceived = number(at + kNumberBytes);
        one.transactions = number(at + 2 * kNumberBytes);
        counts.push_back(one);
    }
}

bool ControlLink::parseOne() {
    if (m_input.empty())
        return false;
    const auto word = static_cast<Word>(m_input[0]);
    std::size_t length = 1;
    switch (word) {
    case Word::kReady:
        length += m_streams * kPortBytes;
        break;
    case Word::kDone:
    case Word::kTotals:
        length += m_streams * kCountsBytes;
        break;
    case Word::kUp:
    case Word::kGo:
    case Word::kBye:
        break;
    default:
        failTraffic("the other end of the test at " + m_peer +
                    " does not speak the engine's language");
    }
    if (m_input.size() < length)
        return false;
    if (heard(word))
        failTraffic("the other end of the test at " + m_peer + " repeats itself");
    if (word == Word::kDone)
        parseCounts(m_done);
    else if (word == Word::kTotals)
        parseCounts(m_totals);
    for (std::size_t i = 1; word == Word::kReady && i < length; i += kPortBytes)
        m_ports.push_back(m_input[i] << 8 | m_input[i + 1]);
    m_heard.push_back(static_cast<char>(word));
    m_input.erase(m_input.begin(), m_input.begin() + static_cast<std::ptrdiff_t>(length));
    return true;
}

void ControlLink::sayReady(const std::vector<int>& ports) {
    std::vector<unsigned char> bytes{static_cast<unsigned char>(Word::kReady)};
    for (const int port : ports) {
        bytes.push_back(static_cast<unsigned char>(port >> 8));
        bytes.push_back(static_cast<unsigned char>(port));
    }
    send(bytes);
}

void ControlLink::say(Word word) {
    send({static_cast<unsigned char>(word)});
}

void ControlLink::say(Word word, const std::vector<Counts>& counts) {
    std::vector<unsigned char> bytes{static_cast<unsigned char>(word)};
    for (const Counts& one : counts) {
        append(bytes, one.bytesSent);
        append(bytes, one.bytesReceived);
        append(bytes, one.transactions);
    }
    send(bytes);
}

void ControlLink::send(const std::vector<unsigned char>& bytes) {
    const TimePoint deadline = Clock::now() + kPatience;
    std::size_t sent = 0;
    while (sent < bytes.size()) {
        const ssize_t n =
            ::send(m_socket.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (n > 0) {
            sent += static_cast<std::size_t>(n);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            pollfd ready{m_socket.get(), POLLOUT, 0};
            if (pollUntil(&ready, 1, deadline) == 0)
                failTraffic("the other end of the test at " + m_peer + " takes no more messages");
        } else if (errno != EINTR) {
            failTraffic(errnoText("the other end of the test at " + m_peer + " is gone", errno));
        }
    }
}

} // namespace knobscope::agent
