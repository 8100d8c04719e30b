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

/// A datagram with the token may be lost on the way.
constexpr std::chrono::milliseconds kKnockAgain{100};

std::string target(const Setup& setup, int port) {
    return setup.peerText + " port " + std::to_string(port);
}

/// The client's connections on their way to the server.
class Connector {
public:
    Connector(const Setup& setup, std::span<Stream> streams, const Event& wake,
              const CheckCancelled& check)
        : m_setup(setup), m_streams(streams), m_wake(wake), m_check(check),
          m_deadline(Clock::now() + kPatience) {}

    std::unique_ptr<ControlLink> run() {
        Fd link = startConnect(true);
        if (m_setup.lasting()) {
            for (Stream& stream : m_streams)
                stream.socket = startConnect(false);
        }
        awaitConnected(link.get());
        handOver(link.get(), kControlIndex);
        for (std::size_t i = 0; m_setup.lasting() && i < m_streams.size(); ++i)
            finishConnect(i);
        m_control =
            std::make_unique<ControlLink>(std::move(link), m_setup.peerText, m_streams.size());
        if (!m_setup.lasting()) {
            while (!m_control->heard(ControlLink::Word::kReady))
                waitForControl(m_deadline);
            usePorts();
        }
        while (!m_control->heard(ControlLink::Word::kUp)) {
            if (m_setup.udp())
                knock();
            waitForControl(m_setup.udp() ? std::min(m_deadline, Clock::now() + kKnockAgain)
                                         : m_deadline);
        }
        return std::move(m_control);
    }

private:
    Fd startConnect(bool control);
    void awaitConnected(int socket);
    void finishConnect(std::size_t stream);
    void handOver(int socket, std::uint32_t index) const;
    void usePorts();
    void knock();
    void waitForControl(TimePoint until);

    const Setup& m_setup;
    std::span<Stream> m_streams;
    const Event& m_wake;
    const CheckCancelled& m_check;
    const TimePoint m_deadline;
    std::unique_ptr<ControlLink> m_control;
};

/// A socket on its way to the server. The control connection keeps the host's own settings.
Fd Connector::startConnect(bool control) {
    const Address& peer = m_setup.peer;
    Fd socket(::socket(peer.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket)
        failTraffic(errnoText("cannot make a test socket", errno));
    if (!control)
        applyTestKnobs(socket.get(), m_setup.config);
    bindLocal(socket.get(), m_setup, true);
    if (::connect(socket.get(), peer.data(), peer.length()) != 0 && errno != EINPROGRESS &&
        errno != EINTR)
        failConnect(m_setup, peer.port(), errno);
    return socket;
}

void Connector::awaitConnected(int socket) {
    pollfd fds[] = {{socket, POLLOUT, 0}, {m_wake.fd(), POLLIN, 0}};
    do {
        if (pollUntil(fds, 2, m_deadline) == 0)
            failSilent(m_setup, m_setup.peer.port());
        m_check();
    } while (fds[0].revents == 0);
    int error = 0;
    socklen_t length = sizeof error;
    ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0)
        failConnect(m_setup, m_setup.peer.port(), error);
}

void Connector::finishConnect(std::size_t stream) {
    const int socket = m_streams[stream].socket.get();
    awaitConnected(socket);
    m_streams[stream].initialBuffers = bufferSizes(socket);
    handOver(socket, static_cast<std::uint32_t>(stream));
    setBlocking(socket, true);
}

void Connector::handOver(int socket, std::uint32_t index) const {
    const Proof proof = makeProof(m_setup.token, index);
    // A new connection has room for these few bytes.
    const ssize_t sent = ::send(socket, proof.data(), proof.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(proof.size()))
        failTraffic(errnoText("cannot hand the token to " + target(m_setup, m_setup.peer.port()),
                              sent < 0 ? errno : EAGAIN));
}

void Connector::usePorts() {
    for (std::size_t i = 0; i < m_streams.size(); ++i) {
        Stream& stream = m_streams[i];
        stream.peerPort = m_control->ports().at(i);
        if (!m_setup.udp())
            continue;
        const Address peer = m_setup.peer.withPort(stream.peerPort);
        stream.socket = Fd(::socket(peer.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
        if (!stream.socket)
            failTraffic(errnoText("cannot make a test socket", errno));
        applyTestKnobs(stream.socket.get(), m_setup.config);
        stream.initialBuffers = bufferSizes(stream.socket.get());
        bindLocal(stream.socket.get(), m_setup, false);
        if (::connect(stream.socket.get(), peer.data(), peer.length()) != 0)
            failConnect(m_setup, peer.port(), errno);
    }
}

void Connector::knock() {
    for (std::size_t i = 0; i < m_streams.size(); ++i) {
        const Proof proof = makeProof(m_setup.token, static_cast<std::uint32_t>(i));
        const ssize_t sent =
            ::send(m_streams[i].socket.get(), proof.data(), proof.size(), MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS)
            failConnect(m_setup, m_streams[i].peerPort, errno);
    }
}

void Connector::waitForControl(TimePoint until) {
    if (m_control->closed())
        failTraffic(
            "the server at " + target(m_setup, m_setup.peer.port()) +
            " dropped the connection: it was given another token, expects another address than " +
            m_setup.addressText + ", or has ended");
    if (Clock::now() >= m_deadline) {
        if (m_setup.udp() && m_control->heard(ControlLink::Word::kReady))
            failTraffic("no UDP datagram reaches " + target(m_setup, m_streams[0].peerPort) +
                        " from " + m_setup.addressText +
                        ", though TCP does: a firewall drops them");
        failSilent(m_setup, m_setup.peer.port());
    }
    pollfd fds[] = {{m_control->fd(), POLLIN, 0}, {m_wake.fd(), POLLIN, 0}};
    pollUntil(fds, 2, until);
    m_check();
    if (fds[0].revents != 0)
        m_control->receive();
}

} // namespace

void failConnect(const Setup& setup, int port, int error) {
    const std::string what =
        "cannot connect from " + setup.addressText + " to " + target(setup, port);
    switch (error) {
    case ECONNREFUSED:
        failTraffic(what + ": refused; nothing listens there (any more), or a firewall rejects it");
    case EHOSTUNREACH:
    case ENETUNREACH:
        failTraffic(errnoText(what, error) +
                    "; check the addresses and routes of the test network");
    case EACCES:
    case EPERM:
        failTraffic(what + ": a firewall or a route of this host forbids it");
    case EADDRNOTAVAIL:
        failTraffic(what + ": no interface of this host has the test address " + setup.addressText +
                    ", or no port of it is free");
    default:
        failTraffic(errnoText(what, error));
    }
}

void failSilent(const Setup& setup, int port) {
    failTraffic("no answer from " + target(setup, port) + " within " +
                std::to_string(kPatience.count()) +
                " s; check the test address, and whether a firewall drops the connection");
}

std::unique_ptr<ControlLink> connectStreams(const Setup& setup, std::span<Stream> streams,
                                            const Event& wake, const CheckCancelled& check) {
    return Connector(setup, streams, wake, check).run();
}

} // namespace knobscope::agent
