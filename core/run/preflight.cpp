// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/preflight.h"

#include "core/model/experimentfile.h"
#include "core/run/agentcalls.h"
#include "core/run/hostgroup.h"
#include "core/run/runcontroller.h"
#include "core/run/traffic.h"
#include "core/run/trafficsetup.h"

#include <QSet>

#include <arpa/inet.h>

#include <algorithm>

namespace knobscope {

namespace {

/// Most test settings that are tried; each costs one connection.
constexpr int kMaxConnectionChecks = 64;
/// For the guardian of a run that died just now; a living run is not waited for.
constexpr std::chrono::seconds kWaitForOthers{3};

class Preflight {
public:
    Preflight(const Experiment& experiment, const CancelToken& cancel)
        : m_experiment(experiment), m_cancel(cancel) {}

    void ok(const QString& host, const QString& title, const QString& detail) {
        m_report.checks.append({Check::State::Ok, host, title, detail});
    }
    void warn(const QString& host, const QString& title, const QString& detail) {
        m_report.checks.append({Check::State::Warning, host, title, detail});
    }
    void failed(const QString& host, const QString& title, const QString& detail,
                ExitStatus status) {
        m_report.checks.append({Check::State::Failed, host, title, detail});
        if (m_report.exitStatus == 0)
            m_report.exitStatus = static_cast<int>(status);
    }
    void failed(const QString& host, const QString& title, const Error& error) {
        const auto status = error.code == Error::Code::BadInput    ? ExitStatus::BadInput
                            : error.code == Error::Code::Knob      ? ExitStatus::BadInput
                            : error.code == Error::Code::Cancelled ? ExitStatus::Cancelled
                                                                   : ExitStatus::HostUnusable;
        failed(host, title, error.text(), status);
    }

    void describeAgent(const HostSession& host, HostRef which);
    void checkFree(HostSession& host);
    void checkPlace(HostSession& host, HostRef which);
    void checkKnobs(HostSession& host, HostRef which);
    void checkConnections(HostGroup& hosts);
    void noteStop();
    [[nodiscard]] const PreflightReport& report() const { return m_report; }

private:
    [[nodiscard]] bool setsHostKnobs(Side side) const;
    void checkKnobValue(HostSession& host, const QString& knob, const QString& interface,
                        const KnobValue& value);
    void groupValues(qsizetype from);

