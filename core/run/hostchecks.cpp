// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/hostchecks.h"

#include "core/model/hostcheck.h"
#include "core/model/knobcatalogue.h"
#include "core/run/agentcalls.h"

#include <QDateTime>

#include <arpa/inet.h>

#include <algorithm>

namespace knobscope {

namespace {

using protocol::Environment;

/// Clocks further apart than this make the times of a host's own logs misleading.
constexpr qint64 kClockToleranceMs = 1000;

std::optional<QString> factOf(const Environment& environment, const char* name) {
    const auto it = environment.facts.find(name);
    return it == environment.facts.end() ? std::nullopt
                                         : std::optional(QString::fromStdString(it->second));
}

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

/// The host knobs that the matrix sets at a host, in the order of the axes.
QStringList hostKnobsOf(const Experiment& experiment, HostRef which) {
    QStringList knobs;
    for (const Axis& axis : experiment.axes) {
        const auto info = knobInfo(axis.knob);
        if (info && info->scope == KnobScope::Host &&
            (axis.side == which.side || axis.side == Side::Both))
            knobs.append(axis.knob);
    }
    return knobs;
}

bool anyOf(const QStringList& knobs, const QStringList& prefixes) {
    return std::any_of(knobs.cbegin(), knobs.cend(), [&](const QString& knob) {
        return std::any_of(prefixes.cbegin(), prefixes.cend(),
                           [&](const QString& prefix) { return knob.startsWith(prefix); });
    });
}

/// A program that moves knobs by itself, and which.
struct Mover {
    const char* name;
    QStringList prefixes;
    const char* moves;
};

const QList<Mover>& movers() {
    static const QList<Mover> all{
        {"irqbalance", {"irq:", "rps:", "xps:", "channels:"}, "moves interrupts between CPUs"},
        {"tuned",
         {"cpu:", "sysctl:", "sysfs:", "ring:", "channels:", "coalesce:", "feature:"},
         "sets governors, sysctls and network settings of its profile"},
        {"power-profiles-daemon", {"cpu:"}, "sets the CPU governor"},
        {"thermald", {"cpu:"}, "lowers the CPU's speed when it is hot"}};
    return all;
}

void checkMovers(CheckLog& log, const QString& label, const QStringList& knobs,
                 const Environment& environment) {
    for (const Mover& mover : movers()) {
        const QByteArray fact = QByteArray("processes.") + mover.name;
        if (factOf(environment, fact.constData()) != QStringLiteral("running"))
            continue;
        const QString title = QString::fromLatin1(mover.name);
        const QString what = QStringLiteral("It runs and ") + QString::fromLatin1(mover.moves);
        if (anyOf(knobs, mover.prefixes))
            log.warn(label, title,
                     what + QStringLiteral(": it may undo what the matrix sets; stop it for the "
                                           "run with: systemctl stop %1")
                                .arg(title));
        else
            log.ok(label, title, what);
    }
}

QString describeInterface(const Environment& environment) {
    QStringList parts;
    if (const auto driver = factOf(environment, "nic.driver"))
        parts.append(*driver);
    if (const auto mtu = factOf(environment, "link.mtu"))
        parts.append(QStringLiteral("MTU %1").arg(*mtu));
    if (const auto speed = factOf(environment, "link.speed_mbit"))
        parts.append(QStringLiteral("%1 Mbit/s").arg(*speed));
    return parts.join(QStringLiteral(", "));
}

/// False: the interface cannot carry the test.
bool checkInterface(CheckLog& log, const QString& label, const HostSpec& spec, HostRef which,
                    const Environment& environment) {
    const QString title = QStringLiteral("Interface %1").arg(spec.interface);
    QStringList interfaces;
    for (const std::string& name : environment.interfaces)
        interfaces.append(QString::fromStdString(name));
    if (!interfaces.contains(spec.interface)) {
        log.failed(label, title,
                   QStringLiteral("There is no such interface; the host has %1. Correct the "
                                  "interface of %2")
                       .arg(interfaces.join(QStringLiteral(", ")), hostPhrase(which)),
                   ExitStatus::BadInput);
        return false;
    }
    if (factOf(environment, "link.carrier") == QStringLiteral("0")) {
        log.failed(label, title, QStringLiteral("No carrier: check the cable or bring it up"),
                   ExitStatus::HostUnusable);
        return false;
    }
    const auto addresses = factOf(environment, "link.address");
    if (!spec.address.isEmpty() && !hasAddress(addresses, spec)) {
        log.failed(
            label, title,
            QStringLiteral("It does not have the test address %1, but %2. Correct the "
                           "address or the interface of %3")
                .arg(spec.address, addresses.value_or(QStringLiteral("none")), hostPhrase(which)),
            ExitStatus::BadInput);
        return false;
    }
    log.ok(label, title, describeInterface(environment));
    return true;
}

QString describeSystem(const protocol::HelloResult& hello) {
    return QStringLiteral("%1, Linux %2 %3, %4 CPUs, ")
        .arg(QString::fromStdString(hello.hostname), QString::fromStdString(hello.kernel),
             QString::fromStdString(hello.arch))
        .arg(hello.cpus);
}

} // namespace

void checkSteps(CheckLog& log, const QString& label, const HostSteps& steps,
                const std::optional<Error>& error) {
    for (const HostStep& step : steps.all()) {
        QString title = stepTitle(step.kind);
        if (step.host != label && !step.host.isEmpty())
            title += QStringLiteral(" (%1)").arg(step.host);
        const Error found{error ? error->code : Error::Code::HostUnusable, step.text, step.advice};
        // What follows once the agent answers has checks of its own.
        const bool way = step.kind != HostStep::Kind::Hello &&
                         step.kind != HostStep::Kind::Rights &&
                         step.kind != HostStep::Kind::Interfaces;
        if (step.state == HostStep::State::Failed)
            log.failed(label, title, found);
        else if (step.state == HostStep::State::Skipped && !step.advice.isEmpty())
            log.warn(label, title, found.text());
        else if (step.state == HostStep::State::Ok && way)
            log.ok(label, title, step.text);
    }
    if (error && !steps.stoppedAt())
        log.failed(label, QStringLiteral("Connection"), *error);
}

void checkAgent(CheckLog& log, const HostSession& host, const Experiment& experiment,
                HostRef which) {
    const protocol::HelloResult& hello = host.hello();
    const QString title = QStringLiteral("Agent");
    const QString what = describeSystem(hello);
    if (hello.uid == 0)
        log.ok(host.label(), title, what + QStringLiteral("root"));
    else if (!hostKnobsOf(experiment, which).isEmpty())
        log.warn(host.label(), title,
                 what + QStringLiteral("not root: host knobs need root, so %1")
                            .arg(experiment.host(which).local
                                     ? QStringLiteral("start Knobscope as root")
                                     : QStringLiteral("log in to %1 as root").arg(host.label())));
    else
        log.ok(host.label(), title, what + QStringLiteral("not root: host knobs need root"));
    const QString left = QStringLiteral("Left over by an earlier run");
    for (const protocol::UndoReport& undo : hello.recovered) {
        if (undo.interface_gone)
            log.warn(host.label(), left, undoFailureText(host.label(), undo));
        else if (undo.restored)
            log.warn(
                host.label(), left,
                QStringLiteral("%1 was put back to %2")
                    .arg(QString::fromStdString(undo.name), QString::fromStdString(undo.original)));
        else
            log.failed(host.label(), left, undoFailureText(host.label(), undo),
                       ExitStatus::KnobNotRestored);
    }
}

void checkFree(CheckLog& log, HostSession& host) {
    if (const auto free = agentcalls::claim(host, false).get(); !free)
        log.warn(host.label(), QStringLiteral("In use"), free.error().text());
}

void checkClock(CheckLog& log, HostSession& host) {
    const QString title = QStringLiteral("Clock");
    const qint64 before = QDateTime::currentMSecsSinceEpoch();
    const auto answer = agentcalls::ping(host).get();
    const qint64 after = QDateTime::currentMSecsSinceEpoch();
    if (!answer) {
        log.failed(host.label(), title, answer.error());
        return;
    }
    if (answer->time_ms == 0)
        return; // it does not say
    // It was read somewhere between the two.
    const qint64 ahead = answer->time_ms - after;
    const qint64 behind = before - answer->time_ms;
    const qint64 off = std::max(ahead, behind);
    if (off <= kClockToleranceMs)
        log.ok(host.label(), title, QStringLiteral("agrees with this computer's"));
    else
        log.warn(host.label(), title,
                 QStringLiteral("%1 s %2 of this computer's: the times of a run are this "
                                "computer's, those in the host's own logs differ")
                     .arg(static_cast<double>(off) / 1000, 0, 'f', 1)
                     .arg(ahead > behind ? QStringLiteral("ahead") : QStringLiteral("behind")));
}

bool checkPlace(CheckLog& log, HostSession& host, const Experiment& experiment, HostRef which) {
    const HostSpec& spec = experiment.host(which);
    const auto environment = agentcalls::environment(host, spec.interface).get();
    if (!environment) {
        log.failed(host.label(), QStringLiteral("Environment"), environment.error());
        return false;
    }
    if (!spec.interface.isEmpty() && !checkInterface(log, host.label(), spec, which, *environment))
        return false;
    checkMovers(log, host.label(), hostKnobsOf(experiment, which), *environment);
    if (guardConnection(host, experiment, which, *environment))
        log.warn(host.label(), QStringLiteral("Interface %1").arg(spec.interface),
                 QStringLiteral("SSH comes in over it as well: a knob may cut the connection. The "
                                "host then puts all knobs back by itself after %1 s without "
                                "contact; better is a control network of its own")
                     .arg(kGuardedLease.count()));
    return true;
}

bool guardConnection(HostSession& host, const Experiment& experiment, HostRef which,
                     const Environment& environment) {
    const QString interface = experiment.host(which).interface;
    if (interface.isEmpty() || factOf(environment, "ssh.interface") != interface)
        return false;
    const QStringList knobs = hostKnobsOf(experiment, which);
    const bool touched = std::any_of(knobs.cbegin(), knobs.cend(), [](const QString& knob) {
        const auto entry = findKnob(knob);
        return entry && !entry->hostWide;
    });
    if (!touched)
        return false;
    (void)agentcalls::shortenLease(host, kGuardedLease).get();
    return true;
}

} // namespace knobscope
