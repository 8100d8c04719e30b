// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/hostsession.h"

#include "core/host/agentsession.h"
#include "core/host/bootstrap.h"
#include "core/host/pipetransport.h"
#include "core/host/sigpipeguard.h"
#include "core/host/sshauth.h"
#include "core/host/tcpconnect.h"

#include <sys/utsname.h>

namespace knobscope {

namespace {

Result<std::unique_ptr<Transport>> startLocal() {
    utsname system{};
    uname(&system);
    const auto path = agentPathFor(QString::fromLatin1(system.machine));
    if (!path)
        return tl::unexpected<Error>(path.error());
    auto pipe = PipeTransport::start(*path);
    if (!pipe)
        return tl::unexpected<Error>(pipe.error());
    return std::unique_ptr<Transport>(std::move(*pipe));
}

Result<void> refuseDetours(const SshConfig& config) {
    const auto refuse = [&config](const char* option, const QString& value) {
        return fail(Error::Code::HostUnusable,
                    QStringLiteral("%1 is configured to be reached through another program or host")
                        .arg(config.name),
                    QStringLiteral("%1 %2 in the ssh configuration: only direct connections are "
                                   "possible")
                        .arg(QString::fromLatin1(option), value));
    };
    if (!config.proxyJump.isEmpty())
        return refuse("ProxyJump", config.proxyJump);
    if (!config.proxyCommand.isEmpty())
        return refuse("ProxyCommand", config.proxyCommand);
    return {};
}

Patience patienceFor(const QString& label, const SshConfig& config, const HostOptions& options,
                     const CancelToken& cancel) {
    std::chrono::milliseconds limit = options.connectTimeout;
    if (config.connectTimeoutSeconds > 0)
        limit = std::min<std::chrono::milliseconds>(
            limit, std::chrono::seconds(config.connectTimeoutSeconds));
    return Patience(label, limit, cancel);
}

Result<std::unique_ptr<SshSession>> logIn(const SshConfig& config, const HostOptions& options,
                                          const Patience& patience) {
    const auto known = loadKnownHosts(config);
    if (!known)
        return tl::unexpected<Error>(known.error());
    auto socket = connectTcp(config, patience);
    if (!socket)
        return tl::unexpected<Error>(socket.error());
    auto session = SshSession::handshake(std::move(*socket), config, *known, patience);
    if (!session)
        return session;
    if (auto good = checkHostKey(**session, config, *known, options.acceptNewHostKeys); !good)
        return tl::unexpected<Error>(good.error());
    if (auto in = authenticate(**session, config, patience); !in)
        return tl::unexpected<Error>(in.error());
    return session;
}

Result<std::unique_ptr<Transport>> startRemote(const HostSpec& host, const HostOptions& options,
                                               const CancelToken& cancel) {
    const auto target = SshTarget::parse(host.ssh);
    if (!target)
        return tl::unexpected<Error>(target.error());
    const auto agents = findAgents();
    if (!agents)
        return tl::unexpected<Error>(agents.error());
    const auto config = SshConfig::resolve(*target, options.sshConfig,
                                           Patience(host.label(), options.connectTimeout, cancel));
    if (!config)
        return tl::unexpected<Error>(config.error());
    if (auto direct = refuseDetours(*config); !direct)
        return tl::unexpected<Error>(direct.error());
    auto session = logIn(*config, options, patienceFor(host.label(), *config, options, cancel));
    if (!session)
        return tl::unexpected<Error>(session.error());
    return startRemoteAgent(std::move(*session), *agents,
                            Patience(host.label(), options.connectTimeout, cancel));
}

} // namespace

Result<std::unique_ptr<HostSession>>
HostSession::open(const HostSpec& host, const HostOptions& options, const CancelToken& cancel) {
    const SigpipeGuard noSigpipe;
    if (cancel.cancelled())
        return fail(Error::Code::Cancelled,
                    QStringLiteral("connecting to %1 was cancelled").arg(host.label()));
    auto transport = host.local ? startLocal() : startRemote(host, options, cancel);
    if (!transport)
        return tl::unexpected<Error>(transport.error());
    return AgentSession::greet(std::move(*transport), host.label(), options, cancel);
}

} // namespace knobscope
