// SPDX-License-Identifier: GPL-3.0-or-later
// tcp_crr: a connection for each transaction.
#include "agents/agent/engine/connections.h"
#include "agents/agent/engine/flows.h"
#include "agents/agent/engine/pacer.h"
#include "agents/agent/error.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace knobscope::agent {

namespace {

/// A connection that shows no token for so long is a stranger's, and holds up the others.
constexpr double kProofSeconds = 1;
constexpr double kPatienceSeconds = std::chrono::duration<double>(kPatience).count();

[[noreturn]] void fail(const std::string& message) {
    throw AgentError(protocol::errorcode::kTraffic, message);
}

bool timedOut(int error) {
    return error == EAGAIN || error == EWOULDBLOCK;
}

/// Goes on waiting as long as the other end may be silent.
class Waiting {
public:
    explicit Waiting(const Course& course, double most = kPatienceSeconds)
        : m_course(course), m_most(most) {}
    /// After a call timed out. False: for too long. Throws when the test was ended.
    bool again() {
        if (m_course.aborted())
            failAborted();
        return (m_waited += kLookSeconds) < m_most;
    }

private:
    const Course& m_course;
    const double m_most;
    double m_waited = 0;
};

/// Fills `bytes`. False: the connection ended (or was reset) before.
bool receiveAll(int socket, char* bytes, std::size_t size, Stream& stream, const Course& course,
                const std::string& peer) {
    Waiting waiting(course);
    for (std::size_t have = 0; have < size;) {
        const ssize_t n = ::recv(socket, bytes + have, size - have, 0);
        if (n > 0) {
            have += static_cast<std::size_t>(n);
            if (stream.begin)
                stream.receiveSizes.add(static_cast<std::uint64_t>(n));
        } else if (n == 0 || errno == ECONNRESET) {
            return false;
        } else if (timedOut(errno)) {
            if (!waiting.again())
                fail("nothing came from " + peer + " for " + std::to_string(kPatience.count()) +
                     " s in the middle of a transaction");
        } else if (errno != EINTR) {
            failTransfer("receiving from", peer, errno);
        }
    }
    return true;
}

/// False: there is none, and the connection is not one of the client's.
bool receiveProof(int socket, Proof& proof, const Course& course) {
    Waiting waiting(course, kProofSeconds);
    for (std::size_t have = 0; have < proof.size();) {
        const ssize_t n = ::recv(socket, proof.data() + have, proof.size() - have, 0);
        if (n > 0)
            have += static_cast<std::size_t>(n);
        else if (n == 0 || (timedOut(errno) && !waiting.again()) ||
                 (!timedOut(errno) && errno != EINTR))
            return false;
    }
    return true;
}

/// False: the connection was reset.
bool sendAll(int socket, const char* bytes, std::size_t size, const Course& course,
             const std::string& peer) {
    Waiting waiting(course);
    for (std::size_t sent = 0; sent < size;) {
        const ssize_t n = ::send(socket, bytes + sent, size - sent, MSG_NOSIGNAL);
        if (n >= 0)
            sent += static_cast<std::size_t>(n);
        else if (errno == ECONNRESET || errno == EPIPE)
            return false;
        else if (timedOut(errno) && !waiting.again())
            fail(peer + " takes no bytes any more");
        else if (!timedOut(errno) && errno != EINTR)
            failTransfer("sending to", peer, errno);
    }
    return true;
}

/// Reads to the end, which the other side makes.
void awaitEnd(int socket, Stream& stream, const Course& course, const std::string& peer) {
    char byte;
    while (receiveAll(socket, &byte, 1, stream, course, peer)) {
    }
}

Fd connectOnce(const Setup& setup, const Address& peer, const Course& course) {
    Fd socket(::socket(peer.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket)
        fail(errnoText("cannot make a test socket", errno));
    applyTestKnobs(socket.get(), setup.config);
    setTimeouts(socket.get(), kLookSeconds);
    bindLocal(socket.get(), setup, true);
    Waiting waiting(course);
    while (::connect(socket.get(), peer.data(), peer.length()) != 0) {
        if (errno == EISCONN)
            break;
        if (errno == EINPROGRESS || errno == EALREADY) {
            if (!waiting.again())
                failSilent(setup, peer.port());
        } else if (errno == EADDRNOTAVAIL) {
            fail("no local port is left for another connection to " + setup.peerText +
                 ": all are in TIME_WAIT; use \"close\": \"server\" or \"reset\", or widen "
                 "net.ipv4.ip_local_port_range");
        } else if (errno != EINTR) {
            failConnect(setup, peer.port(), errno);
        }
    }
    return socket;
}

class Client {
public:
    Client(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers,
           std::size_t index)
        : m_stream(stream), m_course(course), m_setup(setup), m_response(buffers.receive),
          m_peer(setup.peer.withPort(stream.peerPort)),
          m_request(kProofBytes + buffers.send.size()) {
        const Proof proof = makeProof(setup.token, static_cast<std::uint32_t>(index));
        std::copy(proof.begin(), proof.end(), m_request.begin());
        std::copy(buffers.send.begin(), buffers.send.end(), m_request.begin() + kProofBytes);
    }

    void transact() {
        const Fd socket = connectOnce(m_setup, m_peer, m_course);
        if (!sendAll(socket.get(), m_request.data(), m_request.size(), m_course,
                     m_setup.peerText) ||
            !receiveAll(socket.get(), m_response.data(), m_response.size(), m_stream, m_course,
                        m_setup.peerText))
            failEarlyEnd(m_setup.peerText);
        m_stream.counters.sent(m_request.size() - kProofBytes);
        m_stream.counters.received(m_response.size());
        if (m_setup.config.close == "server")
            awaitEnd(socket.get(), m_stream, m_course, m_setup.peerText);
        else if (m_setup.config.close == "reset")
            resetOnClose(socket.get());
        if (m_course.stopping())
            m_stream.state = socketState(socket.get());
    }

private:
    Stream& m_stream;
    Course& m_course;
    const Setup& m_setup;
    std::vector<char>& m_response;
    const Address m_peer;
    std::vector<char> m_request; ///< behind the token
};

/// False: the listener was shut.
bool acceptOne(Stream& stream, const Setup& setup, Fd& socket, const Course& course) {
    for (;;) {
        sockaddr_storage storage{};
        socklen_t length = sizeof storage;
        socket = Fd(::accept4(stream.listener.get(), reinterpret_cast<sockaddr*>(&storage), &length,
                              SOCK_CLOEXEC));
        if (course.aborted())
            failAborted();
        if (socket && Address(storage, length).sameHost(setup.peer))
            return true;
        if (socket)
            ++stream.strangers;
        else if (errno == EINVAL)
            return false;
        else if (!passingAcceptError(errno) && !timedOut(errno))
            fail(errnoText("cannot accept test connections on " + setup.addressText, errno));
    }
}

} // namespace

void makeConnections(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers,
                     std::size_t index) {
    Client client(stream, course, setup, buffers, index);
    Pacer pacer(setup.config.pace);
    const std::uint64_t limit = setup.share(setup.config.limit_transactions, index);
    std::uint64_t made = 0;
    if (setup.warmup().count() == 0)
        stream.begin = stream.mark();
    TimePoint now = Clock::now();
    while (!course.stopping() && !(limit > 0 && made >= limit)) {
        const TimePoint due = pacer.due(now);
        if (due > now) {
            Pacer::sleepUntil(std::min(due, now + std::chrono::milliseconds(50)));
            now = Clock::now();
            if (due > now)
                continue;
        }
        pacer.step();
        client.transact();
        now = Clock::now();
        stream.counters.transaction();
        if (stream.begin) {
            stream.latency->record(nanoseconds(now) - nanoseconds(due));
            ++made;
        } else {
            markBegin(stream, course);
        }
    }
    if (course.aborted())
        failAborted();
    stream.end = stream.mark();
}

void takeConnections(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers,
                     std::size_t index) {
    bool first = true;
    for (;;) {
        Fd socket;
        if (!acceptOne(stream, setup, socket, course))
            break;
        if (first) {
            course.begin();
            if (setup.warmup().count() == 0)
                stream.begin = stream.mark();
            first = false;
        }
        Proof proof;
        if (!receiveProof(socket.get(), proof, course) || !sameToken(setup.token, proof) ||
            proofIndex(proof) != index) {
            ++stream.strangers;
            continue;
        }
        if (!receiveAll(socket.get(), buffers.receive.data(), buffers.receive.size(), stream,
                        course, setup.peerText) ||
            !sendAll(socket.get(), buffers.send.data(), buffers.send.size(), course,
                     setup.peerText))
            failEarlyEnd(setup.peerText);
        stream.counters.received(buffers.receive.size());
        stream.counters.sent(buffers.send.size());
        stream.counters.transaction();
        markBegin(stream, course);
        if (setup.config.close != "server")
            awaitEnd(socket.get(), stream, course, setup.peerText);
        if (course.stopping() || course.peerDone())
            stream.state = socketState(socket.get());
    }
    stream.end = stream.mark();
}

} // namespace knobscope::agent
