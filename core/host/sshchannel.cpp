// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/sshchannel.h"

#include "core/host/secretsource.h"

#include <QRegularExpression>

#include <array>

namespace knobscope {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// More than this at once gains nothing and fills libssh's buffers.
constexpr std::size_t kMaxWrite = 64 * 1024;
/// End of output, exit status and close come in any order; how long to wait for the others.
constexpr milliseconds kStatusWait{200};

/// What libssh says of a channel that the host did not open, in words for the user.
Error forwardError(const QString& jumpName, const SshConfig& next, const QString& text) {
    static const QRegularExpression pattern(QStringLiteral("error \\((\\d+)\\)\\s*(.*)$"));
    constexpr int kProhibited = 1;    // SSH_OPEN_ADMINISTRATIVELY_PROHIBITED of RFC 4254, 5.1
    constexpr int kConnectFailed = 2; // SSH_OPEN_CONNECT_FAILED
    const QString where = QStringLiteral("%1 port %2").arg(next.hostname).arg(next.port);
    const auto match = pattern.match(text);
    const int code = match.captured(1).toInt();
    if (code == kProhibited)
        return {Error::Code::HostUnusable,
                QStringLiteral("%1 does not let connections through to %2").arg(jumpName, where),
                QStringLiteral("it has AllowTcpForwarding no, or PermitOpen without that "
                               "destination, in its sshd_config")};
    if (code == kConnectFailed)
        return {Error::Code::HostUnusable,
                QStringLiteral("%1 cannot reach %2").arg(jumpName, where),
                QStringLiteral("it says: %1").arg(plainLine(match.captured(2)))};
    return {Error::Code::HostUnusable,
            QStringLiteral("there is no way through %1 to %2").arg(jumpName, where), text};
}

} // namespace

SshChannel::SshChannel(std::unique_ptr<SshSession> session)
    : m_session(std::move(session)), m_channel(ssh_channel_new(m_session->raw())) {
    m_callbacks.userdata = this;
    m_callbacks.channel_exit_signal_function = noteSignal;
    m_callbacks.channel_exit_status_function = noteStatus;
    ssh_callbacks_init(&m_callbacks);
    if (m_channel)
        ssh_set_channel_callbacks(m_channel, &m_callbacks);
}

Result<std::unique_ptr<SshChannel>> SshChannel::exec(std::unique_ptr<SshSession> session,
                                                     const QByteArray& command,
                                                     const Patience& patience) {
    std::unique_ptr<SshChannel> self(new SshChannel(std::move(session)));
    const SshSession& ssh = *self->m_session;
    const ssh_channel channel = self->m_channel;
    const auto refused = [&](const QString& what) {
        return fail(Error::Code::HostUnusable,
                    QStringLiteral("%1 does not allow %2").arg(patience.label(), what),
                    ssh.errorText());
    };
    if (!channel)
        return refused(QStringLiteral("a session"));
    const auto opened = ssh.await([channel] { return ssh_channel_open_session(channel); },
                                  SSH_AGAIN, QStringLiteral("a session"), patience);
    if (!opened)
        return tl::unexpected<Error>(opened.error());
    if (*opened != SSH_OK)
        return refused(QStringLiteral("a session"));
    const auto started =
        ssh.await([&] { return ssh_channel_request_exec(channel, command.constData()); }, SSH_AGAIN,
                  QStringLiteral("a command to start"), patience);
    if (!started)
        return tl::unexpected<Error>(started.error());
    if (*started != SSH_OK)
        return refused(QStringLiteral("commands to run"));
    return self;
}

Result<std::unique_ptr<SshChannel>> SshChannel::forward(std::unique_ptr<SshSession> jump,
                                                        const QString& jumpName,
                                                        const SshConfig& next,
                                                        const Patience& patience) {
    std::unique_ptr<SshChannel> self(new SshChannel(std::move(jump)));
    const SshSession& ssh = *self->m_session;
    const ssh_channel channel = self->m_channel;
    const QByteArray host = next.hostname.toUtf8();
    const auto opened = ssh.await(
        [&] {
            return channel ? ssh_channel_open_forward(channel, host.constData(), next.port,
                                                      "127.0.0.1", 0)
                           : SSH_ERROR;
        },
        SSH_AGAIN, QStringLiteral("the way through %1").arg(jumpName), patience);
    if (!opened)
        return tl::unexpected<Error>(opened.error());
    if (*opened != SSH_OK)
        return tl::unexpected<Error>(forwardError(jumpName, next, ssh.errorText()));
    return self;
}

bool SshChannel::alive() const {
    return m_channel && m_broken.isEmpty() && ssh_is_connected(m_session->raw());
}

SshChannel::~SshChannel() {
    if (m_channel && m_session) {
        ssh_remove_channel_callbacks(m_channel, &m_callbacks);
        ssh_channel_free(m_channel);
    }
}

void SshChannel::noteSignal(ssh_session, ssh_channel, const char* signal, int, const char*,
                            const char*, void* self) {
    auto* channel = static_cast<SshChannel*>(self);
    channel->m_signal = QString::fromLatin1(signal);
    channel->m_ended = Clock::now();
}

