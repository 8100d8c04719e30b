// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/engine/course.h"

#include <string>
#include <vector>

namespace knobscope::agent {

/// The connection beside the streams, over which the two engines of a test agree on its steps, so
/// that the streams carry nothing but test bytes and an end that dies is noticed at once.
///
///   server → client   ready    the token was right; the ports of streams that need their own
///   server → client   up       all connections are up
///   both ways         go       started, and reading; from an end that receives
///   both ways         done     sends no more; what it has counted a stream until now
///   both ways         totals   has read everything; what it has counted
///   both ways         bye      has looked at its sockets for the last time
///
/// A word is one byte. Ready is followed by a 16-bit number a stream, done and totals by three
/// 64-bit ones: bytes sent, bytes received, transactions; all in network order. One thread at a
/// time. Failures are AgentError.
class ControlLink {
public:
    enum class Word : unsigned char {
        kReady = 'R',
        kUp = 'U',
        kGo = 'G',
        kDone = 'D',
        kTotals = 'T',
        kBye = 'B'
    };

    /// Takes a connected socket, which becomes non-blocking and without delay.
    ControlLink(Fd socket, std::string peer, std::size_t streams);

    /// For poll(): -1 once the other end has closed.
    [[nodiscard]] int fd() const { return m_closed ? -1 : m_socket.get(); }
    [[nodiscard]] bool closed() const { return m_closed; }
    /// Reads what has come; to be called when fd() is readable.
    void receive();
    [[nodiscard]] bool heard(Word word) const;
    [[nodiscard]] const std::vector<int>& ports() const { return m_ports; } ///< of ready
    [[nodiscard]] const std::vector<Counts>& done() const { return m_done; }
    [[nodiscard]] const std::vector<Counts>& totals() const { return m_totals; }

    void say(Word word);
    void say(Word word, const std::vector<Counts>& counts);
    void sayReady(const std::vector<int>& ports);

private:
    void send(const std::vector<unsigned char>& bytes);
    bool parseOne();
    void parseCounts(std::vector<Counts>& counts);

    Fd m_socket;
    std::string m_peer;
    std::size_t m_streams;
    std::vector<unsigned char> m_input;
    std::string m_heard;
    std::vector<int> m_ports;
    std::vector<Counts> m_done;
    std::vector<Counts> m_totals;
    bool m_closed = false;
};

} // namespace knobscope::agent
