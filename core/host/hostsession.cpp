// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/hostsession.h"

#include "core/host/agentsession.h"
#include "core/host/approach.h"
#include "core/host/bootstrap.h"
#include "core/host/pipetransport.h"
#include "core/host/savedhosts.h"
#include "core/host/sigpipeguard.h"
#include "core/host/sshconnect.h"

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

/// Where ssh is to go: to the saved host of that name, or where the name itself says.
Result<SshTarget> targetOf(const HostSpec& host, const std::optional<SavedHost>& saved) {
    if (!saved)
        return SshTarget::parse(host.ssh);
    return SshTarget{saved->ssh, saved->user, saved->port, saved->key, saved->jump};
}

Result<std::unique_ptr<Transport>>
startRemote(const HostSpec& host, const std::optional<SavedHost>& saved, Approach& approach) {
    const auto target = targetOf(host, saved);
    if (!target)
        return tl::unexpected<Error>(target.error());
    const auto agents = findAgents();
    if (!agents)
        return tl::unexpected<Error>(agents.error());
    const HostOptions& options = approach.options;
    const Patience patience(host.label(), options.connectTimeout, approach.cancel);
    const auto route = SshRoute::resolve(*target, options.sshConfig, patience);
    if (!route)
        return tl::unexpected<Error>(route.error());
    approach.steps.done(route->text());
    auto session = connectSsh(*route, approach);
    if (!session)
        return tl::unexpected<Error>(session.error());
    return startRemoteAgent(std::move(*session), *agents, route->host(), approach,
                            Patience(host.label(), options.connectTimeout, approach.cancel));
}

Result<std::unique_ptr<HostSession>>
openSession(const HostSpec& host, const std::optional<SavedHost>& saved, Approach& approach) {
    HostSteps& steps = approach.steps;
    auto transport = host.local ? startLocal() : startRemote(host, saved, approach);
    if (!transport)
        return tl::unexpected<Error>(transport.error());
    steps.start(HostStep::Kind::Hello, host.label());
    auto session =
        AgentSession::greet(std::move(*transport), host.label(), approach.options, approach.cancel);
    if (!session)
        return session;
    const protocol::HelloResult& hello = (*session)->hello();
    steps.done(QStringLiteral("version %1 on %2, kernel %3")
                   .arg(QString::fromStdString(hello.version), QString::fromStdString(hello.arch),
                        QString::fromStdString(hello.kernel)));
    if (!steps.has(HostStep::Kind::Rights)) {
        steps.start(HostStep::Kind::Rights, host.label());
        if (hello.uid == 0)
            steps.done(QStringLiteral("root"));
        else
            steps.skipped(QStringLiteral("runs without root's rights: host knobs cannot be set"),
                          host.local ? QStringLiteral("start the program as root")
                                     : QStringLiteral("log in as root, or let it use sudo there"));
    }
    return session;
}

} // namespace

Result<std::unique_ptr<HostSession>> HostSession::open(const HostSpec& host,
                                                       const HostOptions& options,
                                                       const CancelToken& cancel,
                                                       HostSteps* steps) {
    const SigpipeGuard noSigpipe;
    if (cancel.cancelled())
        return fail(Error::Code::Cancelled,
                    QStringLiteral("connecting to %1 was cancelled").arg(host.label()));
    HostSteps unread;
    HostSteps& told = steps ? *steps : unread;
    HostOptions own = options;
    std::optional<SavedHost> saved;
    if (!host.local) {
        told.start(HostStep::Kind::Resolve, host.label());
        const auto found = findSavedHost(options.savedHosts, host.ssh);
        if (!found) {
            told.failed(found.error());
            return tl::unexpected<Error>(found.error());
        }
        saved = *found;
    }
    if (saved && saved->sudo)
        own.sudo = *saved->sudo;
    Approach approach(own, cancel, told);
    auto session = openSession(host, saved, approach);
    if (!session && session.error().code == Error::Code::Cancelled)
        approach.steps.skipped(QStringLiteral("stopped by the user"));
    else if (!session)
        approach.steps.failed(session.error());
    return session;
}

} // namespace knobscope
