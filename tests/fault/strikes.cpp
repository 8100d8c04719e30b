// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fault/strikes.h"

#include <QFile>

#include <algorithm>
#include <csignal>

namespace knobscope::test {

namespace {

/// Command line of an agent as it lies on a host, named by its content.
const QString kAgent = QStringLiteral("^[^ ]*/agent-[0-9a-f]{64}");

/// 0: there is no such process any more.
pid_t parentOf(qint64 pid) {
    QFile file(QStringLiteral("/proc/%1/stat").arg(pid));
    if (!file.open(QIODevice::ReadOnly))
        return 0;
    const QByteArray line = file.readAll();
    const QList<QByteArray> words = line.mid(line.lastIndexOf(')') + 2).split(' ');
    return words.value(1).toInt();
}

/// Stops are one kind: each strike is one of them by chance.
const QList<Fault> kKinds{Fault::Controller, Fault::Agent, Fault::Guardian, Fault::Both,
                          Fault::Sshd,       Fault::Link,  Fault::StopAgent};
constexpr Fault kStops[] = {Fault::StopController, Fault::StopAgent, Fault::StopGuardian,
                            Fault::StopBoth};
constexpr int kLatestMomentMs = 2000;

} // namespace

QString faultName(Fault fault) {
    switch (fault) {
    case Fault::Controller:
        return QStringLiteral("controller");
    case Fault::Agent:
        return QStringLiteral("agent");
    case Fault::Guardian:
        return QStringLiteral("guardian");
    case Fault::Both:
        return QStringLiteral("agent and guardian");
    case Fault::Sshd:
        return QStringLiteral("sshd");
    case Fault::Link:
        return QStringLiteral("link cut");
    case Fault::StopController:
        return QStringLiteral("SIGSTOP controller");
    case Fault::StopAgent:
        return QStringLiteral("SIGSTOP agent");
    case Fault::StopGuardian:
        return QStringLiteral("SIGSTOP guardian");
    case Fault::StopBoth:
        break;
    }
    return QStringLiteral("SIGSTOP agent and guardian");
}

bool Strike::endsGuardian() const {
    return fault == Fault::Guardian || fault == Fault::Both ||
           (killed && (fault == Fault::StopGuardian || fault == Fault::StopBoth));
}

QString Strike::text() const {
    const char* const thens[] = {"goes on", "waits", "dies"};
    return QStringLiteral("%1 of %2, %3 ms after %4, program %5, mended after %6 ms%7%8")
        .arg(faultName(fault), host)
        .arg(momentMs)
        .arg(early ? QStringLiteral("its start") : QStringLiteral("the run's start"))
        .arg(QLatin1String(thens[static_cast<int>(then)]))
        .arg(mendMs)
        .arg(killed ? QStringLiteral(" by SIGKILL") : QString(),
             byResume ? QStringLiteral(", recovered by resume") : QString());
}

/// From `from` up to and without `to`.
int StrikeDeck::number(int from, int to) {
    return from + static_cast<int>(m_random() % static_cast<quint32>(to - from));
}

Strike StrikeDeck::draw(const Lab& lab) {
    if (m_left.isEmpty()) {
        m_left = kKinds;
        for (qsizetype i = m_left.size() - 1; i > 0; --i)
            m_left.swapItemsAt(i, number(0, static_cast<int>(i) + 1));
    }
    Strike strike;
    strike.fault = m_left.takeLast();
    if (strike.fault == Fault::StopAgent)
        strike.fault = kStops[number(0, 4)];
    strike.host = lab.host(number(0, static_cast<int>(lab.hosts().size()))).name;
    strike.early = number(0, 5) == 0;
    strike.momentMs = number(0, kLatestMomentMs);
    strike.byResume = number(0, 2) == 0;
    strike.killed = number(0, 2) == 0;
    choose(strike);
    return strike;
}

/// What the program does, and how long the damage lasts: with most of them shorter or longer than
/// the lease of the hosts.
void StrikeDeck::choose(Strike& strike) {
    strike.then = static_cast<Then>(number(0, 3));
    switch (strike.fault) {
    case Fault::Controller:
        strike.then = Then::Dies;
        break;
    case Fault::Sshd:
        strike.mendMs = number(0, 4000);
        break;
    case Fault::Link:
        strike.then = number(0, 2) == 0 ? Then::GoesOn : Then::Dies;
        strike.mendMs = number(200, 9000);
        break;
    case Fault::StopController:
        strike.then = Then::GoesOn;
        strike.mendMs = number(200, 13000);
        break;
    case Fault::StopGuardian:
    case Fault::StopBoth:
        strike.then = number(0, 2) == 0 ? Then::GoesOn : Then::Dies;
        strike.mendMs = number(200, 13000);
        break;
    case Fault::StopAgent:
        strike.then = number(0, 2) == 0 ? Then::GoesOn : Then::Dies;
        break;
    default:
        break;
    }
}

bool Striker::find() {
    if (m_strike.fault == Fault::Controller || m_strike.fault == Fault::StopController ||
        m_strike.fault == Fault::Sshd || m_strike.fault == Fault::Link)
        return true;
    // The guardian is the parent of the worker. There may be others that are about to end; the
    // youngest pair is that of the program.
    const QList<qint64> pids = m_lab.pids(m_strike.host, kAgent);
    for (const qint64 pid : pids) {
        const pid_t parent = parentOf(pid);
        if (parent > 1 && pids.contains(parent)) {
            m_worker = static_cast<pid_t>(pid);
            m_guardian = parent;
        }
    }
    return m_worker > 1;
}

/// A number may have gone to another process since it was looked up.
bool Striker::signal(pid_t agent, int number) const {
    QFile file(QStringLiteral("/proc/%1/cmdline").arg(agent));
    return agent > 1 && file.open(QIODevice::ReadOnly) && file.readAll().contains("/agent-") &&
           ::kill(agent, number) == 0;
}

bool Striker::strike(pid_t controller) {
    m_controller = controller;
    switch (m_strike.fault) {
    case Fault::Controller:
        return ::kill(controller, SIGKILL) == 0;
    case Fault::Agent:
        return signal(m_worker, SIGKILL);
    case Fault::Guardian:
        return signal(m_guardian, SIGKILL);
    case Fault::Both: {
        const bool hit = signal(m_guardian, SIGKILL);
        (void)signal(m_worker, SIGKILL); // it may have followed already
        return hit;
    }
    case Fault::Sshd:
        return m_lab.setSshd(m_strike.host, false);
    case Fault::Link:
        return m_lab.setControlLink(m_strike.host, false);
    case Fault::StopController:
        return ::kill(controller, SIGSTOP) == 0;
    case Fault::StopAgent:
        return signal(m_worker, SIGSTOP);
    case Fault::StopGuardian:
        return signal(m_guardian, SIGSTOP);
    case Fault::StopBoth:
        return signal(m_guardian, SIGSTOP) && signal(m_worker, SIGSTOP);
    }
    return false;
}

bool Striker::mend() {
    if (m_mended)
        return true;
    m_mended = true;
    const int number = m_strike.killed ? SIGKILL : SIGCONT;
    switch (m_strike.fault) {
    case Fault::Sshd:
        return m_lab.setSshd(m_strike.host, true);
    case Fault::Link:
        return m_lab.setControlLink(m_strike.host, true);
    case Fault::StopController:
        return ::kill(m_controller, number) == 0;
    case Fault::StopGuardian:
        (void)signal(m_guardian, number);
        break;
    case Fault::StopBoth:
        // The agents may have ended meanwhile.
        (void)signal(m_guardian, number);
        (void)signal(m_worker, number);
        break;
    default:
        break;
    }
    return true;
}

} // namespace knobscope::test
