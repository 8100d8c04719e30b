// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/connections.h"
#include "agents/agent/error.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace knobscope::agent {

namespace {

/// Beyond those that are due: silent strangers from the peer's own address.
constexpr std::size_t kSparePending = 64;

[[noreturn]] void fail(const std::string& message) {
    throw AgentError(protocol::errorcode::kTraffic, message);
}

Fd listenOn(const Setup& setup) {
    Fd socket(::socket(setup.address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket)
        fail(errnoText("cannot make a test socket", errno));
    if (::bind(socket.get(), setup.address.data(), setup.address.length()) != 0) {
        const std::string what = "cannot listen on the test address " + setup.addressText;
        if (errno == EADDRNOTAVAIL)
            fail(what + ": no interface of this host has it");
        fail(errnoText(what, errno));
    }
    applyTestKnobs(socket.get(), setup.config);
    const int backlog = setup.config.streams + static_cast<int>(kSparePending);
    if (::listen(socket.get(), backlog) != 0)
        fail(errnoText("cannot listen on the test address " + setup.addressText, errno));
    return socket;
}

int portOf(int socket) {
    sockaddr_storage storage{};
    socklen_t length = sizeof storage;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &length) != 0)
        fail(errnoText("cannot read the port of the test socket", errno));
    return Address(storage, length).port();
}

/// Of a connection that died while it waited in the queue, not of the listener.
bool passingAcceptError(int error) {
    switch (error) {
    case ECONNABORTED:
    case EINTR:
    case EPROTO:
    case ENETDOWN:
    case ENOPROTOOPT:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENETUNREACH:
        return true;
    default:
        return false;
    }
}

} // namespace

Acceptor::Acceptor(const Setup& setup)
    : m_setup(setup), m_listener(listenOn(setup)), m_port(portOf(m_listener.get())) {}

bool Acceptor::step(std::span<Stream> streams, const Event& wake, TimePoint until) {
    std::vector<pollfd> fds{{m_listener.get(), POLLIN, 0}, {wake.fd(), POLLIN, 0}};
    for (const Pending& pending : m_pending) {
        fds.push_back({pending.socket.get(), POLLIN, 0});
        until = std::min(until, pending.deadline);
    }
    pollUntil(fds.data(), fds.size(), until);

    std::size_t at = 2;
    for (auto pending = m_pending.begin(); pending != m_pending.end(); ++at) {
        bool keep = true;
        if (fds[at].revents != 0) {
            keep = readProof(*pending);
            if (keep && pending->have == kProofBytes) {
                if (!take(*pending, streams))
                    ++m_strangers;
                keep = false;
            } else if (!keep) {
                ++m_strangers;
            }
        }
        pending = keep ? std::next(pending) : m_pending.erase(pending);
    }
    dropLate();
    if (m_taken == streams.size() + 1) {
        finish();
        return true;
    }
    if (fds[0].revents != 0)
        acceptAll();
    return false;
}

void Acceptor::acceptAll() {
    for (;;) {
        sockaddr_storage storage{};
        socklen_t length = sizeof storage;
        Fd socket(::accept4(m_listener.get(), reinterpret_cast<sockaddr*>(&storage), &length,
                            SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (!socket) {
            if (errno == EAGAIN || errno == EWOULDBLOCK)
                return;
            if (passingAcceptError(errno))
                continue;
            fail(errnoText("cannot accept test connections on " + m_setup.addressText, errno));
        }
        if (!Address(storage, length).sameHost(m_setup.peer)) {
            ++m_strangers;
            continue;
        }
        if (m_pending.size() >= static_cast<std::size_t>(m_setup.config.streams) + kSparePending) {
            m_pending.pop_front(); // the one that has been silent for longest
            ++m_strangers;
        }
        m_pending.push_back({std::move(socket), Clock::now() + kPatience});
    }
}

/// False: the connection is not one of ours, or has ended.
bool Acceptor::readProof(Pending& pending) {
    while (pending.have < kProofBytes) {
        const ssize_t got = ::recv(pending.socket.get(), pending.proof.data() + pending.have,
                                   kProofBytes - pending.have, 0);
        if (got > 0)
            pending.have += static_cast<std::size_t>(got);
        else if (got < 0 && errno == EINTR)
            continue;
        else
            return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }
    return true;
}

/// False: a wrong token, or one that was used already.
bool Acceptor::take(Pending& pending, std::span<Stream> streams) {
    if (!sameToken(m_setup.token, pending.proof))
        return false;
    const std::uint32_t index = proofIndex(pending.proof);
    if (index == kControlIndex) {
        if (m_control)
            return false;
        m_control = std::move(pending.socket);
    } else {
        if (index >= streams.size() || streams[index].socket)
            return false;
        Stream& stream = streams[index];
        stream.initialBuffers = bufferSizes(pending.socket.get());
        setBlocking(pending.socket.get(), true);
        stream.socket = std::move(pending.socket);
    }
    ++m_taken;
    return true;
}

void Acceptor::dropLate() {
    const TimePoint now = Clock::now();
    m_strangers += static_cast<int>(
        m_pending.remove_if([now](const Pending& pending) { return pending.deadline <= now; }));
}

void Acceptor::finish() {
    m_listener.reset();
    m_strangers += static_cast<int>(m_pending.size());
    m_pending.clear();
}

std::unique_ptr<ControlLink> Acceptor::takeControl() {
    auto control = std::make_unique<ControlLink>(std::move(m_control), m_setup.peerText,
                                                 static_cast<std::size_t>(m_setup.config.streams));
    control->say(ControlLink::Word::kReady);
    return control;
}

} // namespace knobscope::agent
