// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/hostpair.h"

#include "core/run/agentcalls.h"
#include "core/run/trafficsetup.h"

#include <QElapsedTimer>
#include <QThread>

namespace knobscope {

Result<HostPair> HostPair::open(const Experiment& experiment, const HostOptions& options,
                                const CancelToken& cancel) {
    HostOptions grouped = options;
    grouped.group = QString::fromStdString(newToken());
    auto other = std::async(std::launch::async, [&] {
        return HostSession::open(experiment.receiver, grouped, cancel);
    });
    auto sender = HostSession::open(experiment.sender, grouped, cancel);
    auto receiver = other.get();
    if (!sender)
        return tl::unexpected<Error>(sender.error());
    if (!receiver)
        return tl::unexpected<Error>(receiver.error());

    const bool local = experiment.sender.local && experiment.receiver.local;
    const std::string& machine = (*sender)->hello().machine_id;
    if (!local && !machine.empty() && machine == (*receiver)->hello().machine_id)
        return fail(Error::Code::BadInput,
                    QStringLiteral("Sender and receiver (%1 and %2) are the same machine")
                        .arg((*sender)->label(), (*receiver)->label()),
                    QStringLiteral("name two machines, or \"local\" for both to test over "
                                   "loopback"));
    HostPair pair;
    pair.m_sender = std::move(*sender);
    pair.m_receiver = std::move(*receiver);
    return pair;
}

Result<void> HostPair::claim(std::chrono::milliseconds patience, const CancelToken& cancel) {
    QElapsedTimer waited;
    waited.start();
    for (Side side : kBothSides) {
        for (;;) {
            const auto claimed = agentcalls::claim(at(side), true).get();
            if (claimed)
                break;
            const Error& error = claimed.error();
            if (error.code != Error::Code::HostUnusable || waited.elapsed() >= patience.count())
                return fail(error.code, at(side).label() + QStringLiteral(": ") + error.message,
                            error.detail);
            if (cancel.cancelled())
                return fail(Error::Code::Cancelled, QStringLiteral("Stopped by the user"));
            QThread::msleep(100);
        }
    }
    return {};
}

std::optional<Side> HostPair::lostSide() const {
    for (Side side : kBothSides) {
        if (at(side).lost())
            return side;
    }
    return std::nullopt;
}

} // namespace knobscope
