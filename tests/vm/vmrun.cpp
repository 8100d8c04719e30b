// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/vm/vmrun.h"

#include <QFile>

namespace knobscope::test {

namespace {

/// A machine without KVM takes several times as long as it thinks.
constexpr int kRunTimeoutMs = 480000;

/// Each line names its group, so that a line tells where it belongs.
const char* const kTellSettings = R"(
interface=$1
say() { title=$1; shift; "$@" 2>&1 | sed "s|^|$title: |"; }
for option in -c -g -k -l -a -x --show-eee --show-fec --show-priv-flags; do
    say "ethtool $option" ethtool $option $interface
done
say ethtool ethtool $interface
say ip ip -d link show dev $interface
say address ip addr show dev $interface
say tc tc -d qdisc show dev $interface
say sysctl sysctl -a -r '^net\.'
cd /sys/class/net/$interface
say sysfs grep . queues/*/rps_cpus queues/*/rps_flow_cnt queues/*/xps_cpus napi_defer_hard_irqs \
    gro_flush_timeout threaded
for irq in device/msi_irqs/*; do
    say irq grep -H . /proc/irq/${irq##*/}/smp_affinity_list
done
)";

} // namespace

QJsonObject axis(const QString& knob, const QString& side, const QJsonArray& values) {
    return {{QStringLiteral("knob"), knob},
            {QStringLiteral("side"), side},
            {QStringLiteral("values"), values}};
}

QJsonArray manyKnobs() {
    const QList<std::pair<const char*, QJsonValue>> knobs{
        {"ring:rx", 512},
        {"ring:tx", 512},
        {"link:speed", "auto 100"},
        {"pause:autoneg", "off"},
        {"pause:rx", "off"},
        {"pause:tx", "off"},
        {"link:mtu", 4000},
        {"link:txqueuelen", 500},
        {"link:gso_max_size", 30000},
        {"feature:sg", "off"}, // takes tso and gso with it
        {"feature:gro", "off"},
        {"feature:rx-checksum", "off"},
        {"feature:rx-vlan-hw-parse", "off"},
        {"coalesce:rx-usecs", 100},
        {"rps:cpus", "0"},
        {"qdisc:root", "fq"},
        {"napi:threaded", "on"},
        {"napi:defer_hard_irqs", 2},
        {"napi:gro_flush_timeout", 20000},
        {"sysctl:net.ipv4.tcp_limit_output_bytes", 65536},
    };
    QJsonArray axes;
    for (const auto& [knob, value] : knobs)
        axes.append(axis(QLatin1String(knob), QStringLiteral("both"), {value}));
    return axes;
}

QString problemOf(const VmRun::Outcome& outcome, const QJsonArray& axes) {
    if (outcome.status != 0)
        return QString::fromUtf8(outcome.errors);
    if (outcome.run.samples.size() != 1)
        return QStringLiteral("%1 samples").arg(outcome.run.samples.size());
    const QList<KnobState> knobs = outcome.run.samples.first().knobs;
    if (knobs.size() != 2 * axes.size())
        return QStringLiteral("%1 knobs").arg(knobs.size());
    QStringList problems;
    for (const KnobState& knob : knobs) {
        if (knob.status != QLatin1String("applied"))
            problems << QStringLiteral("%1: %2 = %3 is %4, %5")
                            .arg(hostName(knob.host), knob.knob, knob.requested,
                                 knob.accepted.value_or(QString()), knob.status);
    }
    return problems.join(u'\n');
}

QStringList VmRun::Outcome::checks(const QString& host, const QString& knob) const {
    QStringList found;
    for (const QJsonObject& event : events) {
        const QString title = event.value(QStringLiteral("title")).toString();
        if (event.value(QStringLiteral("event")) == QStringLiteral("check") &&
            event.value(QStringLiteral("host")) == host && title.contains(knob))
            found << QStringLiteral("%1: %2: %3")
                         .arg(event.value(QStringLiteral("state")).toString(), title,
                              event.value(QStringLiteral("detail")).toString());
    }
    return found;
}

bool VmRun::up(const QString& driver) {
    if (!m_lab.up({QStringLiteral("--nic"), driver}))
        return false;
    m_before = settings();
    return true;
}

VmRun::Outcome VmRun::run(const QJsonObject& experiment) {
    QFile::remove(m_run.database());
    CliProcess cli(m_run.runArguments(m_run.write(experiment)));
    Outcome outcome;
    outcome.status = cli.waitForEnd(kRunTimeoutMs);
    outcome.errors = cli.errorText();
    outcome.events = cli.events();
    const bool started =
        std::any_of(outcome.events.cbegin(), outcome.events.cend(), [](const QJsonObject& event) {
            return event.value(QStringLiteral("event")) == QStringLiteral("run_started");
        });
    if (started)
        outcome.run = m_run.load(1);
    return outcome;
}

QString VmRun::tell(const QString& host, const QStringList& command) const {
    return QString::fromUtf8(m_lab.exec(host, command).out).trimmed();
}

QStringList VmRun::settings() const {
    QStringList all;
    for (const Lab::Host& host : m_lab.hosts()) {
        const QString told = tell(host.name, {QStringLiteral("sh"), QStringLiteral("-c"),
                                              QString::fromUtf8(kTellSettings),
                                              QStringLiteral("sh"), host.testInterface});
        for (const QString& line : told.split(u'\n'))
            all << host.name + u' ' + line;
    }
    return all;
}

QStringList VmRun::changes() const {
    const QStringList now = settings();
    QStringList changed;
    for (const QString& line : m_before) {
        if (!now.contains(line))
            changed << QStringLiteral("was: ") + line;
    }
    for (const QString& line : now) {
        if (!m_before.contains(line))
            changed << QStringLiteral("is: ") + line;
    }
    return changed;
}

} // namespace knobscope::test
