// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/connections.h"
#include "agents/agent/error.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <vector>

namespace knobscope::agent {

namespace {

[[noreturn]] void fail(const std::string& message) {
    throw AgentError(protocol::errorcode::kTraffic, message);
}

std::string target(const Setup& setup) {
    return setup.peerText + " port " + std::to_string(setup.peer.port());
}

[[noreturn]] void failConnect(const Setup& setup, int error) {
    const std::string what = "cannot connect from " + setup.addressText + " to " + target(setup);
    switch (error) {
    case ECONNREFUSED:
        fail(what + ": refused; nothing listens there (any more), or a firewall rejects it");
    case EHOSTUNREACH:
    case ENETUNREACH:
        fail(errnoText(what, error) + "; check the addresses and routes of the test network");
    case EADDRNOTAVAIL:
        fail(what + ": no interface of this host has the test address " + setup.addressText +
             ", or no port of it is free");
    default:
        fail(errnoText(what, error));
    }
}

[[noreturn]] void failSilent(const Setup& setup) {
    fail("no answer from " + target(setup) + " within " + std::to_string(kPatience.count()) +
         " s; check the test address, and whether a firewall drops the connection");
}

/// A socket on its way to the server. The control connection keeps the host's own settings.
Fd startConnect(const Setup& setup, bool control) {
    Fd socket(::socket(setup.peer.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket)
        fail(errnoText("cannot make a test socket", errno));
    if (!control)
        applyTestKnobs(socket.get(), setup.config);
    // The port is then chosen by connect(), which may use one that other connections have.
    const int late = 1;
    ::setsockopt(socket.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &late, sizeof late);
    if (::bind(socket.get(), setup.address.data(), setup.address.length()) != 0)
        failConnect(setup, errno);
    if (::connect(socket.get(), setup.peer.data(), setup.peer.length()) != 0 &&
        errno != EINPROGRESS && errno != EINTR)
        failConnect(setup, errno);
    return socket;
}

void awaitConnected(int socket, const Setup& setup, const Event& wake, const CheckCancelled& check,
                    TimePoint deadline) {
    pollfd fds[] = {{socket, POLLOUT, 0}, {wake.fd(), POLLIN, 0}};
    do {
        if (pollUntil(fds, 2, deadline) == 0)
            failSilent(setup);
        check();
    } while (fds[0].revents == 0);
    int error = 0;
    socklen_t length = sizeof error;
    ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length);
    if (error != 0)
        failConnect(setup, error);
}

void handOver(int socket, const Setup& setup, std::uint32_t index) {
    const Proof proof = makeProof(setup.token, index);
    // A new connection has room for these few bytes.
    const ssize_t sent = ::send(socket, proof.data(), proof.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(proof.size()))
        fail(errnoText("cannot hand the token to " + target(setup), sent < 0 ? errno : EAGAIN));
}

void awaitReady(ControlLink& control, const Setup& setup, const Event& wake,
                const CheckCancelled& check, TimePoint deadline) {
    while (!control.heard(ControlLink::Word::kReady)) {
        if (control.closed())
            fail("the server at " + target(setup) +
                 " dropped the connection: it was given another token, expects another address "
                 "than " +
                 setup.addressText + ", or has ended");
        pollfd fds[] = {{control.fd(), POLLIN, 0}, {wake.fd(), POLLIN, 0}};
        if (pollUntil(fds, 2, deadline) == 0)
            failSilent(setup);
        check();
        if (fds[0].revents != 0)
            control.receive();
    }
}

} // namespace

std::unique_ptr<ControlLink> connectStreams(const Setup& setup, std::span<Stream> streams,
                                            const Event& wake, const CheckCancelled& check) {
    const TimePoint deadline = Clock::now() + kPatience;
    Fd link = startConnect(setup, true);
    for (Stream& stream : streams)
        stream.socket = startConnect(setup, false);

    awaitConnected(link.get(), setup, wake, check, deadline);
    handOver(link.get(), setup, kControlIndex);
    for (std::size_t i = 0; i < streams.size(); ++i) {
        const int socket = streams[i].socket.get();
        awaitConnected(socket, setup, wake, check, deadline);
        streams[i].initialBuffers = bufferSizes(socket);
        handOver(socket, setup, static_cast<std::uint32_t>(i));
        setBlocking(socket, true);
    }
    auto control = std::make_unique<ControlLink>(std::move(link), setup.peerText, streams.size());
    awaitReady(*control, setup, wake, check, deadline);
    return control;
}

} // namespace knobscope::agent
