// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/sshconnect.h"

#include "core/host/proxycommand.h"
#include "core/host/sshauth.h"
#include "core/host/sshrelay.h"
#include "core/host/tcpconnect.h"

namespace knobscope {

namespace {

using Session = Result<std::unique_ptr<SshSession>>;

Patience patienceFor(const SshConfig& config, const Approach& approach) {
    std::chrono::milliseconds limit = approach.options.connectTimeout;
    if (config.connectTimeoutSeconds > 0)
        limit = std::min<std::chrono::milliseconds>(
            limit, std::chrono::seconds(config.connectTimeoutSeconds));
    return {config.name, limit, approach.cancel};
}

/// An account that was refused several times is given a rest; cancellable.
Result<void> waitAfterFailures(const SshConfig& config, Approach& approach) {
    const auto pause = approach.options.logins->wait(config.account());
    const Patience patience(config.name, pause, approach.cancel);
    while (patience.left().count() > 0) {
        ::poll(nullptr, 0, patience.slice());
        if (approach.cancel.cancelled())
            return tl::unexpected<Error>(*patience.over({}));
    }
    approach.steps.discount(pause);
    return {};
}

/// What carries the connection to the hop; `before` is the session with the hop before.
Result<Underlay> reach(const SshConfig& config, const SshConfig* jump,
                       std::unique_ptr<SshSession> before, const Patience& patience) {
    if (jump)
        return SshRelay::open(std::move(before), jump->name, config, patience);
    if (!config.proxyCommand.isEmpty())
        return ProxyCommand::start(config);
    auto socket = connectTcp(config, patience);
    if (!socket)
        return tl::unexpected<Error>(socket.error());
    return Underlay{std::move(*socket), nullptr};
}

QString wayText(const SshConfig& config, const SshConfig* jump) {
    QString text = QStringLiteral("%1 port %2").arg(config.hostname).arg(config.port);
    if (jump)
        text += QStringLiteral(", through %1").arg(jump->name);
    else if (!config.proxyCommand.isEmpty())
        text += QStringLiteral(", by its ProxyCommand");
    return text;
}

Session connectHop(const SshConfig& config, const SshConfig* jump,
                   std::unique_ptr<SshSession> before, Approach& approach) {
    HostSteps& steps = approach.steps;
    steps.start(HostStep::Kind::Connect, config.name);
    if (auto rested = waitAfterFailures(config, approach); !rested)
        return tl::unexpected<Error>(rested.error());
    Patience patience = patienceFor(config, approach);
    const auto known = loadKnownHosts(config);
    if (!known)
        return tl::unexpected<Error>(known.error());
    auto underlay = reach(config, jump, std::move(before), patience);
    if (!underlay)
        return tl::unexpected<Error>(underlay.error());
    auto session = SshSession::handshake(std::move(*underlay), config, *known, patience);
    if (!session)
        return session;
    steps.done(wayText(config, jump));

    steps.start(HostStep::Kind::HostKey, config.name);
    const auto key = checkHostKey(**session, config, *known, approach, patience);
    if (!key)
        return tl::unexpected<Error>(key.error());
    steps.done(*key);

    steps.start(HostStep::Kind::Login, config.name);
    const auto how = authenticate(**session, config, approach, patience);
    if (!how) {
        if (how.error().code == Error::Code::HostUnusable)
            approach.options.logins->failed(config.account());
        return tl::unexpected<Error>(how.error());
    }
    approach.options.logins->succeeded(config.account());
    steps.done(QStringLiteral("as %1, %2").arg(config.user, *how));
    return session;
}

} // namespace

Session connectSsh(const SshRoute& route, Approach& approach) {
    std::unique_ptr<SshSession> session;
    const SshConfig* jump = nullptr;
    for (const SshConfig& hop : route.hops) {
        auto next = connectHop(hop, jump, std::move(session), approach);
        if (!next) {
            Error error = next.error();
            if (&hop != &route.hops.last() && error.code != Error::Code::Cancelled)
                error.detail = QStringLiteral("%1; %2 is a jump host on the way to %3")
                                   .arg(error.detail, hop.name, route.host().name);
            return tl::unexpected<Error>(std::move(error));
        }
        session = std::move(*next);
        jump = &hop;
    }
    return session;
}

} // namespace knobscope
