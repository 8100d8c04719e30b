// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/hostsession.h"

#include <vector>

namespace knobscope {

/// The agent's methods with their types, on top of HostSession::call(). Each `...Async` returns at
/// once, so that all hosts can be asked before the first answer is waited for.
template<typename T>
class Pending {
public:
    explicit Pending(std::future<Result<Json>> answer) : m_answer(std::move(answer)) {}

    [[nodiscard]] bool ready(std::chrono::milliseconds wait) const {
        return m_answer.wait_for(wait) == std::future_status::ready;
    }
    /// Waits (the call's own timeout bounds it) and converts. An answer of another shape is
    /// Protocol.
    Result<T> get() {
        Result<Json> answer = m_answer.get();
        if (!answer)
            return tl::unexpected<Error>(answer.error());
        try {
            return answer->get<T>();
        } catch (const nlohmann::json::exception& e) {
            return fail(Error::Code::Protocol,
                        QStringLiteral("The agent's answer has an unexpected form"),
                        QString::fromUtf8(e.what()));
        }
    }

private:
    std::future<Result<Json>> m_answer;
};

namespace agentcalls {
Pending<protocol::Environment> environment(HostSession& host, const QString& interface);
Pending<protocol::Snapshot> snapshot(HostSession& host, const QString& interface);
/// With `hold` the host is this run's until restoreKnobs() or the end of the session; without, the
/// question whether another run has it. HostUnusable names that run.
Pending<Json> claim(HostSession& host, bool hold);
/// The host puts the knobs back after this time without contact.
Pending<Json> shortenLease(HostSession& host, std::chrono::seconds lease);
Pending<protocol::PingResult> ping(HostSession& host);
Pending<std::vector<protocol::KnobReading>>
readKnobs(HostSession& host, const std::vector<protocol::KnobTarget>& knobs);
Pending<std::vector<protocol::KnobOutcome>>
applyKnobs(HostSession& host, const std::vector<protocol::KnobSetting>& settings);
Pending<std::vector<protocol::UndoReport>> restoreKnobs(HostSession& host);
Pending<protocol::PrepareResult> prepareTraffic(HostSession& host,
                                                const protocol::PrepareParams& params);
Pending<Json> startTraffic(HostSession& host);
/// Answered when the traffic has ended; `seconds` is how long it should take.
Pending<protocol::TrafficResult> trafficResult(HostSession& host, double seconds);
Pending<Json> cancelTraffic(HostSession& host);
Pending<std::vector<protocol::UndoReport>> quit(HostSession& host);
} // namespace agentcalls

/// "host1: sysctl:net.ipv4.tcp_rmem could not be set back to 4096 131072 6291456: ...".
[[nodiscard]] QString undoFailureText(const QString& host, const protocol::UndoReport& report);

} // namespace knobscope
