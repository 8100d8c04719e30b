// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/hostsession.h"
#include "core/model/experiment.h"

#include <map>
#include <vector>

namespace knobscope {

/// All hosts of an experiment with living agents. The first agent of a host holds it, sets its
/// knobs and reads its counters. An agent moves the traffic of one instance of the test at a time,
/// so a host that takes part in several has a further agent for each, which does nothing else; all
/// are of one group and share the host. Used from one thread at a time.
class HostGroup {
public:
    using Opener = std::function<Result<std::unique_ptr<HostSession>>(
        const HostSpec&, const HostOptions&, const CancelToken&)>;

    /// Opens all hosts at once, then the further agents. When several fail, the error is that of
    /// the first in the order of hosts(). Two names of one machine are BadInput unless all hosts
    /// are this computer. `opener` is called from several threads.
    static Result<HostGroup> open(const Experiment& experiment, const HostOptions& options,
                                  const CancelToken& cancel, const Opener& opener = openSession);
    HostGroup(HostGroup&&) noexcept = default;
    HostGroup& operator=(HostGroup&&) = delete;
    ~HostGroup(); ///< closes all links at once, as a lost one takes its time

    /// Senders first.
    [[nodiscard]] const QList<HostRef>& hosts() const { return m_hosts; }
    /// The agent that has the host.
    [[nodiscard]] HostSession& at(HostRef host) const { return *m_agents.at(host).front(); }
    [[nodiscard]] int instances() const { return m_instances; }
    /// The agent that moves the traffic at one end of an instance.
    [[nodiscard]] HostSession& end(int instance, Side side) const;
    /// Every agent at that side, in the order of the instances.
    [[nodiscard]] std::vector<HostSession*> ends(Side side) const;
    /// Every agent of a host.
    [[nodiscard]] std::vector<HostSession*> agents(HostRef host) const;

    /// Holds all hosts for this run, so that no other disturbs it. While another has one, which
    /// may be a dead run's guardian on its way out, it waits up to `patience`; then HostUnusable.
    Result<void> claim(std::chrono::milliseconds patience, const CancelToken& cancel);
    /// Whether contact with any agent is lost.
    [[nodiscard]] bool anyLost() const;

private:
    static Result<std::unique_ptr<HostSession>>
    openSession(const HostSpec& host, const HostOptions& options, const CancelToken& cancel) {
        return HostSession::open(host, options, cancel);
    }
    using Agents = std::vector<std::unique_ptr<HostSession>>;
    HostGroup() = default;

    QList<HostRef> m_hosts;
    std::map<HostRef, Agents> m_agents;
    int m_instances = 1;
};

} // namespace knobscope
