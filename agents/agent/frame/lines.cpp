// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/frame/lines.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace knobscope::agent {

namespace {
/// A pipe that polls as writable takes a page at once; more could block.
constexpr std::size_t kPiece = 4096;
} // namespace

LineReader::State LineReader::fill() {
    if (m_state != State::Open)
        return m_state;
    std::array<char, 65536> buffer;
    const ssize_t n = ::read(m_fd, buffer.data(), buffer.size());
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return m_state;
    if (n <= 0)
        return m_state = State::Ended;
    if (m_start > 0 && m_start >= m_data.size() / 2) {
        m_data.erase(0, m_start);
        m_scanned -= std::min(m_scanned, m_start);
        m_start = 0;
    }
    // Only the new bytes are searched: a long line comes in many pieces.
    const std::string_view piece(buffer.data(), static_cast<std::size_t>(n));
    const std::size_t lastBreak = piece.rfind('\n');
    m_open =
        lastBreak == std::string_view::npos ? m_open + piece.size() : piece.size() - lastBreak - 1;
    m_data.append(piece);
    if (m_open > m_limit)
        m_state = State::TooLong;
    return m_state;
}

std::optional<std::string> LineReader::next() {
    const std::size_t end = m_data.find('\n', std::max(m_start, m_scanned));
    if (end == std::string::npos) {
        m_scanned = m_data.size();
        if (m_state != State::Ended || m_start == m_data.size())
            return std::nullopt;
        std::string last = m_data.substr(m_start);
        m_start = m_data.size();
        return last;
    }
    std::string line = m_data.substr(m_start, end - m_start);
    m_start = end + 1;
    return line;
}

void LineWriter::add(const std::string& line) {
    if (m_start > 0 && m_start >= m_data.size() / 2) {
        m_data.erase(0, m_start);
        m_start = 0;
    }
    m_data += line;
    m_data += '\n';
}

bool LineWriter::flushSome() {
    if (empty())
        return true;
    const char* data = m_data.data() + m_start;
    ssize_t n = ::send(m_fd, data, queued(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == ENOTSOCK)
        n = ::write(m_fd, data, std::min(queued(), kPiece));
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    m_start += static_cast<std::size_t>(n);
    if (empty()) {
        m_data.clear();
        m_start = 0;
    }
    return true;
}

} // namespace knobscope::agent
