// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/connections.h"
#include "agents/agent/error.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace knobscope::agent {

namespace {

/// Beyond those that are due: silent strangers from the peer's own address.
constexpr std::size_t kSparePending = 64;

Fd makeBound(const Setup& setup, int type) {
    Fd socket(::socket(setup.address.family(), type | SOCK_CLOEXEC, 0));
    if (!socket)
        failTraffic(errnoText("cannot make a test socket", errno));
    // A port of a chosen range may still be in TIME_WAIT from the sample before. (Of UDP it would
    // let two sockets share a port.)
    const int on = 1;
    if ((type & SOCK_STREAM) == SOCK_STREAM)
        ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bindLocal(socket.get(), setup, false);
    return socket;
}

/// `knobs`: those of the test, which connections inherit.
Fd listenOn(const Setup& setup, int flags, bool knobs) {
    Fd socket = makeBound(setup, SOCK_STREAM | flags);
    if (knobs)
        applyTestKnobs(socket.get(), setup.config);
    const int backlog = static_cast<int>(setup.connections() + kSparePending);
    if (::listen(socket.get(), backlog) != 0)
        failTraffic(errnoText("cannot listen on the test address " + setup.addressText, errno));
    return socket;
}

} // namespace

void bindLocal(int socket, const Setup& setup, bool connecting) {
    const auto tryPort = [&](int port) {
        const Address address = setup.address.withPort(port);
        return ::bind(socket, address.data(), address.length()) == 0;
    };
    if (connecting) {
        // The port is then chosen by connect(), which may use one that other connections have.
        const int late = 1;
        ::setsockopt(socket, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &late, sizeof late);
    }
    bool bound = false;
    if (setup.ports.first == 0) {
        bound = tryPort(0);
    } else {
        errno = EADDRINUSE;
        for (int port = setup.ports.first; !bound && port <= setup.ports.last; ++port) {
            bound = tryPort(port);
            if (!bound && errno != EADDRINUSE)
                break;
        }
    }
    if (bound)
        return;
    const std::string what = "cannot use the test address " + setup.addressText;
    if (errno == EADDRNOTAVAIL)
        failTraffic(what + ": no interface of this host has it");
    if (errno == EADDRINUSE && setup.ports.first != 0)
        failTraffic(what + ": all ports of local_ports " + setup.config.local_ports +
                    " are in use");
    failTraffic(errnoText(what, errno));
}

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

Acceptor::Acceptor(const Setup& setup, std::span<Stream> streams)
    : m_setup(setup), m_streams(streams),
      m_listener(listenOn(setup, SOCK_NONBLOCK, setup.lasting())),
      m_up(streams.size(), setup.kind == TestKind::kTcpCrr), m_port(localPort(m_listener.get())) {
    for (Stream& stream : streams) {
        if (setup.kind == TestKind::kTcpCrr) {
            stream.listener = listenOn(setup, 0, true);
            setTimeouts(stream.listener.get(), kLookSeconds); // its connections inherit them
            stream.initialBuffers = bufferSizes(stream.listener.get());
        } else if (setup.udp()) {
            stream.socket = makeBound(setup, SOCK_DGRAM);
            applyTestKnobs(stream.socket.get(), setup.config);
            stream.initialBuffers = bufferSizes(stream.socket.get());
        }
    }
}

bool Acceptor::step(const Event& wake, TimePoint until) {
    std::vector<pollfd> fds{{m_listener.get(), POLLIN, 0}, {wake.fd(), POLLIN, 0}};
    for (const Pending& pending : m_pending) {
        fds.push_back({pending.socket.get(), POLLIN, 0});
        until = std::min(until, pending.deadline);
    }
    const std::size_t datagrams = fds.size();
    for (std::size_t i = 0; m_setup.udp() && i < m_streams.size(); ++i)
        fds.push_back({m_up[i] ? -1 : m_streams[i].socket.get(), POLLIN, 0});
    pollUntil(fds.data(), fds.size(), until);

    readPending(fds);
    dropLate();
    for (std::size_t i = datagrams; i < fds.size(); ++i) {
        if (fds[i].revents != 0)
            greetDatagrams(i - datagrams);
    }
    if (m_control && std::find(m_up.begin(), m_up.end(), false) == m_up.end()) {
        finish();
        return true;
    }
    if (fds[0].revents != 0)
        acceptAll();
    return false;
}

void Acceptor::readPending(const std::vector<pollfd>& fds) {
    std::size_t at = 2;
    for (auto pending = m_pending.begin(); pending != m_pending.end(); ++at) {
        bool keep = true;
        if (fds[at].revents != 0) {
            keep = readProof(*pending);
            if (keep && pending->have == kProofBytes) {
                if (!take(*pending))
                    ++m_strangers;
                keep = false;
            } else if (!keep) {
                ++m_strangers;
            }
        }
        pending = keep ? std::next(pending) : m_pending.erase(pending);
    }
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
            failTraffic(
                errnoText("cannot accept test connections on " + m_setup.addressText, errno));
        }
        if (!Address(storage, length).sameHost(m_setup.peer)) {
            ++m_strangers;
            continue;
        }
        if (m_pending.size() >= m_streams.size() + kSparePending) {
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
bool Acceptor::take(Pending& pending) {
    if (!sameToken(m_setup.token, pending.proof))
        return false;
    const std::uint32_t index = proofIndex(pending.proof);
    if (index != kControlIndex)
        return takeStream(pending, index);
    if (m_control)
        return false;
    m_control = std::make_unique<ControlLink>(std::move(pending.socket), m_setup.peerText,
                                              m_streams.size());
    if (!m_setup.lasting()) {
        std::vector<int> ports;
        for (const Stream& stream : m_streams)
            ports.push_back(
                localPort(stream.listener ? stream.listener.get() : stream.socket.get()));
        m_control->sayReady(ports);
    }
    return true;
}

bool Acceptor::takeStream(Pending& pending, std::uint32_t index) {
    if (!m_setup.lasting() || index >= m_streams.size() || m_up[index])
        return false;
    Stream& stream = m_streams[index];
    stream.initialBuffers = bufferSizes(pending.socket.get());
    setBlocking(pending.socket.get(), true);
    stream.socket = std::move(pending.socket);
    m_up[index] = true;
    return true;
}

/// The first datagram with the token decides who the other end of the stream is.
void Acceptor::greetDatagrams(std::size_t stream) {
    const int socket = m_streams[stream].socket.get();
    for (;;) {
        Proof proof;
        sockaddr_storage storage{};
        socklen_t length = sizeof storage;
        const ssize_t got = ::recvfrom(socket, proof.data(), proof.size(), MSG_DONTWAIT | MSG_TRUNC,
                                       reinterpret_cast<sockaddr*>(&storage), &length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return;
        const Address from(storage, length);
        if (got != static_cast<ssize_t>(kProofBytes) || !from.sameHost(m_setup.peer) ||
            !sameToken(m_setup.token, proof) || proofIndex(proof) != stream) {
            ++m_strangers;
            continue;
        }
        // From now on the kernel drops what others send.
        if (::connect(socket, from.data(), from.length()) != 0)
            failTraffic(errnoText("cannot connect a test socket to " + m_setup.peerText, errno));
        m_up[stream] = true;
        return;
    }
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
    m_control->say(ControlLink::Word::kUp);
}

} // namespace knobscope::agent
