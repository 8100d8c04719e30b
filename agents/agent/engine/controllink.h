// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/engine/course.h"

#include <string>
#include <vector>

namespace knobscope::agent {

/// The connection beside the streams, over which the two engines of a test agree on its steps, so
/// that the streams carry nothing but test bytes and an end that dies is noticed at once.
///
///   server → client   ready    all connections are up, the token was right
///   passive → active  go       started, and reading
///   active → passive  done     what it sent and received a stream, once all are shut
///   passive → active  totals   the same of the passive end, which has then read everything
///
/// A word is one byte; done and totals are followed by three 64-bit numbers a stream in network
/// order: bytes sent, bytes received, transactions. One thread at a time. Failures are AgentError.
class ControlLink {
public:
    enum class Word : unsigned char { kReady = 'R', kGo = 'G', kDone = 'D', kTotals = 'T' };

    /// Takes a connected socket, which becomes non-blocking and without delay.
    ControlLink(Fd socket, std::string peer, std::size_t streams);

    /// For poll(): -1 once the other end has closed.
    [[nodiscard]] int fd() const { return m_closed ? -1 : m_socket.get(); }
    [[nodiscard]] bool closed() const { return m_closed; }
    /// Reads what has come; to be called when fd() is readable.
    void receive();
    [[nodiscard]] bool heard(Word word) const;
    /// Of done or totals; empty before.
    [[nodiscard]] const std::vector<Counts>& counts() const { return m_counts; }

    void say(Word word);
    void say(Word word, const std::vector<Counts>& counts);

private:
    void send(const std::vector<unsigned char>& bytes);
    bool parseOne();

    Fd m_socket;
    std::string m_peer;
    std::size_t m_streams;
    std::vector<unsigned char> m_input;
    std::string m_heard;
    std::vector<Counts> m_counts;
    bool m_closed = false;
};

} // namespace knobscope::agent
