// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/samplerunner.h"

#include "core/run/agentcalls.h"
#include "core/run/trafficsetup.h"

#include <array>

namespace knobscope {

namespace {
using namespace std::chrono_literals;

tl::unexpected<Error> failAt(const HostSession& host, Error error) {
    error.message = QStringLiteral("%1: %2").arg(host.label(), error.message);
    return tl::unexpected<Error>(std::move(error));
}

std::optional<QString> optionalText(const std::optional<std::string>& text) {
    return text ? std::optional<QString>(QString::fromStdString(*text)) : std::nullopt;
}

KnobState knobState(Side side, const protocol::KnobOutcome& outcome) {
    return KnobState{side,
                     QString::fromStdString(outcome.name),
                     QString::fromStdString(outcome.requested),
                     optionalText(outcome.accepted),
                     optionalText(outcome.original),
                     QString::fromStdString(outcome.status),
                     QString::fromStdString(outcome.error)};
}

/// Notes the outcome on the record. A rejected knob ends the sample: it would be measured with
/// another setting than it says.
Result<void> noteOutcome(SampleRecord& record, const HostSession& host, const KnobState& state) {
    record.knobs.append(state);
    if (state.status == QLatin1String("rejected") || !state.accepted)
        return fail(Error::Code::Knob,
                    QStringLiteral("%1: %2 does not take %3")
                        .arg(host.label(), state.knob, state.requested),
                    state.error);
    if (state.status == QLatin1String("adjusted"))
        record.flags.append(
            QStringLiteral("%1: %2 requested %3, host took %4")
                .arg(sideName(state.side), state.knob, state.requested, *state.accepted));
    return {};
}

using TrafficResults = std::array<std::optional<Result<protocol::TrafficResult>>, 2>;

/// Which side's error is the cause when both have one: lost contact before anything else, and a
/// side that was only told to stop because the other failed after all.
std::optional<std::size_t> failedSide(const TrafficResults& results) {
    std::optional<std::size_t> cause;
    int worst = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i]->has_value())
            continue;
        const Error::Code code = results[i]->error().code;
        const int weight = code == Error::Code::LinkLost    ? 3
                           : code == Error::Code::Cancelled ? 1
                                                            : 2;
        if (weight > worst) {
            worst = weight;
            cause = i;
        }
    }
    return cause;
}
} // namespace

Result<void> prepareTraffic(const Experiment& experiment, const Cell& cell, HostPair& hosts) {
    protocol::PrepareParams server;
    server.role = "server";
    server.token = newToken();
    server.address = experiment.receiver.address.toStdString();
    server.peer_address = experiment.sender.address.toStdString();
    server.config = trafficConfig(experiment, cell, Side::Receiver);
    const auto listening = agentcalls::prepareTraffic(hosts.at(Side::Receiver), server).get();
    if (!listening)
        return failAt(hosts.at(Side::Receiver), listening.error());

    protocol::PrepareParams client = server;
    client.role = "client";
    std::swap(client.address, client.peer_address);
    client.port = listening->port;
    client.config = trafficConfig(experiment, cell, Side::Sender);
    const auto connected = agentcalls::prepareTraffic(hosts.at(Side::Sender), client).get();
    if (!connected)
        return failAt(hosts.at(Side::Sender), connected.error());
    return {};
}

SampleRunner::SampleRunner(const Experiment& experiment, HostPair& hosts, const CancelToken& cancel,
                           Listener listener)
    : m_experiment(experiment), m_hosts(hosts), m_cancel(cancel), m_listener(std::move(listener)) {}

Attempt SampleRunner::measure(const Cell& cell) {
    Attempt attempt;
    SampleRecord& record = attempt.record;
    record.cell = cell.index;
    record.started = QDateTime::currentDateTimeUtc();
    m_sender = {};
    m_receiver = {};

    Result<void> done = applyKnobs(cell, record);
    if (done)
        done = snapshots(&SideResult::before);
    if (done)
        done = transfer(cell);
    if (done)
        done = snapshots(&SideResult::after);
    if (done)
        done = checkKnobs(record);
    record.ended = QDateTime::currentDateTimeUtc();
    if (!done) {
        attempt.error = done.error();
        record.state = SampleState::Failed;
        record.reason = done.error().text();
        return attempt;
    }
    fillSample(record, m_experiment, cell, m_sender, m_receiver);
    record.state = record.flags.isEmpty() ? SampleState::Done : SampleState::Flagged;
    return attempt;
}

