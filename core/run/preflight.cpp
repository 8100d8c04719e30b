// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/preflight.h"

#include "core/model/experimentfile.h"
#include "core/run/hostchecks.h"
#include "core/run/knobchecks.h"
#include "core/run/pathchecks.h"

namespace knobscope {

namespace {

/// For the guardian of a run that died just now; a living run is not waited for.
constexpr std::chrono::seconds kWaitForOthers{3};

void checkOpenHosts(CheckLog& log, const Experiment& experiment, HostGroup& hosts,
                    const CancelToken& cancel) {
    bool places = true;
    for (const HostRef host : hosts.hosts()) {
        checkAgent(log, hosts.at(host), experiment, host);
        if (!experiment.host(host).local)
            checkClock(log, hosts.at(host));
        places = checkPlace(log, hosts.at(host), experiment, host) && places;
    }
    if (!places || !log.report().passed())
        return;
    for (const HostRef host : hosts.hosts())
        checkKnobs(log, hosts.at(host), experiment, host, cancel);
    restoreKnobs(log, hosts);
    if (!log.report().passedButRefusals() || cancel.cancelled())
        return;
    // Putting back let go of the hosts.
    if (const auto held = hosts.claim(kWaitForOthers, cancel); !held) {
        log.failed({}, QStringLiteral("Hosts"), held.error());
        return;
    }
    checkConnections(log, experiment, hosts, cancel);
    if (log.report().passedButRefusals())
        checkPacketSizes(log, experiment, hosts, cancel);
    restoreKnobs(log, hosts);
}

} // namespace

PreflightReport preflight(const Experiment& experiment, const HostOptions& options,
                          const CancelToken& cancel) {
    CheckLog log;
    if (const auto good = checkExperiment(experiment); !good) {
        log.failed({}, QStringLiteral("Experiment"), good.error());
        return log.report();
    }
    HostOptions named = options;
    named.run = QStringLiteral("%1 (preflight)").arg(experiment.name);
    auto hosts = HostGroup::open(experiment, named, cancel);
    if (!hosts) {
        log.failed({}, QStringLiteral("Hosts"), hosts.error());
        return log.report();
    }
    if (const auto held = hosts->claim(kWaitForOthers, cancel); !held) {
        log.failed({}, QStringLiteral("Hosts"), held.error());
        return log.report();
    }
    checkOpenHosts(log, experiment, *hosts, cancel);
    if (cancel.cancelled())
        log.failed({}, QStringLiteral("Stopped"),
                   QStringLiteral("The checks were stopped before the end"), ExitStatus::Cancelled);
    return log.report();
}

PreflightReport checkHost(const HostSpec& host, const HostOptions& options,
                          const CancelToken& cancel) {
    Experiment experiment;
    experiment.sender = host;
    CheckLog log;
    HostSteps steps;
    const auto session = HostSession::open(host, options, cancel, &steps);
    checkSteps(log, host.label(), steps, session ? std::nullopt : std::optional(session.error()));
    if (!session)
        return log.report();
    checkAgent(log, **session, experiment, Side::Sender);
    if (!host.local)
        checkClock(log, **session);
    checkFree(log, **session);
    (void)checkPlace(log, **session, experiment, Side::Sender);
    return log.report();
}

} // namespace knobscope
