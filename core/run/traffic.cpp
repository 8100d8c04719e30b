// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/traffic.h"

#include "core/run/agentcalls.h"
#include "core/run/trafficsetup.h"

namespace knobscope {

namespace {
using namespace std::chrono_literals;

/// How surely an error is a cause rather than a consequence: lost contact before anything else, and
/// last an end that was only told to stop because another failed.
int weightOf(const Error& error) {
    switch (error.code) {
    case Error::Code::LinkLost:
        return 3;
    case Error::Code::Cancelled:
        return 1;
    default:
        return 2;
    }
}

/// Takes in errors and keeps the one that is the cause; of equals the first.
class Cause {
public:
    void note(const HostSession& host, const Error& error) {
        if (m_error && weightOf(*m_error) >= weightOf(error))
            return;
        m_error = error;
        m_error->message = QStringLiteral("%1: %2").arg(host.label(), error.message);
    }
    [[nodiscard]] bool found() const { return m_error.has_value(); }
    [[nodiscard]] Result<void> result() const {
        return m_error ? Result<void>(tl::unexpected<Error>(*m_error)) : Result<void>();
    }

private:
    std::optional<Error> m_error;
};

protocol::PrepareParams serverParams(const Experiment& experiment, const Cell& cell, int instance) {
    const HostRef receiver = experiment.endOf(instance, Side::Receiver);
    protocol::PrepareParams server;
    server.role = "server";
    server.token = newToken();
    server.address = experiment.host(receiver).address.toStdString();
    server.peer_address =
        experiment.host(experiment.endOf(instance, Side::Sender)).address.toStdString();
    server.config = trafficConfig(experiment, cell, receiver);
    return server;
}

/// Answers to one question, each with the agent that was asked.
template<typename T>
using Answers = std::vector<std::pair<HostSession*, Pending<T>>>;

/// One side at a time: the receivers first, so that their clocks run before the first byte arrives.
/// All of a side are asked before the first answer is waited for.
Result<void> startTraffic(HostGroup& hosts) {
    for (const Side side : {Side::Receiver, Side::Sender}) {
        Answers<Json> answers;
        for (HostSession* end : hosts.ends(side))
            answers.emplace_back(end, agentcalls::startTraffic(*end));
        Cause cause;
        for (auto& [end, answer] : answers) {
            if (const auto started = answer.get(); !started)
                cause.note(*end, started.error());
        }
        if (cause.found())
            return cause.result();
    }
    return {};
}

tl::unexpected<Error> stopped() {
    return fail(Error::Code::Cancelled, QStringLiteral("Stopped by the user"));
}

/// The results of all ends, senders of all instances first. Waits for every one of them, after the
/// first failure with the traffic cancelled.
class Results {
public:
    Results(HostGroup& hosts, double seconds) : m_hosts(hosts) {
        for (const Side side : {Side::Sender, Side::Receiver}) {
            for (HostSession* end : hosts.ends(side))
                m_answers.emplace_back(end, agentcalls::trafficResult(*end, seconds));
        }
        m_results.resize(m_answers.size());
    }

    Result<std::vector<InstanceResult>> wait(const CancelToken& cancel) {
        bool stopping = false;
        for (std::size_t missing = m_answers.size(); missing > 0;) {
            bool failed = cancel.cancelled();
            missing = takeReady(failed);
            if (failed && !stopping) {
                stopping = true;
                cancelTraffic(m_hosts);
            }
        }
        if (cancel.cancelled())
            return stopped();
        Cause cause;
        for (std::size_t i = 0; i < m_results.size(); ++i) {
            if (!*m_results[i])
                cause.note(*m_answers[i].first, m_results[i]->error());
        }
        if (cause.found())
            return tl::unexpected<Error>(cause.result().error());
        return paired();
    }

private:
    /// Takes what has come, after waiting a moment for the first that has not. Returns how many are
    /// still missing.
    std::size_t takeReady(bool& failed) {
        std::chrono::milliseconds patience = 10ms;
        std::size_t missing = 0;
        for (std::size_t i = 0; i < m_answers.size(); ++i) {
            if (!m_results[i]) {
                if (m_answers[i].second.ready(patience))
                    m_results[i] = m_answers[i].second.get();
                else
                    ++missing;
                patience = 0ms;
            }
            failed = failed || (m_results[i] && !*m_results[i]);
        }
        return missing;
    }

    std::vector<InstanceResult> paired() {
        const std::size_t count = m_results.size() / 2;
        std::vector<InstanceResult> instances(count);
        for (std::size_t i = 0; i < count; ++i) {
            instances[i].sender = std::move(**m_results[i]);
            instances[i].receiver = std::move(**m_results[count + i]);
        }
        return instances;
    }

    HostGroup& m_hosts;
    Answers<protocol::TrafficResult> m_answers;
    std::vector<std::optional<Result<protocol::TrafficResult>>> m_results;
};

} // namespace

Result<void> prepareTraffic(const Experiment& experiment, const Cell& cell, HostGroup& hosts) {
    std::vector<protocol::PrepareParams> params;
    Answers<protocol::PrepareResult> listening;
    for (int instance = 0; instance < hosts.instances(); ++instance) {
        HostSession& end = hosts.end(instance, Side::Receiver);
        params.push_back(serverParams(experiment, cell, instance));
        listening.emplace_back(&end, agentcalls::prepareTraffic(end, params.back()));
    }
    Cause cause;
    for (std::size_t i = 0; i < listening.size(); ++i) {
        const auto answer = listening[i].second.get();
        if (answer)
            params[i].port = answer->port;
        else
            cause.note(*listening[i].first, answer.error());
    }
    if (cause.found())
        return cause.result();

    Answers<protocol::PrepareResult> connected;
    for (int instance = 0; instance < hosts.instances(); ++instance) {
        protocol::PrepareParams& client = params[static_cast<std::size_t>(instance)];
        client.role = "client";
        std::swap(client.address, client.peer_address);
        client.config = trafficConfig(experiment, cell, experiment.endOf(instance, Side::Sender));
        HostSession& end = hosts.end(instance, Side::Sender);
        connected.emplace_back(&end, agentcalls::prepareTraffic(end, client));
    }
    for (auto& [end, pending] : connected) {
        if (const auto answer = pending.get(); !answer)
            cause.note(*end, answer.error());
    }
    return cause.result();
}

void cancelTraffic(HostGroup& hosts) {
    std::vector<Pending<Json>> pending;
    for (const Side side : {Side::Sender, Side::Receiver}) {
        for (HostSession* end : hosts.ends(side)) {
            if (!end->lost())
                pending.push_back(agentcalls::cancelTraffic(*end));
        }
    }
    // Whether the other ends still hear it does not change the outcome.
    for (auto& answer : pending)
        (void)answer.get();
}

Result<std::vector<InstanceResult>> transferTraffic(const Experiment& experiment, const Cell& cell,
                                                    HostGroup& hosts, const CancelToken& cancel) {
    if (cancel.cancelled())
        return stopped();
    Result<void> begun = prepareTraffic(experiment, cell, hosts);
    if (begun)
        begun = startTraffic(hosts);
    if (!begun) {
        cancelTraffic(hosts);
        return tl::unexpected<Error>(begun.error());
    }
    return Results(hosts, experiment.test.seconds + experiment.test.warmupSeconds).wait(cancel);
}

} // namespace knobscope
