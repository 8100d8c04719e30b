// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/tcpconnect.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace knobscope {

namespace {

using std::chrono::milliseconds;

/// Answer of a name lookup; shared with the thread that asks, which may outlive the caller's
/// patience, as getaddrinfo cannot be interrupted.
struct Lookup {
    ~Lookup() {
        if (addresses)
            freeaddrinfo(addresses);
    }
    std::string name;
    std::string port;
    addrinfo hints{};
    std::mutex mutex;
    bool done = false;
    int error = 0;
    addrinfo* addresses = nullptr;
};

int familyOf(const SshConfig& config) {
    if (config.addressFamily == QLatin1String("inet"))
        return AF_INET;
    if (config.addressFamily == QLatin1String("inet6"))
        return AF_INET6;
    return AF_UNSPEC;
}

void ask(const std::shared_ptr<Lookup>& lookup) {
    addrinfo* addresses = nullptr;
    const int error =
        getaddrinfo(lookup->name.c_str(), lookup->port.c_str(), &lookup->hints, &addresses);
    const std::scoped_lock lock(lookup->mutex);
    lookup->error = error;
    lookup->addresses = addresses;
    lookup->done = true;
}

Result<std::shared_ptr<Lookup>> resolve(const QString& name, const SshConfig& config,
                                        const Patience& patience) {
    auto lookup = std::make_shared<Lookup>();
    lookup->name = name.toStdString();
    lookup->port = std::to_string(config.port);
    lookup->hints.ai_family = familyOf(config);
    lookup->hints.ai_socktype = SOCK_STREAM;
    // An address needs no name server, and so no thread.
    lookup->hints.ai_flags = AI_NUMERICHOST;
    ask(lookup);
    if (lookup->error == 0)
        return lookup;
    lookup->done = false;
    lookup->hints.ai_flags = 0;
    std::thread([lookup] { ask(lookup); }).detach();
    for (int step = 1;; step = std::min(step * 2, 20)) {
        {
            const std::scoped_lock lock(lookup->mutex);
            if (lookup->done)
                break;
        }
        if (auto over = patience.over(QStringLiteral("the address of %1").arg(name)))
            return tl::unexpected<Error>(*over);
        ::poll(nullptr, 0, step);
    }
    if (lookup->error != 0)
        return fail(Error::Code::HostUnusable,
                    QStringLiteral("the host name %1 cannot be found").arg(name),
                    QString::fromLocal8Bit(gai_strerror(lookup->error)));
    return lookup;
}

QString numeric(const addrinfo& address) {
    std::array<char, NI_MAXHOST> host{};
    getnameinfo(address.ai_addr, address.ai_addrlen, host.data(), host.size(), nullptr, 0,
                NI_NUMERICHOST);
    return QString::fromLatin1(host.data());
}

Error refusal(const SshConfig& config, const QString& address, int error) {
    const QString where =
        config.name == address
            ? QStringLiteral("%1 port %2").arg(address).arg(config.port)
            : QStringLiteral("%1 (%2 port %3)").arg(config.name, address).arg(config.port);
    const QString words = QString::fromLocal8Bit(std::strerror(error));
    switch (error) {
    case ECONNREFUSED:
        return {Error::Code::HostUnusable, QStringLiteral("%1 refuses the connection").arg(where),
                QStringLiteral("is sshd running there, and is that its port?")};
    case ETIMEDOUT:
        return {Error::Code::HostUnusable, QStringLiteral("%1 does not answer").arg(where),
                QStringLiteral("is it switched on, and does a firewall let ssh pass?")};
    case ENETUNREACH:
    case EHOSTUNREACH:
        return {Error::Code::HostUnusable, QStringLiteral("there is no route to %1").arg(where),
                words};
    default:
        return {Error::Code::HostUnusable, QStringLiteral("cannot connect to %1").arg(where),
                words};
    }
}

void tune(int fd) {
    const auto set = [fd](int level, int option, int value) {
        // Each is an improvement only: the connection works without.
        [[maybe_unused]] const int rc = setsockopt(fd, level, option, &value, sizeof value);
    };
    set(IPPROTO_TCP, TCP_NODELAY, 1);
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, TCP_KEEPIDLE, 5);
    set(IPPROTO_TCP, TCP_KEEPINTVL, 2);
    set(IPPROTO_TCP, TCP_KEEPCNT, 3);
    set(IPPROTO_TCP, TCP_USER_TIMEOUT, 10000);
}

/// BindAddress of ssh_config; errno, or 0.
int bindTo(int fd, const SshConfig& config, int family) {
    addrinfo hints{};
    hints.ai_family = family;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICHOST | AI_PASSIVE;
    addrinfo* own = nullptr;
    if (getaddrinfo(config.bindAddress.toLatin1().constData(), nullptr, &hints, &own) != 0)
        return EADDRNOTAVAIL;
    const int rc = bind(fd, own->ai_addr, own->ai_addrlen) == 0 ? 0 : errno;
    freeaddrinfo(own);
    return rc;
}

/// One address; the error is an errno, or -1 when the patience is over.
tl::expected<Fd, int> tryAddress(const addrinfo& address, const SshConfig& config,
                                 const Patience& patience, milliseconds limit) {
    Fd fd(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid())
        return tl::unexpected<int>(errno);
    tune(fd.get());
    if (!config.bindAddress.isEmpty()) {
        if (const int error = bindTo(fd.get(), config, address.ai_family))
            return tl::unexpected<int>(error);
    }
    if (connect(fd.get(), address.ai_addr, address.ai_addrlen) == 0)
        return fd;
    if (errno != EINPROGRESS)
        return tl::unexpected<int>(errno);
    const auto until = Patience::Clock::now() + limit;
    for (;;) {
        pollfd wait{fd.get(), POLLOUT, 0};
        if (::poll(&wait, 1, std::max(patience.slice(), 1)) > 0)
            break;
        if (patience.token().cancelled())
            return tl::unexpected<int>(-1);
        if (Patience::Clock::now() >= until)
            return tl::unexpected<int>(ETIMEDOUT);
    }
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0)
        return tl::unexpected<int>(error);
    return fd;
}

} // namespace

Result<Fd> connectTcp(const SshConfig& config, const Patience& patience) {
    const auto lookup = resolve(config.hostname, config, patience);
    if (!lookup)
        return tl::unexpected<Error>(lookup.error());
    int count = 0;
    for (const addrinfo* a = (*lookup)->addresses; a; a = a->ai_next)
        ++count;
    std::optional<Error> first;
    for (const addrinfo* a = (*lookup)->addresses; a; a = a->ai_next, --count) {
        // An address that swallows everything must leave time for the next.
        auto fd = tryAddress(*a, config, patience, patience.left() / count);
        if (fd)
            return std::move(*fd);
        if (fd.error() < 0)
            return tl::unexpected<Error>(
                patience.over({}).value_or(Error{Error::Code::Cancelled, {}}));
        if (!first)
            first = refusal(config, numeric(*a), fd.error());
    }
    return tl::unexpected<Error>(first.value_or(
        Error{Error::Code::HostUnusable,
              QStringLiteral("the host name %1 has no address").arg(config.hostname)}));
}

} // namespace knobscope
