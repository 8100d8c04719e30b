// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/hostgroup.h"

#include "core/run/agentcalls.h"
#include "core/run/trafficsetup.h"

#include <QElapsedTimer>
#include <QThread>

namespace knobscope {

namespace {

/// Logins to one host that are under way at once. A usual sshd drops some beyond ten.
constexpr int kLoginsAtOnce = 6;

using Opened = Result<std::unique_ptr<HostSession>>;

/// Starts one opening; `open` must outlive it.
std::future<Opened> begin(const std::function<Opened(const HostSpec&)>& open,
                          const HostSpec& host) {
    return std::async(std::launch::async, [&open, host] { return open(host); });
}

/// Two entries that turn out to be one machine: it has its knobs and counters only once.
Result<void> refuseTwins(const HostGroup& group, const Experiment& experiment) {
    if (experiment.allLocal())
        return {};
    const QList<HostRef>& hosts = group.hosts();
    for (qsizetype later = 0; later < hosts.size(); ++later) {
        for (qsizetype earlier = 0; earlier < later; ++earlier) {
            const HostSession& one = group.at(hosts[earlier]);
            const HostSession& other = group.at(hosts[later]);
            const std::string& machine = one.hello().machine_id;
            if (machine.empty() || machine != other.hello().machine_id)
                continue;
            const bool pair = hosts[earlier] == Side::Sender && hosts[later] == Side::Receiver;
            QString first = hostName(hosts[earlier]);
            first[0] = first[0].toUpper();
            return fail(Error::Code::BadInput,
                        QStringLiteral("%1 and %2 (%3 and %4) are the same machine")
                            .arg(first, hostName(hosts[later]), one.label(), other.label()),
                        pair ? QStringLiteral("name two machines, or \"local\" for both to test "
                                              "over loopback")
                             : QStringLiteral("name another machine, or \"local\" for all of them "
                                              "to test over loopback"));
        }
    }
    return {};
}

} // namespace

Result<HostGroup> HostGroup::open(const Experiment& experiment, const HostOptions& options,
                                  const CancelToken& cancel, const Opener& opener) {
    HostOptions grouped = options;
    grouped.group = QString::fromStdString(newToken());
    const std::function<Opened(const HostSpec&)> openOne = [&](const HostSpec& host) {
        return opener(host, grouped, cancel);
    };
    HostGroup group;
    group.m_hosts = experiment.hostRefs();
    group.m_instances = experiment.instances();

    std::optional<Error> error;
    const auto take = [&](HostRef host, std::future<Opened>& opening) {
        Opened session = opening.get();
        if (session)
            group.m_agents[host].push_back(std::move(*session));
        else if (!error)
            error = session.error();
    };
    std::vector<std::future<Opened>> openings;
    for (const HostRef host : group.m_hosts)
        openings.push_back(begin(openOne, experiment.host(host)));
    for (qsizetype i = 0; i < group.m_hosts.size(); ++i)
        take(group.m_hosts[i], openings[static_cast<std::size_t>(i)]);
    if (error)
        return tl::unexpected<Error>(*error);
    if (auto distinct = refuseTwins(group, experiment); !distinct)
        return tl::unexpected<Error>(distinct.error());

    // Only now, as the first has brought the agent's program there.
    for (const HostRef host : group.m_hosts) {
        qsizetype missing = experiment.instancesOf(host).size() - 1;
        while (missing > 0 && !error) {
            openings.clear();
            for (; missing > 0 && openings.size() < kLoginsAtOnce; --missing)
                openings.push_back(begin(openOne, experiment.host(host)));
            for (auto& opening : openings)
                take(host, opening);
        }
    }
    if (error)
        return tl::unexpected<Error>(*error);
    return group;
}

HostGroup::~HostGroup() {
    std::vector<std::future<void>> closings;
    try {
        for (auto& [host, agents] : m_agents) {
            for (auto& agent : agents)
                closings.push_back(std::async(std::launch::async, [&agent] { agent.reset(); }));
        }
    } catch (const std::exception&) {
        // No further thread to be had: what is left is closed one by one.
    }
}

HostSession& HostGroup::end(int instance, Side side) const {
    // A side has one host, which then has an agent for each instance, or a host for each.
    const auto only = m_agents.find(HostRef(side));
    if (only != m_agents.end())
        return *only->second.at(static_cast<std::size_t>(instance));
    return at(HostRef(side, instance + 1));
}

std::vector<HostSession*> HostGroup::ends(Side side) const {
    std::vector<HostSession*> all;
    for (int instance = 0; instance < m_instances; ++instance)
        all.push_back(&end(instance, side));
    return all;
}

std::vector<HostSession*> HostGroup::agents(HostRef host) const {
    std::vector<HostSession*> all;
    for (const auto& agent : m_agents.at(host))
        all.push_back(agent.get());
    return all;
}

/// One after the other, so that of two runs that want the same hosts one gets all of them.
Result<void> HostGroup::claim(std::chrono::milliseconds patience, const CancelToken& cancel) {
    QElapsedTimer waited;
    waited.start();
    for (const HostRef host : std::as_const(m_hosts)) {
        for (;;) {
            const auto claimed = agentcalls::claim(at(host), true).get();
            if (claimed)
                break;
            const Error& error = claimed.error();
            if (error.code != Error::Code::HostUnusable || waited.elapsed() >= patience.count())
                return fail(error.code, at(host).label() + QStringLiteral(": ") + error.message,
                            error.detail);
            if (cancel.cancelled())
                return fail(Error::Code::Cancelled, QStringLiteral("Stopped by the user"));
            QThread::msleep(100);
        }
    }
    return {};
}

bool HostGroup::anyLost() const {
    for (const auto& [host, agents] : m_agents) {
        for (const auto& agent : agents) {
            if (agent->lost())
                return true;
        }
    }
    return false;
}

} // namespace knobscope
