// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/ways.h"

#include "agents/agent/engine/calls.h"
#include "agents/agent/engine/socketoptions.h"
#include "agents/agent/error.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace knobscope::agent {

namespace {

/// Zero-copy sends whose completion is not yet taken from the error queue.
constexpr int kMaxUnreaped = 64;

[[noreturn]] void failErrno(const std::string& what) {
    throw AgentError(protocol::errorcode::kTraffic, errnoText(what, errno));
}

/// A file in memory with the bytes to send.
Fd fileOf(const std::vector<char>& buffer) {
    Fd file(::memfd_create("knobscope", MFD_CLOEXEC));
    if (!file)
        failErrno("cannot make a file to send from");
    std::size_t written = 0;
    while (written < buffer.size()) {
        const ssize_t n = ::write(file.get(), buffer.data() + written, buffer.size() - written);
        if (n <= 0)
            failErrno("cannot fill the file to send from");
        written += static_cast<std::size_t>(n);
    }
    return file;
}

} // namespace

Pipe Pipe::make(std::size_t capacity) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        failErrno("cannot make a pipe for splice");
    Pipe pipe{Fd(ends[0]), Fd(ends[1])};
    // As much as this user may have will do.
    (void)::fcntl(ends[0], F_SETPIPE_SZ,
                  static_cast<int>(std::min<std::size_t>(capacity, 1 << 20)));
    return pipe;
}

SendWay::SendWay(int socket, const protocol::TrafficConfig& config, const std::vector<char>& buffer)
    : m_socket(socket), m_buffer(buffer) {
    if (config.send_method == "zerocopy") {
        m_kind = Kind::kZeroCopy;
    } else if (config.send_method == "sendfile") {
        m_kind = Kind::kSendfile;
        m_file = fileOf(buffer);
    } else if (config.send_method == "splice") {
        m_kind = Kind::kSplice;
        m_pipe = Pipe::make(buffer.size());
    }
}

ssize_t SendWay::give(std::size_t bytes) {
    switch (m_kind) {
    case Kind::kZeroCopy:
        return giveZeroCopy(bytes);
    case Kind::kSendfile: {
        off_t from = 0;
        return ::sendfile(m_socket, m_file.get(), &from, bytes);
    }
    case Kind::kSplice:
        return giveSplice(bytes);
    case Kind::kSend:
        break;
    }
    return sendBytes(m_socket, m_buffer.data(), bytes, MSG_NOSIGNAL);
}

ssize_t SendWay::giveZeroCopy(std::size_t bytes) {
    // The kernel may still be reading the buffer of an earlier call, which does no harm: it is
    // never written again.
    const ssize_t sent = sendBytes(m_socket, m_buffer.data(), bytes, MSG_NOSIGNAL | MSG_ZEROCOPY);
    if (sent > 0 && ++m_unreaped >= kMaxUnreaped)
        reapCompletions();
    if (sent < 0 && errno == ENOBUFS) {
        pollfd completed{m_socket, 0, 0}; // POLLERR tells of completions
        (void)::poll(&completed, 1, 10);
        reapCompletions();
        errno = EINTR; // once more
    }
    return sent;
}

void SendWay::reapCompletions() {
    char control[128];
    for (;;) {
        msghdr message{};
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        if (::recvmsg(m_socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
            break;
    }
    m_unreaped = 0;
}

ssize_t SendWay::giveSplice(std::size_t bytes) {
    if (m_inPipe == 0) {
        // vmsplice only reads the pages.
        iovec vector{const_cast<char*>(m_buffer.data()), bytes};
        const ssize_t filled = ::vmsplice(m_pipe.write.get(), &vector, 1, 0);
        if (filled < 0)
            return filled;
        m_inPipe = static_cast<std::size_t>(filled);
    }
    const ssize_t sent =
        ::splice(m_pipe.read.get(), nullptr, m_socket, nullptr, m_inPipe, SPLICE_F_MOVE);
    if (sent > 0)
        m_inPipe -= static_cast<std::size_t>(sent);
    return sent;
}

ReceiveWay::ReceiveWay(int socket, const protocol::TrafficConfig& config)
    : m_socket(socket), m_quickack(config.quickack), m_spin(config.spin) {
    if (config.receive_method == "truncate") {
        m_kind = Kind::kTruncate;
    } else if (config.receive_method == "splice") {
        m_kind = Kind::kSplice;
        m_pipe = Pipe::make(1 << 20);
        m_sink = Fd(::open("/dev/null", O_WRONLY | O_CLOEXEC));
        if (!m_sink)
            failErrno("cannot open /dev/null");
    }
    if (config.rcvlowat)
        setReceiveLowWater(socket, *config.rcvlowat);
    m_plain = m_kind == Kind::kRecv && !m_quickack && m_spin.count() == 0;
}

ssize_t ReceiveWay::plainRecv(char* data, std::size_t bytes, bool wait) const {
    return receiveBytes(m_socket, data, bytes, wait ? 0 : MSG_DONTWAIT);
}

ssize_t ReceiveWay::takeOther(char* data, std::size_t bytes, bool wait) {
    if (m_quickack) {
        // The kernel falls back to its own choice by itself, so it is told again before each call.
        const int on = *m_quickack ? 1 : 0;
        ::setsockopt(m_socket, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
    }
    if (m_spin.count() > 0 && wait) {
        const TimePoint end = Clock::now() + m_spin;
        do {
            const ssize_t got = takeOnce(data, bytes, false);
            if (got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
                return got;
        } while (Clock::now() < end);
    }
    return takeOnce(data, bytes, wait);
}

ssize_t ReceiveWay::takeOnce(char* data, std::size_t bytes, bool wait) {
    if (m_kind != Kind::kSplice)
        return receiveBytes(m_socket, data, bytes,
                            (wait ? 0 : MSG_DONTWAIT) |
                                (m_kind == Kind::kTruncate ? MSG_TRUNC : 0));
    const ssize_t got = ::splice(m_socket, nullptr, m_pipe.write.get(), nullptr, bytes,
                                 SPLICE_F_MOVE | (wait ? 0U : SPLICE_F_NONBLOCK));
    for (ssize_t left = got; left > 0;) {
        const ssize_t gone = ::splice(m_pipe.read.get(), nullptr, m_sink.get(), nullptr,
                                      static_cast<std::size_t>(left), SPLICE_F_MOVE);
        if (gone <= 0)
            return -1;
        left -= gone;
    }
    return got;
}

} // namespace knobscope::agent
