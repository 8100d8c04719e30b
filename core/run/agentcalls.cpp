// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/agentcalls.h"

namespace knobscope {

namespace {
using namespace std::chrono_literals;
constexpr auto kReadTimeout = 5s;
// Drivers re-initialise on some knobs and the link needs seconds to come back.
constexpr auto kKnobTimeout = 20s;
// With commands of the user among them; lost contact is noticed by other means.
constexpr auto kRestoreTimeout = 180s;
// The engine's own limits for connecting are 5 s; the answer needs a little more.
constexpr auto kTrafficTimeout = 8s;

/// What a knob of the user's own may take: it is read, set, and read again.
template<typename Knob>
std::chrono::milliseconds commandTime(const Knob& knob) {
    constexpr double kCalls = 3;
    if (!knob.commands)
        return 0ms;
    return std::chrono::milliseconds(
        static_cast<std::int64_t>(kCalls * knob.commands->timeout_seconds * 1000));
}

Json interfaceParams(const QString& interface) {
    return protocol::InterfaceParams{interface.toStdString()};
}
} // namespace

namespace agentcalls {

Pending<protocol::Environment> environment(HostSession& host, const QString& interface) {
    return Pending<protocol::Environment>(
        host.call(protocol::method::kEnvironment, interfaceParams(interface), kReadTimeout));
}

Pending<protocol::Snapshot> snapshot(HostSession& host, const QString& interface) {
    return Pending<protocol::Snapshot>(
        host.call(protocol::method::kSnapshot, interfaceParams(interface), kReadTimeout));
}

Pending<Json> claim(HostSession& host, bool hold) {
    return Pending<Json>(
        host.call(protocol::method::kHostClaim, protocol::ClaimParams{hold}, kKnobTimeout));
}

Pending<Json> shortenLease(HostSession& host, std::chrono::seconds lease) {
    const protocol::ClaimParams params{false, static_cast<double>(lease.count())};
    return Pending<Json>(host.call(protocol::method::kHostClaim, params, kReadTimeout));
}

Pending<protocol::PingResult> ping(HostSession& host) {
    return Pending<protocol::PingResult>(
        host.call(protocol::method::kPing, Json::object(), kReadTimeout));
}

Pending<std::vector<protocol::KnobReading>>
readKnobs(HostSession& host, const std::vector<protocol::KnobTarget>& knobs) {
    std::chrono::milliseconds timeout = kReadTimeout;
    for (const protocol::KnobTarget& knob : knobs)
        timeout += commandTime(knob);
    return Pending<std::vector<protocol::KnobReading>>(
        host.call(protocol::method::kKnobRead, knobs, timeout));
}

Pending<std::vector<protocol::KnobOutcome>>
applyKnobs(HostSession& host, const std::vector<protocol::KnobSetting>& settings) {
    std::chrono::milliseconds timeout = kKnobTimeout;
    for (const protocol::KnobSetting& setting : settings)
        timeout += commandTime(setting);
    return Pending<std::vector<protocol::KnobOutcome>>(
        host.call(protocol::method::kKnobApply, settings, timeout));
}

Pending<std::vector<protocol::UndoReport>> restoreKnobs(HostSession& host) {
    return Pending<std::vector<protocol::UndoReport>>(
        host.call(protocol::method::kKnobRestore, Json::object(), kRestoreTimeout));
}

Pending<protocol::PrepareResult> prepareTraffic(HostSession& host,
                                                const protocol::PrepareParams& params) {
    return Pending<protocol::PrepareResult>(
        host.call(protocol::method::kTrafficPrepare, params, kTrafficTimeout));
}

Pending<Json> startTraffic(HostSession& host) {
    return Pending<Json>(
        host.call(protocol::method::kTrafficStart, Json::object(), kTrafficTimeout));
}

Pending<protocol::TrafficResult> trafficResult(HostSession& host, double seconds) {
    const auto timeout =
        kTrafficTimeout * 2 + std::chrono::milliseconds(static_cast<qint64>(seconds * 1000));
    return Pending<protocol::TrafficResult>(
        host.call(protocol::method::kTrafficResult, Json::object(), timeout));
}

Pending<Json> cancelTraffic(HostSession& host) {
    return Pending<Json>(
        host.call(protocol::method::kTrafficCancel, Json::object(), kTrafficTimeout));
}

Pending<std::vector<protocol::UndoReport>> quit(HostSession& host) {
    return Pending<std::vector<protocol::UndoReport>>(
        host.call(protocol::method::kQuit, Json::object(), kRestoreTimeout));
}

} // namespace agentcalls

QString undoFailureText(const QString& host, const protocol::UndoReport& report) {
    const QString where = report.interface.empty()
                              ? QString()
                              : QStringLiteral(" of ") + QString::fromStdString(report.interface);
    if (report.interface_gone)
        return QStringLiteral("%1: %2%3 is not back to \"%4\": %5. It will be put back when the "
                              "interface is there again; if it was renamed, set it by hand")
            .arg(host, QString::fromStdString(report.name), where,
                 QString::fromStdString(report.original), QString::fromStdString(report.error));
    QString text = QStringLiteral("%1: %2%3 could not be put back: set it to \"%4\" by hand")
                       .arg(host, QString::fromStdString(report.name), where,
                            QString::fromStdString(report.original));
    if (!report.command.empty())
        text += QStringLiteral(", with: %1").arg(QString::fromStdString(report.command));
    if (!report.error.empty())
        text += QStringLiteral(" (%1)").arg(QString::fromStdString(report.error));
    return text;
}

} // namespace knobscope
