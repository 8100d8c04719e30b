// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace knobscope::agent {

/// Takes lines out of a stream of bytes. One thread.
class LineReader {
public:
    enum class State {
        Open,
        Ended,   ///< end of file, or a read error
        TooLong, ///< a line passed the limit; nothing more is taken
    };
    LineReader(int fd, std::size_t limit) : m_fd(fd), m_limit(limit) {}

    /// Reads once; call when poll says that there is something. Does not block then.
    State fill();
    /// The next whole line without its line break, if there is one. A last line without a break
    /// counts once the stream has ended.
    [[nodiscard]] std::optional<std::string> next();
    [[nodiscard]] State state() const { return m_state; }

private:
    int m_fd;
    std::size_t m_limit;
    std::string m_data;
    std::size_t m_start = 0;   ///< of the first line not yet taken
    std::size_t m_scanned = 0; ///< no line break before this
    std::size_t m_open = 0;    ///< length of the line that has not ended yet
    State m_state = State::Open;
};

/// Writes lines to a stream without ever blocking, whatever flags the descriptor has: it may be
/// shared with other programs (a terminal), so its flags are left alone. One thread.
class LineWriter {
public:
    explicit LineWriter(int fd) : m_fd(fd) {}

    void add(const std::string& line);
    [[nodiscard]] bool empty() const { return m_start == m_data.size(); }
    [[nodiscard]] std::size_t queued() const { return m_data.size() - m_start; }
    /// Writes one piece; call when poll says that the descriptor takes some. False: the other end
    /// is gone.
    [[nodiscard]] bool flushSome();

private:
    int m_fd;
    std::string m_data;
    std::size_t m_start = 0;
};

} // namespace knobscope::agent
