// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/keyagent.h"

#include <QFile>
#include <QtEndian>

#include <array>
#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace knobscope {

namespace {

// Of draft-miller-ssh-agent.
constexpr char kFailure = 5;
constexpr char kRequestIdentities = 11;
constexpr char kIdentitiesAnswer = 12;
constexpr char kSignRequest = 13;
constexpr quint32 kMaxMessage = 256 * 1024;

QByteArray u32(quint32 value) {
    QByteArray bytes(4, '\0');
    qToBigEndian(value, bytes.data());
    return bytes;
}

/// Takes a length and that many bytes from the front; nothing when there is less.
std::optional<QByteArray> takeString(QByteArrayView& from) {
    if (from.size() < 4)
        return std::nullopt;
    const auto length = qsizetype(qFromBigEndian<quint32>(from.data()));
    if (from.size() - 4 < length)
        return std::nullopt;
    const QByteArray taken = from.sliced(4, length).toByteArray();
    from = from.sliced(4 + length);
    return taken;
}

bool over(const Patience& patience, const std::atomic<bool>* stop) {
    return (stop && stop->load()) || patience.over({}).has_value();
}

bool sendAll(int fd, const QByteArray& bytes, const Patience& patience,
             const std::atomic<bool>* stop) {
    qsizetype sent = 0;
    while (sent < bytes.size()) {
        const ssize_t n =
            send(fd, bytes.data() + sent, size_t(bytes.size() - sent), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            sent += n;
            continue;
        }
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        if (over(patience, stop))
            return false;
        pollfd wait{fd, POLLOUT, 0};
        ::poll(&wait, 1, patience.slice());
    }
    return true;
}

std::optional<QByteArray> receive(int fd, qsizetype size, const Patience& patience,
                                  const std::atomic<bool>* stop) {
    QByteArray bytes(size, '\0');
    qsizetype got = 0;
    while (got < size) {
        const ssize_t n = recv(fd, bytes.data() + got, size_t(size - got), MSG_DONTWAIT);
        if (n > 0) {
            got += n;
            continue;
        }
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            return std::nullopt;
        if (over(patience, stop))
            return std::nullopt;
        pollfd wait{fd, POLLIN, 0};
        ::poll(&wait, 1, patience.slice());
    }
    return bytes;
}

std::optional<QByteArray> receiveMessage(int fd, const Patience& patience,
                                         const std::atomic<bool>* stop) {
    const auto head = receive(fd, 4, patience, stop);
    if (!head)
        return std::nullopt;
    const auto length = qFromBigEndian<quint32>(head->constData());
    if (length == 0 || length > kMaxMessage)
        return std::nullopt;
    return receive(fd, qsizetype(length), patience, stop);
}

tl::unexpected<Error> agentFailed(const QString& why) {
    return fail(Error::Code::BadInput, QStringLiteral("the ssh-agent does not answer"), why);
}

} // namespace

Result<KeyAgent> KeyAgent::connect(const QString& path, const Patience& patience) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const QByteArray name = QFile::encodeName(path);
    if (name.isEmpty() || size_t(name.size()) >= sizeof address.sun_path)
        return agentFailed(QStringLiteral("no usable socket"));
    std::memcpy(address.sun_path, name.constData(), size_t(name.size()));
    KeyAgent agent;
    agent.m_socket = Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const auto* raw = reinterpret_cast<const sockaddr*>(&address);
    // A full backlog says EAGAIN: try until the patience ends.
    while (::connect(agent.m_socket.get(), raw, sizeof address) != 0) {
        if (errno != EAGAIN || over(patience, nullptr))
            return agentFailed(
                QStringLiteral("%1: %2").arg(path, QString::fromLocal8Bit(std::strerror(errno))));
        ::poll(nullptr, 0, patience.slice());
    }
    return agent;
}

Result<QByteArray> KeyAgent::exchange(const QByteArray& request, const Patience& patience,
                                      const std::atomic<bool>* stop) const {
    const int fd = m_socket.get();
    if (!sendAll(fd, u32(quint32(request.size())) + request, patience, stop))
        return agentFailed({});
    auto answer = receiveMessage(fd, patience, stop);
    if (!answer)
        return agentFailed({});
    return std::move(*answer);
}

Result<QList<AgentKey>> KeyAgent::keys(const Patience& patience) const {
    const auto answer = exchange(QByteArray(1, kRequestIdentities), patience);
    if (!answer)
        return tl::unexpected<Error>(answer.error());
    QByteArrayView rest(*answer);
    if (rest.size() < 5 || rest[0] != kIdentitiesAnswer)
        return agentFailed(QStringLiteral("it does not list its keys"));
    const auto count = qFromBigEndian<quint32>(rest.data() + 1);
    rest = rest.sliced(5);
    QList<AgentKey> keys;
    for (quint32 i = 0; i < count; ++i) {
        const auto blob = takeString(rest);
        const auto comment = takeString(rest);
        if (!blob || !comment)
            return agentFailed(QStringLiteral("its list of keys is cut short"));
        keys << AgentKey{*blob, QString::fromUtf8(*comment)};
    }
    return keys;
}

KeyAgentFilter::KeyAgentFilter(KeyAgent agent, Patience patience)
    : m_agent(std::move(agent)), m_patience(std::move(patience)) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return;
    m_client = Fd(ends[0]);
    m_server = Fd(ends[1]);
    m_thread = std::thread([this] { serve(); });
}

KeyAgentFilter::~KeyAgentFilter() {
    m_stop = true;
    if (m_thread.joinable())
        m_thread.join();
}

void KeyAgentFilter::show(const AgentKey& key) {
    const std::scoped_lock lock(m_mutex);
    m_shown = key;
}

void KeyAgentFilter::serve() {
    const int fd = m_server.get();
    for (;;) {
        // Between its questions libssh may take as long as the user does.
        pollfd wait{fd, POLLIN, 0};
        while (::poll(&wait, 1, 20) == 0 && !m_stop) {
        }
        m_patience.renew();
        const auto request = receiveMessage(fd, m_patience, &m_stop);
        bool failed = !request;
        const QByteArray said = request ? answer(*request, failed) : QByteArray();
        if (failed || !sendAll(fd, u32(quint32(said.size())) + said, m_patience, &m_stop))
            break;
    }
    // libssh, waiting for an answer, sees the end of the stream.
    shutdown(fd, SHUT_RDWR);
}

QByteArray KeyAgentFilter::answer(const QByteArray& request, bool& failed) {
    AgentKey shown;
    {
        const std::scoped_lock lock(m_mutex);
        shown = m_shown;
    }
    const auto field = [](const QByteArray& bytes) { return u32(quint32(bytes.size())) + bytes; };
    if (request.at(0) == kRequestIdentities)
        return QByteArray(1, kIdentitiesAnswer) + u32(1) + field(shown.blob) +
               field(shown.comment.toUtf8());
    if (request.at(0) != kSignRequest)
        return QByteArray(1, kFailure);
    QByteArray asked = request;
    QByteArrayView rest(asked);
    rest = rest.sliced(1);
    if (!shown.heldAs.isEmpty() && takeString(rest) == shown.blob)
        asked = QByteArray(1, kSignRequest) + field(shown.heldAs) + rest.toByteArray();
    auto signature = m_agent.exchange(asked, m_patience, &m_stop);
    failed = !signature;
    return signature ? *signature : QByteArray();
}

} // namespace knobscope
