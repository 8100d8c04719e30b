// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/sshrelay.h"

#include "core/host/sigpipeguard.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <sys/eventfd.h>
#include <sys/socket.h>

namespace knobscope {

namespace {

using std::chrono::milliseconds;

/// Bytes that wait in one direction; a side that has so many is not read until they are less.
constexpr std::size_t kMaxHeld = 256 * 1024;
/// What the session behind says last still gets so long to leave.
constexpr milliseconds kLastWords{100};

} // namespace

Result<Underlay> SshRelay::open(std::unique_ptr<SshSession> jump, const QString& jumpName,
                                const SshConfig& next, const Patience& patience) {
    auto channel = SshChannel::forward(std::move(jump), jumpName, next, patience);
    if (!channel)
        return tl::unexpected<Error>(channel.error());
    std::array<int, 2> ends{};
    Fd wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake.valid() ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0)
        return fail(Error::Code::HostUnusable, QStringLiteral("cannot go through %1").arg(jumpName),
                    QString::fromLocal8Bit(std::strerror(errno)));
    Underlay underlay;
    underlay.socket = Fd(ends[0]);
    underlay.carrier.reset(
        new SshRelay(std::move(*channel), jumpName, Fd(ends[1]), std::move(wake)));
    return underlay;
}

SshRelay::SshRelay(std::unique_ptr<SshChannel> channel, QString jumpName, Fd socket, Fd wake)
    : m_channel(std::move(channel)), m_jumpName(std::move(jumpName)), m_socket(std::move(socket)),
      m_wake(std::move(wake)), m_thread([this] { run(); }) {}

SshRelay::~SshRelay() {
    m_stop = true;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(m_wake.get(), &one, sizeof one);
    m_thread.join();
}

QString SshRelay::endReason() const {
    const std::scoped_lock lock(m_mutex);
    return m_reason;
}

void SshRelay::run() {
    const SigpipeGuard noSigpipe;
    while (turn()) {
    }
    lastWords();
    // Nothing that is still to come from there is of use.
    m_channel->close(milliseconds(0));
    m_channel.reset();
}

bool SshRelay::turn() {
    if (m_stop)
        return false;
    // Both directions, also when one has ended: the other may have last words.
    const bool hostThere = fromHost();
    if (!toHost())
        return false;
    if (!hostThere && m_in.empty()) {
        // The session behind sees the end of the stream and finds the reason here.
        shutdown(m_socket.get(), SHUT_RDWR);
        return false;
    }
    // A host whose bytes are not taken yet waits; so does its window for ours, as the session
    // behind takes what comes before it sends more.
    wait(hostThere && m_in.size() < kMaxHeld);
    return true;
}

bool SshRelay::fromHost() {
    std::string ignored;
    Transport::Read state = Transport::Read::Some;
    while (state == Transport::Read::Some && m_in.size() < kMaxHeld)
        state = m_channel->read(m_in, ignored);
    if (state == Transport::Read::Ended) {
        const QString why = m_channel->breakReason();
        const std::scoped_lock lock(m_mutex);
        if (m_reason.isEmpty())
            m_reason = why.isEmpty()
                           ? QStringLiteral("the jump host %1 closed the way").arg(m_jumpName)
                           : QStringLiteral("the connection to the jump host %1 broke: %2")
                                 .arg(m_jumpName, why);
    }
    while (!m_in.empty()) {
        const ssize_t sent =
            send(m_socket.get(), m_in.data(), m_in.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            m_in.erase(0, std::size_t(sent));
            continue;
        }
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            m_in.clear(); // nobody is there to take it
        break;
    }
    return state != Transport::Read::Ended;
}

bool SshRelay::toHost() {
    std::array<char, 65536> buffer;
    bool there = true;
    while (m_out.size() < kMaxHeld) {
        const ssize_t got = recv(m_socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (got > 0) {
            m_out.append(buffer.data(), std::size_t(got));
            continue;
        }
        there = got < 0 && (errno == EAGAIN || errno == EINTR);
        break;
    }
    while (!m_out.empty()) {
        const auto taken = m_channel->write(m_out);
        if (!taken) {
            m_out.clear();
            break;
        }
        if (*taken == 0)
            break;
        m_out.erase(0, *taken);
    }
    return there;
}

void SshRelay::wait(bool forHost) {
    std::vector<pollfd> fds{{m_wake.get(), POLLIN, 0}};
    const short reading = m_out.size() < kMaxHeld ? POLLIN : 0;
    const short writing = m_in.empty() ? 0 : POLLOUT;
    fds.push_back({m_socket.get(), short(reading | writing), 0});
    if (forHost)
        m_channel->addPollFds(fds, !m_out.empty());
    ::poll(fds.data(), nfds_t(fds.size()), -1);
}

/// The session behind has gone or is going: what it said last (that it goes) leaves if it can.
void SshRelay::lastWords() {
    const auto until = Patience::Clock::now() + kLastWords;
    while (toHost() || !m_out.empty()) {
        const auto left = std::chrono::ceil<milliseconds>(until - Patience::Clock::now());
        if (left.count() <= 0 || !m_channel->alive())
            break;
        m_channel->wait(int(std::min<std::int64_t>(left.count(), 20)), !m_out.empty());
    }
}

} // namespace knobscope
