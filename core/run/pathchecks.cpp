// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/pathchecks.h"

#include "core/run/agentcalls.h"
#include "core/run/traffic.h"
#include "core/run/trafficsetup.h"

#include <QSet>

#include <algorithm>

namespace knobscope {

namespace {

/// Most test settings that are tried; each costs one connection.
constexpr int kMaxConnectionChecks = 64;

const QString kMtu = QStringLiteral("link:mtu");
constexpr int kProbes = 3;
constexpr double kProbeTimeout = 0.3; ///< seconds for one packet to come back
constexpr qint64 kUdp4 = 28;          ///< headers of IPv4 and UDP
constexpr qint64 kUdp6 = 48;
constexpr qint64 kLargestDatagram = 65507;
constexpr qint64 kLargestDatagram6 = 65527;

QString pathText(const Experiment& experiment, int instance) {
    return QStringLiteral("%1 to %2")
        .arg(experiment.host(experiment.endOf(instance, Side::Sender)).address,
             experiment.host(experiment.endOf(instance, Side::Receiver)).address);
}

/// An MTU for each of some hosts; the others keep theirs.
using Mtus = QMap<HostRef, KnobValue>;

/// Every combination that the matrix has; one without any when it sets none.
QList<Mtus> mtusOf(const Experiment& experiment) {
    QList<Mtus> all;
    for (const Cell& cell : expandMatrix(experiment)) {
        Mtus mtus;
        for (const HostSetting& setting : hostSettings(experiment, cell)) {
            if (setting.knob == kMtu)
                mtus.insert(setting.host, setting.value);
        }
        if (!all.contains(mtus))
            all.append(mtus);
    }
    return all;
}

class PacketSizes {
public:
    PacketSizes(CheckLog& log, const Experiment& experiment, HostGroup& hosts)
        : m_log(log), m_experiment(experiment), m_hosts(hosts) {}

    void check(const Mtus& mtus);

private:
    bool apply(const Mtus& mtus);
    [[nodiscard]] std::optional<qint64> mtuOf(HostRef host);
    void probe(int instance, const Mtus& mtus);
    Result<bool> comeBack(int instance, qint64 payload);
    void lost(int instance, const Mtus& mtus, qint64 mtu);

