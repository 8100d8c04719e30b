// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/engine/fd.h"
#include "agents/protocol/protocol.h"

#include <sys/types.h>

#include <cstddef>
#include <vector>

namespace knobscope::agent {

/// A pipe through which splice() moves bytes.
struct Pipe {
    Fd read;
    Fd write;
    /// Throws AgentError.
    static Pipe make(std::size_t capacity);
};

/// How the bytes of a stream get into its socket: send(), or one of the ways that save a copy.
/// Each call does what send() would: returns the bytes that the socket took, or -1 with errno. One
/// thread. Throws AgentError when the kernel does not have the way.
class SendWay {
public:
    /// `buffer` is borrowed.
    SendWay(int socket, const protocol::TrafficConfig& config, const std::vector<char>& buffer);
    ssize_t give(std::size_t bytes);

private:
    enum class Kind { kSend, kZeroCopy, kSendfile, kSplice };
    ssize_t giveZeroCopy(std::size_t bytes);
    ssize_t giveSplice(std::size_t bytes);
    void reapCompletions();

    int m_socket;
    Kind m_kind = Kind::kSend;
    const std::vector<char>& m_buffer;
    Fd m_file;
    Pipe m_pipe;
    std::size_t m_inPipe = 0;
    int m_unreaped = 0;
};

/// How bytes get out of a socket: recv() into user space; or dropped in the kernel (truncate), or
/// moved to /dev/null through a pipe (splice), for tests of the path rather than of programs.
class ReceiveWay {
public:
    ReceiveWay(int socket, const protocol::TrafficConfig& config);
    /// As recv(). With `wait` false it returns -1 and EAGAIN rather than to wait.
    ssize_t take(char* data, std::size_t bytes, bool wait = true) {
        if (m_plain)
            return plainRecv(data, bytes, wait);
        return takeOther(data, bytes, wait);
    }

private:
    enum class Kind { kRecv, kTruncate, kSplice };
    ssize_t plainRecv(char* data, std::size_t bytes, bool wait) const;
    ssize_t takeOther(char* data, std::size_t bytes, bool wait);
    ssize_t takeOnce(char* data, std::size_t bytes, bool wait);

    int m_socket;
    Kind m_kind = Kind::kRecv;
    bool m_plain;
    std::optional<bool> m_quickack;
    std::chrono::microseconds m_spin;
    Pipe m_pipe;
    Fd m_sink;
};

} // namespace knobscope::agent
