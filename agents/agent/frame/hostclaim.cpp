// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/frame/hostclaim.h"

#include "agents/agent/error.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace knobscope::agent {

namespace errorcode = protocol::errorcode;

namespace {

/// The holder may be at work on a knob; one that is stopped never answers.
constexpr int kAnswerMs = 3000;
constexpr int kTries = 20;
constexpr int kBetweenTriesMs = 10;

struct Name {
    sockaddr_un address{};
    socklen_t length = 0;
    Name() {
        constexpr char name[] = "\0knobscope-host";
        address.sun_family = AF_UNIX;
        std::memcpy(address.sun_path, name, sizeof name - 1);
        length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + sizeof name - 1);
    }
    [[nodiscard]] const sockaddr* generic() const {
        return reinterpret_cast<const sockaddr*>(&address);
    }
};

UniqueFd makeSocket() {
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket)
        throw AgentError(errorcode::kInternal, errnoText("socket", errno));
    return socket;
}

/// All that the holder says until it closes the connection.
std::string hear(int socket) {
    std::string text;
    std::array<char, 1024> buffer;
    pollfd ready{socket, POLLIN, 0};
    while (::poll(&ready, 1, kAnswerMs) > 0) {
        const ssize_t n = ::recv(socket, buffer.data(), buffer.size(), 0);
        if (n <= 0)
            break;
        text.append(buffer.data(), static_cast<std::size_t>(n));
        if (text.size() > 4 * buffer.size())
            break;
    }
    return text;
}

} // namespace

void HostClaim::introduce(const std::string& group, const std::string& owner) {
    m_group = group;
    m_owner = owner;
}

bool HostClaim::ask() const {
    if (m_socket)
        return true;
    const Name name;
    const UniqueFd socket = makeSocket();
    if (::connect(socket.get(), name.generic(), name.length) != 0) {
        if (errno == ECONNREFUSED)
            return false;
        throw AgentError(errorcode::kInternal,
                         errnoText("cannot find out whether this host is in use", errno));
    }
    const std::string said = hear(socket.get());
    const auto end = said.find('\n');
    if (end == std::string::npos)
        throw AgentError(errorcode::kBusy, "this host is in use by a program that does not say "
                                           "what it is (a stopped agent, or another user's)");
    if (said.substr(0, end) != m_group)
        throw AgentError(errorcode::kBusy, "this host is in use by " + said.substr(end + 1) +
                                               "; wait for its end or stop it");
    return true;
}

void HostClaim::hold() {
    if (m_socket)
        return;
    const Name name;
    for (int i = 0; i < kTries; ++i) {
        UniqueFd socket = makeSocket();
        if (::bind(socket.get(), name.generic(), name.length) == 0 &&
            ::listen(socket.get(), SOMAXCONN) == 0) {
            m_socket = std::move(socket);
            return;
        }
        if (errno != EADDRINUSE)
            throw AgentError(errorcode::kInternal, errnoText("cannot claim this host", errno));
        if (ask())
            return;
        // The holder has ended since.
        ::poll(nullptr, 0, kBetweenTriesMs);
    }
    throw AgentError(errorcode::kBusy, "this host is in use by agents that come and go");
}

void HostClaim::answer() const {
    const UniqueFd asker(::accept4(m_socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!asker)
        return;
    const std::string text = m_group + '\n' + m_owner;
    (void)!::send(asker.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

} // namespace knobscope::agent