    const Experiment& m_experiment;
    CancelToken m_cancel;
    PreflightReport m_report;
};

/// The bytes of a numeric address, its scope left out; empty for anything else.
QByteArray addressBytes(const QString& address) {
    const QByteArray text = address.section(u'%', 0, 0).toLatin1();
    QByteArray bytes(sizeof(in6_addr), '\0');
    if (::inet_pton(AF_INET6, text.constData(), bytes.data()) == 1)
        return bytes;
    bytes.resize(sizeof(in_addr));
    return ::inet_pton(AF_INET, text.constData(), bytes.data()) == 1 ? bytes : QByteArray();
}

/// Whether the addresses of an interface ("10.0.0.1/24 fd00::1/64") have the test address. All of
/// 127.0.0.0/8 is on the loopback interface.
bool hasAddress(const std::optional<QString>& addresses, const HostSpec& spec) {
    if (spec.address.startsWith(QLatin1String("127.")) && spec.interface == QLatin1String("lo"))
        return true;
    const QByteArray wanted = addressBytes(spec.address);
    const QStringList all = addresses.value_or(QString()).split(u' ', Qt::SkipEmptyParts);
    return std::any_of(all.cbegin(), all.cend(), [&](const QString& address) {
        return addressBytes(address.section(u'/', 0, 0)) == wanted;
    });
}

void Preflight::describeAgent(const HostSession& host, HostRef which) {
    const protocol::HelloResult& hello = host.hello();
    const QString title = QStringLiteral("Agent");
    const QString what =
        QStringLiteral("%1, Linux %2 %3, %4 CPUs, ")
            .arg(QString::fromStdString(hello.hostname), QString::fromStdString(hello.kernel),
                 QString::fromStdString(hello.arch))
            .arg(hello.cpus);
    if (hello.uid == 0)
        ok(host.label(), title, what + QStringLiteral("root"));
    else if (setsHostKnobs(which.side))
        warn(host.label(), title,
             what + QStringLiteral("not root: host knobs need root, so %1")
                        .arg(m_experiment.host(which).local
                                 ? QStringLiteral("start Knobscope as root")
                                 : QStringLiteral("log in to %1 as root").arg(host.label())));
    else
        ok(host.label(), title, what + QStringLiteral("not root: host knobs need root"));
    for (const protocol::UndoReport& undo : hello.recovered) {
        if (undo.interface_gone)
            warn(host.label(), QStringLiteral("Left over by an earlier run"),
                 undoFailureText(host.label(), undo));
        else if (undo.restored)
            warn(
                host.label(), QStringLiteral("Left over by an earlier run"),
                QStringLiteral("%1 was put back to %2")
                    .arg(QString::fromStdString(undo.name), QString::fromStdString(undo.original)));
        else
            failed(host.label(), QStringLiteral("Left over by an earlier run"),
                   undoFailureText(host.label(), undo), ExitStatus::KnobNotRestored);
    }
}

void Preflight::checkFree(HostSession& host) {
    if (const auto free = agentcalls::claim(host, false).get(); !free)
        warn(host.label(), QStringLiteral("In use"), free.error().text());
}

void Preflight::checkPlace(HostSession& host, HostRef which) {
    const HostSpec& spec = m_experiment.host(which);
    const auto environment = agentcalls::environment(host, spec.interface).get();
    if (!environment) {
        failed(host.label(), QStringLiteral("Environment"), environment.error());
        return;
    }
    QStringList interfaces;
    for (const std::string& name : environment->interfaces)
        interfaces.append(QString::fromStdString(name));
    const QString title = QStringLiteral("Interface %1").arg(spec.interface);
    if (!interfaces.contains(spec.interface)) {
        failed(host.label(), title,
               QStringLiteral("There is no such interface; the host has %1. Correct the interface "
                              "of %2")
                   .arg(interfaces.join(QStringLiteral(", ")), hostPhrase(which)),
               ExitStatus::BadInput);
        return;
    }
    const auto fact = [&](const char* name) -> std::optional<QString> {
        const auto it = environment->facts.find(name);
        return it == environment->facts.end() ? std::nullopt
                                              : std::optional(QString::fromStdString(it->second));
    };
    QStringList described;
    if (const auto driver = fact("nic.driver"))
        described.append(*driver);
    if (const auto mtu = fact("link.mtu"))
        described.append(QStringLiteral("MTU %1").arg(*mtu));
    if (const auto speed = fact("link.speed_mbit"))
        described.append(QStringLiteral("%1 Mbit/s").arg(*speed));
    if (fact("link.carrier") == QStringLiteral("0")) {
        failed(host.label(), title, QStringLiteral("No carrier: check the cable or bring it up"),
               ExitStatus::HostUnusable);
        return;
    }
    if (!spec.address.isEmpty() && !hasAddress(fact("link.address"), spec)) {
        failed(
            host.label(), title,
            QStringLiteral("It does not have the test address %1, but %2. Correct the address or "
                           "the interface of %3")
                .arg(spec.address, fact("link.address").value_or(QStringLiteral("none")),
                     hostPhrase(which)),
            ExitStatus::BadInput);
        return;
    }
    ok(host.label(), title, described.join(QStringLiteral(", ")));
}

void Preflight::checkKnobs(HostSession& host, HostRef which) {
    QStringList knobs;
    QMap<QString, QList<KnobValue>> values;
    for (const Cell& cell : expandMatrix(m_experiment)) {
        for (const HostSetting& setting : hostSettings(m_experiment, cell)) {
            if (setting.host != which)
                continue;
            if (!knobs.contains(setting.knob))
                knobs.append(setting.knob);
            QList<KnobValue>& known = values[setting.knob];
            if (!known.contains(setting.value))
                known.append(setting.value);
        }
    }
    for (const QString& knob : knobs) {
        const qsizetype first = m_report.checks.size();
        for (const KnobValue& value : values.value(knob)) {
            if (m_cancel.cancelled())
                return;
            checkKnobValue(host, knob, m_experiment.host(which).interface, value);
        }
        groupValues(first);
    }
    if (knobs.isEmpty())
        return;
    const auto restored = agentcalls::restoreKnobs(host).get();
    if (!restored) {
        failed(host.label(), QStringLiteral("Putting knobs back"), restored.error());
        return;
    }
    for (const protocol::UndoReport& undo : *restored) {
        if (!undo.restored)
            failed(host.label(), QStringLiteral("Putting knobs back"),
                   undoFailureText(host.label(), undo), ExitStatus::KnobNotRestored);
    }
}

bool Preflight::setsHostKnobs(Side side) const {
    return std::any_of(m_experiment.axes.cbegin(), m_experiment.axes.cend(),
                       [side](const Axis& axis) {
                           const auto info = knobInfo(axis.knob);
                           return info && info->scope == KnobScope::Host &&
                                  (axis.side == side || axis.side == Side::Both);
                       });
}

/// Values of a knob of which the same is to be said share a line: "Knob link:mtu = 1500, 9000".
void Preflight::groupValues(qsizetype from) {
    QList<Check> grouped;
    for (const Check& check : m_report.checks.mid(from)) {
        const auto same = std::find_if(grouped.begin(), grouped.end(), [&](const Check& other) {
            return other.state == check.state && other.detail == check.detail;
        });
        if (same == grouped.end())
            grouped.append(check);
        else
            same->title += QStringLiteral(", ") + check.title.section(QStringLiteral(" = "), 1, -1);
    }
    m_report.checks = m_report.checks.mid(0, from) + grouped;
}

void Preflight::checkKnobValue(HostSession& host, const QString& knob, const QString& interface,
                               const KnobValue& value) {
    const QString title = QStringLiteral("Knob %1 = %2").arg(knob, value.text);
    const protocol::KnobSetting setting{knob.toStdString(), interface.toStdString(),
                                        value.plain().toStdString()};
    const auto outcomes = agentcalls::applyKnobs(host, {setting}).get();
    if (!outcomes) {
        failed(host.label(), title, outcomes.error());
        return;
    }
    for (const protocol::KnobOutcome& outcome : *outcomes) {
        const QString original = outcome.original ? QString::fromStdString(*outcome.original)
                                                  : QStringLiteral("unknown");
        if (outcome.status == "rejected" || !outcome.accepted) {
            // That the agent is not root, and what to do, stands beside the agent.
            failed(host.label(), title, QString::fromStdString(outcome.error),
                   host.hello().uid == 0 ? ExitStatus::BadInput : ExitStatus::HostUnusable);
        } else if (outcome.status == "adjusted") {
            warn(host.label(), title,
                 QStringLiteral("The host takes %1 instead; cells with it are flagged")
                     .arg(QString::fromStdString(*outcome.accepted)));
        } else if (!outcome.note.empty()) {
            warn(host.label(), title,
                 QStringLiteral("Can be set, but %1; cells with it are flagged")
                     .arg(QString::fromStdString(outcome.note)));
        } else {
            ok(host.label(), title, QStringLiteral("can be set (is %1 now)").arg(original));
        }
    }
}

/// Test settings that a host may refuse show when connections are made with them.
void Preflight::checkConnections(HostGroup& hosts) {
    const QString title = QStringLiteral("Test connection");
    QStringList paths;
    for (int instance = 0; instance < m_experiment.instances(); ++instance)
        paths.append(
            QStringLiteral("%1 to %2")
                .arg(m_experiment.host(m_experiment.endOf(instance, Side::Sender)).address,
                     m_experiment.host(m_experiment.endOf(instance, Side::Receiver)).address));
    QSet<QByteArray> tried;
    for (const Cell& cell : expandMatrix(m_experiment)) {
        if (m_cancel.cancelled() || tried.size() >= kMaxConnectionChecks)
            break;
        QByteArray key;
        for (const Side side : {Side::Sender, Side::Receiver})
            key += Json(trafficConfig(m_experiment, cell, side)).dump();
        if (tried.contains(key))
            continue;
        tried.insert(key);
        const auto prepared = prepareTraffic(m_experiment, cell, hosts);
        cancelTraffic(hosts);
        if (!prepared) {
            failed({}, title, prepared.error());
            return;
        }
    }
    ok({}, title, paths.join(QStringLiteral(", ")));
}

void Preflight::noteStop() {
    if (m_cancel.cancelled())
        failed({}, QStringLiteral("Stopped"),
               QStringLiteral("The checks were stopped before the end"), ExitStatus::Cancelled);
}

} // namespace

bool PreflightReport::passed() const {
    return std::none_of(checks.cbegin(), checks.cend(),
                        [](const Check& check) { return check.state == Check::State::Failed; });
}

PreflightReport preflight(const Experiment& experiment, const HostOptions& options,
                          const CancelToken& cancel) {
    Preflight checks(experiment, cancel);
    if (const auto good = checkExperiment(experiment); !good) {
        checks.failed({}, QStringLiteral("Experiment"), good.error());
        return checks.report();
    }
    HostOptions named = options;
    named.run = QStringLiteral("%1 (preflight)").arg(experiment.name);
    auto hosts = HostGroup::open(experiment, named, cancel);
    if (!hosts) {
        checks.failed({}, QStringLiteral("Hosts"), hosts.error());
        return checks.report();
    }
    if (const auto held = hosts->claim(kWaitForOthers, cancel); !held) {
        checks.failed({}, QStringLiteral("Hosts"), held.error());
        return checks.report();
    }
    for (const HostRef host : hosts->hosts()) {
        checks.describeAgent(hosts->at(host), host);
        checks.checkPlace(hosts->at(host), host);
    }
    if (checks.report().passed()) {
        for (const HostRef host : hosts->hosts())
            checks.checkKnobs(hosts->at(host), host);
        checks.checkConnections(*hosts);
    }
    checks.noteStop();
    return checks.report();
}

PreflightReport checkHost(const HostSpec& host, const HostOptions& options,
                          const CancelToken& cancel) {
    Experiment experiment;
    experiment.sender = host;
    Preflight checks(experiment, cancel);
    const auto session = HostSession::open(host, options, cancel);
    if (!session) {
        checks.failed(host.label(), QStringLiteral("Connection"), session.error());
        return checks.report();
    }
    checks.describeAgent(**session, Side::Sender);
    checks.checkFree(**session);
    if (!host.interface.isEmpty())
        checks.checkPlace(**session, Side::Sender);
    return checks.report();
}

} // namespace knobscope