void SshChannel::noteStatus(ssh_session, ssh_channel, int, void* self) {
    static_cast<SshChannel*>(self)->m_ended = Clock::now();
}

/// Its last words may come after the news of its end. A child that it left behind may hold the
/// output open for as long as that likes.
bool SshChannel::endedAWhileAgo() const {
    return m_ended && Clock::now() - *m_ended > kStatusWait;
}

bool SshChannel::flushed() const {
    return (ssh_get_poll_flags(m_session->raw()) & SSH_WRITE_PENDING) == 0;
}

void SshChannel::addPollFds(std::vector<pollfd>& fds, bool) {
    // Bytes that wait for the window need what the host sends: only what libssh holds back itself
    // waits for the socket to take it.
    fds.push_back({m_session->fd(), m_session->events(), 0});
}

void SshChannel::wait(int milliseconds, bool wantWrite) {
    std::vector<pollfd> fds;
    addPollFds(fds, wantWrite);
    ::poll(fds.data(), nfds_t(fds.size()), milliseconds);
}

int SshChannel::readOne(std::string& out, bool fromStderr) {
    std::array<char, 65536> buffer;
    const int got =
        ssh_channel_read_nonblocking(m_channel, buffer.data(), buffer.size(), fromStderr ? 1 : 0);
    if (got > 0)
        out.append(buffer.data(), std::size_t(got));
    return got;
}

Transport::Read SshChannel::read(std::string& out, std::string& diagnostics) {
    if (!m_unread.empty()) {
        out += std::exchange(m_unread, {});
        return Read::Some;
    }
    if (!m_channel)
        return Read::Ended;
    const int said = readOne(out, false);
    const int grumbled = readOne(diagnostics, true);
    if (said > 0 || grumbled > 0)
        return Read::Some;
    if (said == SSH_ERROR || !ssh_is_connected(m_session->raw())) {
        if (m_broken.isEmpty())
            m_broken = m_session->errorText();
        return Read::Ended;
    }
    if (ssh_channel_is_eof(m_channel) || ssh_channel_is_closed(m_channel) || endedAWhileAgo())
        return Read::Ended;
    return Read::Nothing;
}

std::optional<std::size_t> SshChannel::write(std::string_view bytes) {
    if (!m_channel || !ssh_is_connected(m_session->raw()) || !ssh_channel_is_open(m_channel) ||
        ssh_channel_is_eof(m_channel))
        return std::nullopt;
    // What was written before goes first; this also takes in window that the host has opened.
    if (!flushed() && ssh_blocking_flush(m_session->raw(), 0) == SSH_ERROR)
        return std::nullopt;
    const auto size = std::uint32_t(std::min(bytes.size(), kMaxWrite));
    if (!flushed())
        return 0;
    const int taken = ssh_channel_write(m_channel, bytes.data(), size);
    if (taken == SSH_ERROR)
        return std::nullopt;
    if (!flushed())
        ssh_blocking_flush(m_session->raw(), 0);
    return taken > 0 ? std::size_t(taken) : 0;
}

/// Waits until the host has closed the channel. Reading would not do: after the end of the output
/// libssh's read functions take nothing in any more.
void SshChannel::awaitClose(milliseconds limit) {
    const ssh_session session = m_session->raw();
    const std::unique_ptr<ssh_event_struct, void (*)(ssh_event)> event(ssh_event_new(),
                                                                       ssh_event_free);
    if (!event || ssh_event_add_session(event.get(), session) != SSH_OK)
        return;
    const auto until = Clock::now() + limit;
    while (!ssh_channel_is_closed(m_channel) && ssh_is_connected(session)) {
        const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
        if (left.count() <= 0 || ssh_event_dopoll(event.get(), int(left.count())) == SSH_ERROR)
            break;
        std::string ignored;
        while (readOne(ignored, false) > 0 || readOne(ignored, true) > 0)
            ignored.clear();
    }
    ssh_event_remove_session(event.get(), session);
}

QString SshChannel::endReason() {
    if (m_channel && m_broken.isEmpty())
        awaitClose(kStatusWait);
    if (!m_signal.isEmpty())
        return QStringLiteral("the agent was killed by signal %1").arg(m_signal);
    const int status = m_channel ? ssh_channel_get_exit_status(m_channel) : -1;
    if (status >= 0)
        return QStringLiteral("the agent ended with status %1").arg(status);
    if (!m_broken.isEmpty())
        return QStringLiteral("the SSH connection broke: %1").arg(m_broken);
    if (!ssh_is_connected(m_session->raw()))
        return QStringLiteral("the SSH connection ended");
    return QStringLiteral("the agent closed its output");
}

void SshChannel::close(milliseconds limit) {
    if (!m_channel)
        return;
    if (ssh_is_connected(m_session->raw()) && m_broken.isEmpty()) {
        ssh_channel_send_eof(m_channel);
        ssh_blocking_flush(m_session->raw(), 0);
        awaitClose(m_ended ? std::min(limit, kStatusWait) : limit);
    }
    ssh_remove_channel_callbacks(m_channel, &m_callbacks);
    ssh_channel_free(std::exchange(m_channel, nullptr));
    m_session.reset();
}

} // namespace knobscope
