// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/agentcalls.h"

namespace knobscope {

namespace {
using namespace std::chrono_literals;
constexpr auto kReadTimeout = 5s;
// Drivers re-initialise on some knobs and the link needs seconds to come back.
constexpr auto kKnobTimeout = 20s;
// The engine's own limits for connecting are 5 s; the answer needs a little more.
constexpr auto kTrafficTimeout = 8s;

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

Pending<std::vector<protocol::KnobReading>>
readKnobs(HostSession& host, const std::vector<protocol::KnobTarget>& knobs) {
    return Pending<std::vector<protocol::KnobReading>>(
        host.call(protocol::method::kKnobRead, knobs, kReadTimeout));
}

Pending<std::vector<protocol::KnobOutcome>>
applyKnobs(HostSession& host, const std::vector<protocol::KnobSetting>& settings) {
    return Pending<std::vector<protocol::KnobOutcome>>(
        host.call(protocol::method::kKnobApply, settings, kKnobTimeout));
}

Pending<std::vector<protocol::UndoReport>> restoreKnobs(HostSession& host) {
    return Pending<std::vector<protocol::UndoReport>>(
        host.call(protocol::method::kKnobRestore, Json::object(), kKnobTimeout));
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
        host.call(protocol::method::kQuit, Json::object(), kKnobTimeout));
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