Result<void> SampleRunner::applyKnobs(const Cell& cell, SampleRecord& record) {
    std::vector<std::pair<Side, Pending<std::vector<protocol::KnobOutcome>>>> pending;
    for (Side side : kBothSides) {
        const auto settings = knobSettings(m_experiment, cell, side);
        if (!settings.empty())
            pending.emplace_back(side, agentcalls::applyKnobs(m_hosts.at(side), settings));
    }
    Result<void> worst;
    for (auto& [side, answer] : pending) {
        const auto outcomes = answer.get();
        if (!outcomes) {
            if (worst)
                worst = failAt(m_hosts.at(side), outcomes.error());
            continue;
        }
        for (const auto& outcome : *outcomes) {
            const auto noted = noteOutcome(record, m_hosts.at(side), knobState(side, outcome));
            if (worst)
                worst = noted;
        }
    }
    if (worst && m_listener.knobsApplied)
        m_listener.knobsApplied(record.knobs);
    return worst;
}

/// Whether the knobs stood as they were set until the traffic had ended.
Result<void> SampleRunner::checkKnobs(SampleRecord& record) {
    std::vector<std::pair<Side, Pending<std::vector<protocol::KnobReading>>>> pending;
    for (Side side : kBothSides) {
        std::vector<protocol::KnobTarget> targets;
        for (const KnobState& state : record.knobs) {
            if (state.side == side)
                targets.push_back(
                    {state.knob.toStdString(), m_experiment.host(side).interface.toStdString()});
        }
        if (!targets.empty())
            pending.emplace_back(side, agentcalls::readKnobs(m_hosts.at(side), targets));
    }
    for (auto& [side, answer] : pending) {
        const auto readings = answer.get();
        if (!readings)
            return failAt(m_hosts.at(side), readings.error());
        for (const protocol::KnobReading& reading : *readings) {
            const QString knob = QString::fromStdString(reading.name);
            for (const KnobState& state : std::as_const(record.knobs)) {
                if (state.side != side || state.knob != knob)
                    continue;
                const auto now = optionalText(reading.value);
                if (now != state.accepted)
                    record.flags.append(
                        QStringLiteral("%1: somebody else changed %2 to %3 during the sample")
                            .arg(sideName(side), knob,
                                 now.value_or(QStringLiteral("something unknown"))));
            }
        }
    }
    return {};
}

Result<void> SampleRunner::snapshots(protocol::Snapshot SideResult::*when) {
    auto sender = agentcalls::snapshot(m_hosts.at(Side::Sender), m_experiment.sender.interface);
    auto receiver =
        agentcalls::snapshot(m_hosts.at(Side::Receiver), m_experiment.receiver.interface);
    auto atSender = sender.get();
    auto atReceiver = receiver.get();
    if (!atSender)
        return failAt(m_hosts.at(Side::Sender), atSender.error());
    if (!atReceiver)
        return failAt(m_hosts.at(Side::Receiver), atReceiver.error());
    m_sender.*when = std::move(*atSender);
    m_receiver.*when = std::move(*atReceiver);
    return {};
}

Result<void> SampleRunner::transfer(const Cell& cell) {
    if (m_cancel.cancelled())
        return fail(Error::Code::Cancelled, QStringLiteral("Stopped by the user"));
    if (auto prepared = prepareTraffic(m_experiment, cell, m_hosts); !prepared) {
        stopTraffic();
        return prepared;
    }
    // The receiver first, so that its clock runs before the first byte arrives.
    for (Side side : {Side::Receiver, Side::Sender}) {
        if (const auto started = agentcalls::startTraffic(m_hosts.at(side)).get(); !started) {
            stopTraffic();
            return failAt(m_hosts.at(side), started.error());
        }
    }

    const double seconds = m_experiment.test.seconds + m_experiment.test.warmupSeconds;
    std::array pending = {agentcalls::trafficResult(m_hosts.at(Side::Sender), seconds),
                          agentcalls::trafficResult(m_hosts.at(Side::Receiver), seconds)};
    TrafficResults results;
    bool stopping = false;
    while (!results[0] || !results[1]) {
        bool failed = m_cancel.cancelled();
        for (std::size_t i = 0; i < pending.size(); ++i) {
            if (!results[i] && pending[i].ready(10ms))
                results[i] = pending[i].get();
            failed = failed || (results[i] && !*results[i]);
        }
        if (failed && !stopping) {
            stopping = true;
            stopTraffic();
        }
    }
    if (m_cancel.cancelled())
        return fail(Error::Code::Cancelled, QStringLiteral("Stopped by the user"));
    if (const auto side = failedSide(results))
        return failAt(m_hosts.at(kBothSides[*side]), results[*side]->error());
    m_sender.traffic = std::move(**results[0]);
    m_receiver.traffic = std::move(**results[1]);
    return {};
}

void SampleRunner::stopTraffic() {
    std::vector<Pending<Json>> pending;
    for (Side side : kBothSides) {
        if (!m_hosts.at(side).lost())
            pending.push_back(agentcalls::cancelTraffic(m_hosts.at(side)));
    }
    // Whether the other end still hears it does not change the outcome.
    for (auto& answer : pending)
        (void)answer.get();
}

} // namespace knobscope