    CheckLog& m_log;
    const Experiment& m_experiment;
    HostGroup& m_hosts;
};

/// False: a host does not take its MTU, which has been told elsewhere.
bool PacketSizes::apply(const Mtus& mtus) {
    std::vector<Pending<std::vector<protocol::KnobOutcome>>> pending;
    for (auto it = mtus.cbegin(); it != mtus.cend(); ++it) {
        const protocol::KnobSetting setting{kMtu.toStdString(),
                                            m_experiment.host(it.key()).interface.toStdString(),
                                            it.value().plain().toStdString()};
        pending.push_back(agentcalls::applyKnobs(m_hosts.at(it.key()), {setting}));
    }
    bool taken = true;
    for (auto& each : pending) {
        const auto outcomes = each.get();
        taken =
            taken && outcomes && outcomes->size() == 1 && outcomes->front().status != "rejected";
    }
    return taken;
}

std::optional<qint64> PacketSizes::mtuOf(HostRef host) {
    const protocol::KnobTarget target{kMtu.toStdString(),
                                      m_experiment.host(host).interface.toStdString()};
    const auto readings = agentcalls::readKnobs(m_hosts.at(host), {target}).get();
    if (!readings || readings->size() != 1 || !readings->front().value)
        return std::nullopt;
    bool number = false;
    const qint64 mtu = QString::fromStdString(*readings->front().value).toLongLong(&number);
    return number ? std::optional(mtu) : std::nullopt;
}

void PacketSizes::check(const Mtus& mtus) {
    if (!apply(mtus))
        return;
    for (int instance = 0; instance < m_experiment.instances(); ++instance)
        probe(instance, mtus);
}

void PacketSizes::probe(int instance, const Mtus& mtus) {
    const HostRef sender = m_experiment.endOf(instance, Side::Sender);
    const HostRef receiver = m_experiment.endOf(instance, Side::Receiver);
    const auto one = mtuOf(sender);
    const auto other = mtuOf(receiver);
    if (!one || !other)
        return; // an interface without one
    const qint64 mtu = std::min(*one, *other);
    if (*one != *other && mtus.isEmpty())
        m_log.warn({}, QStringLiteral("MTU"),
                   QStringLiteral("%1 at %2, %3 at %4: packets beyond the smaller may be lost. Set "
                                  "both ends to the same")
                       .arg(*one)
                       .arg(m_hosts.at(sender).label())
                       .arg(*other)
                       .arg(m_hosts.at(receiver).label()));
    const bool six = m_experiment.host(receiver).address.contains(u':');
    const qint64 payload =
        six ? std::min(mtu - kUdp6, kLargestDatagram6) : std::min(mtu - kUdp4, kLargestDatagram);
    const QString title = QStringLiteral("Packets of %1 bytes").arg(mtu);
    const auto back = comeBack(instance, payload);
    if (!back)
        m_log.warn({}, title,
                   QStringLiteral("%1: could not be tried: %2")
                       .arg(pathText(m_experiment, instance), back.error().text()));
    else if (*back)
        m_log.ok({}, title, QStringLiteral("%1 and back").arg(pathText(m_experiment, instance)));
    else
        lost(instance, mtus, mtu);
}

/// Where the matrix sets the MTU only the cells with it cannot be measured.
void PacketSizes::lost(int instance, const Mtus& mtus, qint64 mtu) {
    const QString title = QStringLiteral("Packets of %1 bytes").arg(mtu);
    const QString what =
        QStringLiteral("%1: none of %2 came back, though small ones do. Something between the "
                       "hosts has a smaller MTU: raise it there, or use a smaller one here")
            .arg(pathText(m_experiment, instance))
            .arg(kProbes);
    bool refused = false;
    for (const Side side : {Side::Sender, Side::Receiver}) {
        const HostRef host = m_experiment.endOf(instance, side);
        const auto set = mtus.find(host);
        if (set == mtus.end() || set->plain() != QString::number(mtu))
            continue;
        m_log.refused(m_hosts.at(host).label(), title, {host, kMtu, *set, what},
                      ExitStatus::HostUnusable);
        refused = true;
    }
    if (!refused)
        m_log.failed({}, title, what, ExitStatus::HostUnusable);
}

/// Whether any of some datagrams of this size came back. An error: it cannot be said.
Result<bool> PacketSizes::comeBack(int instance, qint64 payload) {
    protocol::PrepareParams params;
    params.role = "server";
    params.token = newToken();
    const HostRef sender = m_experiment.endOf(instance, Side::Sender);
    const HostRef receiver = m_experiment.endOf(instance, Side::Receiver);
    params.address = m_experiment.host(receiver).address.toStdString();
    params.peer_address = m_experiment.host(sender).address.toStdString();
    params.config.kind = "udp_rr";
    params.config.seconds = kProbes * kProbeTimeout;
    params.config.timeout_seconds = kProbeTimeout;
    params.config.limit_transactions = kProbes;
    params.config.request_size = params.config.response_size = payload;

    HostSession& server = m_hosts.end(instance, Side::Receiver);
    HostSession& client = m_hosts.end(instance, Side::Sender);
    const auto listening = agentcalls::prepareTraffic(server, params).get();
    if (!listening)
        return tl::unexpected<Error>(listening.error());
    params.role = "client";
    params.port = listening->port;
    std::swap(params.address, params.peer_address);
    if (const auto connected = agentcalls::prepareTraffic(client, params).get(); !connected) {
        cancelTraffic(m_hosts);
        return tl::unexpected<Error>(connected.error());
    }
    auto serving = agentcalls::startTraffic(server);
    auto asking = agentcalls::startTraffic(client);
    (void)serving.get();
    (void)asking.get();
    const auto result = agentcalls::trafficResult(client, params.config.seconds).get();
    const auto other = agentcalls::trafficResult(server, params.config.seconds).get();
    cancelTraffic(m_hosts);
    if (!result) {
        // Without one answer there is no start of the measured time either.
        if (result.error().code == Error::Code::Traffic)
            return false;
        return tl::unexpected<Error>(result.error());
    }
    return std::any_of(result->streams.cbegin(), result->streams.cend(),
                       [](const protocol::StreamResult& s) { return s.transactions > 0; });
}

} // namespace

void checkConnections(CheckLog& log, const Experiment& experiment, HostGroup& hosts,
                      const CancelToken& cancel) {
    const QString title = QStringLiteral("Test connection");
    QStringList paths;
    for (int instance = 0; instance < experiment.instances(); ++instance)
        paths.append(pathText(experiment, instance));
    QSet<QByteArray> tried;
    for (const Cell& cell : expandMatrix(experiment)) {
        if (cancel.cancelled() || tried.size() >= kMaxConnectionChecks)
            break;
        QByteArray key;
        for (const Side side : {Side::Sender, Side::Receiver})
            key += Json(trafficConfig(experiment, cell, side)).dump();
        if (tried.contains(key))
            continue;
        tried.insert(key);
        const auto prepared = prepareTraffic(experiment, cell, hosts);
        cancelTraffic(hosts);
        if (!prepared) {
            log.failed({}, title, prepared.error());
            return;
        }
    }
    log.ok({}, title, paths.join(QStringLiteral(", ")));
}

void checkPacketSizes(CheckLog& log, const Experiment& experiment, HostGroup& hosts,
                      const CancelToken& cancel) {
    PacketSizes sizes(log, experiment, hosts);
    for (const Mtus& mtus : mtusOf(experiment)) {
        if (cancel.cancelled())
            return;
        sizes.check(mtus);
    }
}

} // namespace knobscope
