// SPDX-License-Identifier: GPL-3.0-or-later
// tcp_crr: a connection for each transaction.
#include "agents/agent/engine/calls.h"
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

/// Reads one connection into a buffer in as few calls as can be: they are what a short connection
/// costs. The buffer has room for one byte more than is expected, so that reading on to the end
/// finds the end.
class Reader {
public:
    /// The first `apart` bytes are not the test's own and not counted.
    Reader(int socket, std::vector<char>& buffer, std::size_t apart, Stream& stream)
        : m_socket(socket), m_buffer(buffer), m_apart(apart), m_stream(stream) {}

    enum class Got {
        kEnough,
        kEnd,     ///< the connection ended, or was reset, before
        kNothing, ///< for too long
        kError
    };
    /// Until there are `least` bytes; more, if they come along.
    Got read(std::size_t least, Waiting waiting, int flags = 0) {
        while (m_have < least) {
            const ssize_t n =
                receiveBytes(m_socket, m_buffer.data() + m_have, m_buffer.size() - m_have, flags);
            if (n > 0)
                take(static_cast<std::size_t>(n));
            else if (n == 0 || errno == ECONNRESET)
                return Got::kEnd;
            else if (timedOut(errno) && !waiting.again())
                return Got::kNothing;
            else if (!timedOut(errno) && errno != EINTR) {
                m_error = errno;
                return Got::kError;
            }
        }
        return Got::kEnough;
    }

    /// Throws when anything else than `expected` was got.
    void check(Got got, Got expected, const std::string& peer) const {
        if (got == Got::kError)
            failTransfer("receiving from", peer, m_error);
        if (got == Got::kNothing)
            failTraffic("nothing came from " + peer + " for " + std::to_string(kPatience.count()) +
                        " s in the middle of a transaction");
        if (m_have == m_buffer.size())
            failTraffic("more came from " + peer + " than belongs to a transaction");
        if (got != expected || m_have + 1 < m_buffer.size())
            failEarlyEnd(peer);
    }

private:
    void take(std::size_t bytes) {
        const std::size_t before = std::max(m_have, m_apart);
        m_have += bytes;
        if (m_stream.begin && m_have > before)
            m_stream.receiveSizes.add(m_have - before);
    }

    const int m_socket;
    std::vector<char>& m_buffer;
    const std::size_t m_apart;
    Stream& m_stream;
    std::size_t m_have = 0;
    int m_error = 0;
};

/// False: the connection was reset.
bool sendAll(int socket, const char* bytes, std::size_t size, const Course& course,
             const std::string& peer) {
    Waiting waiting(course);
    for (std::size_t sent = 0; sent < size;) {
        const ssize_t n = sendBytes(socket, bytes + sent, size - sent, MSG_NOSIGNAL);
        if (n >= 0)
            sent += static_cast<std::size_t>(n);
        else if (errno == ECONNRESET || errno == EPIPE)
            return false;
        else if (timedOut(errno) && !waiting.again())
            failTraffic(peer + " takes no bytes any more");
        else if (!timedOut(errno) && errno != EINTR)
            failTransfer("sending to", peer, errno);
    }
    return true;
}

Fd connectOnce(const Setup& setup, const Address& peer, const Course& course) {
    Fd socket(::socket(peer.family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket)
        failTraffic(errnoText("cannot make a test socket", errno));
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
            failTraffic("no local port is left for another connection to " + setup.peerText +
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
          m_serverCloses(setup.config.close == "server"), m_resets(setup.config.close == "reset"),
          m_peer(setup.peer.withPort(stream.peerPort)),
          m_request(kProofBytes + buffers.send.size()) {
        const Proof proof = makeProof(setup.token, static_cast<std::uint32_t>(index));
        std::copy(proof.begin(), proof.end(), m_request.begin());
        std::copy(buffers.send.begin(), buffers.send.end(), m_request.begin() + kProofBytes);
        m_response.resize(m_response.size() + 1);
    }

    void transact() {
        const Fd socket = connectOnce(m_setup, m_peer, m_course);
        if (!sendAll(socket.get(), m_request.data(), m_request.size(), m_course, m_setup.peerText))
            failEarlyEnd(m_setup.peerText);
        Reader reader(socket.get(), m_response, 0, m_stream);
        // Waiting for the response and the end in one call wakes the client once.
        if (m_serverCloses)
            reader.check(reader.read(m_response.size(), Waiting(m_course), MSG_WAITALL),
                         Reader::Got::kEnd, m_setup.peerText);
        else
            reader.check(reader.read(m_response.size() - 1, Waiting(m_course)),
                         Reader::Got::kEnough, m_setup.peerText);
        m_stream.counters.sent(m_request.size() - kProofBytes);
        m_stream.counters.received(m_response.size() - 1);
        if (m_resets)
            resetOnClose(socket.get());
        if (m_course.stopping())
            m_stream.state = socketState(socket.get());
    }

private:
    Stream& m_stream;
    Course& m_course;
    const Setup& m_setup;
    std::vector<char>& m_response; ///< with room for one byte more
    const bool m_serverCloses;
    const bool m_resets;
    const Address m_peer;
    std::vector<char> m_request; ///< behind the token
};

/// Whether a connection begins with the test's token and the number of this stream.
bool proves(const std::vector<char>& bytes, const Setup& setup, std::size_t index) {
    Proof proof;
    std::copy_n(bytes.begin(), proof.size(), proof.begin());
    return sameToken(setup.token, proof) && proofIndex(proof) == index;
}

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
            failTraffic(errnoText("cannot accept test connections on " + setup.addressText, errno));
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
            if (stream.latency)
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
    const bool clientCloses = setup.config.close != "server";
    const std::size_t whole = kProofBytes + buffers.receive.size();
    buffers.receive.resize(whole + 1);
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
        Reader reader(socket.get(), buffers.receive, kProofBytes, stream);
        if (reader.read(kProofBytes, Waiting(course, kProofSeconds)) != Reader::Got::kEnough ||
            !proves(buffers.receive, setup, index)) {
            ++stream.strangers;
            continue;
        }
        reader.check(reader.read(whole, Waiting(course)), Reader::Got::kEnough, setup.peerText);
        if (!sendAll(socket.get(), buffers.send.data(), buffers.send.size(), course,
                     setup.peerText))
            failEarlyEnd(setup.peerText);
        stream.counters.received(whole - kProofBytes);
        stream.counters.sent(buffers.send.size());
        stream.counters.transaction();
        markBegin(stream, course);
        if (clientCloses)
            reader.check(reader.read(whole + 1, Waiting(course)), Reader::Got::kEnd,
                         setup.peerText);
        if (course.stopping() || course.peerDone())
            stream.state = socketState(socket.get());
    }
    stream.end = stream.mark();
}

} // namespace knobscope::agent
