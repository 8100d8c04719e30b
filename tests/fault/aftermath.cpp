// SPDX-License-Identifier: GPL-3.0-or-later
// What follows a strike of the campaign, until everything is as it should be.
#include "tests/fault/campaign.h"

#include <QJsonArray>
#include <QThread>

#include <algorithm>
#include <csignal>
#include <cstdio>

namespace knobscope::test {

namespace {

/// The lease of hosts is 10 s; a busy machine takes its time.
constexpr int kBackMs = 20000;
constexpr int kGoOnMs = 60000;
constexpr int kEndMs = 60000;
constexpr int kRecoverMs = 30000;

const QString kEvent = QStringLiteral("event");

} // namespace

void Campaign::violated(const QString& what) {
    m_violations.append(QStringLiteral("after kill %1: %2").arg(m_blows.size()).arg(what));
    std::printf("VIOLATION %s\n", qPrintable(m_violations.last()));
    if (m_program)
        std::printf("  the program said: %s\n", m_program->errorText().constData());
    std::fflush(stdout);
}

QStringList Campaign::notBack(const QString& host) {
    return differences(m_before[host], m_readers[host]->read());
}

QStringList Campaign::notBack() {
    QStringList all;
    for (const Lab::Host& host : m_lab.hosts()) {
        for (const QString& difference : notBack(host.name))
            all.append(host.name + QStringLiteral(": ") + difference);
    }
    return all;
}

void Campaign::mendWhenDue(Striker& striker) {
    const Strike& strike = striker.what();
    if (!striker.mended() && m_struck.elapsed() >= strike.mendMs && !striker.mend())
        violated(QStringLiteral("the campaign could not mend ") + strike.text());
}

bool Campaign::measuredSince(const QDateTime& moment) {
    return m_program->waitFor(
        [&](const QJsonObject& event) {
            return event.value(kEvent).toString() == QLatin1String("sample") &&
                   event.value(QStringLiteral("state")).toString() != QLatin1String("failed") &&
                   QDateTime::fromString(event.value(QStringLiteral("started")).toString(),
                                         Qt::ISODateWithMs) > moment;
        },
        0);
}

int Campaign::endOfProgram(bool killed) {
    const int status = m_program->waitForEnd(1000);
    for (const QJsonObject& event : m_program->events()) {
        m_ledger->note(event);
        for (const QJsonValue& flag : event.value(QStringLiteral("flags")).toArray()) {
            if (flag.toString().contains(QLatin1String("somebody else")))
                violated(QStringLiteral("a sample was measured while knobs were turned: ") +
                         flag.toString());
        }
    }
    const Ledger::Run last = m_ledger->lastRun();
    m_run = last.state == QLatin1String("finished") ? 0 : last.id;
    if (m_run == 0 && last.id > m_lastFinished)
        verifyFinished(last.id);
    const bool known = status == 0 || status == 1 || status == 3 || status == 130;
    if (!m_program->hasEnded(0))
        violated(QStringLiteral("the program does not end"));
    else if (!killed && !known)
        violated(QStringLiteral("the program ended with %1").arg(status));
    else if (!killed && status == 0 && m_run != 0)
        violated(QStringLiteral("the program ended with %1, but run %2 is %3")
                     .arg(status)
                     .arg(last.id)
                     .arg(last.state));
    return status;
}

void Campaign::check() {
    for (const QString& what : m_ledger->check(m_ledger->lastRun().id))
        violated(what);
}

void Campaign::follow(Blow& blow, Striker& striker) {
    const Strike& strike = blow.strike;
    const auto pid = static_cast<pid_t>(m_program->pid());
    const bool killed =
        strike.then == Then::Dies || (strike.fault == Fault::StopController && strike.killed);
    if (strike.then == Then::Dies && strike.fault != Fault::Controller)
        ::kill(pid, SIGKILL);
    if (strike.then == Then::Waits) {
        waitForHost(blow, striker);
        ::kill(pid, SIGCONT);
    }
    if (strike.then != Then::Dies)
        goOn(striker);
    endOfProgram(killed);
    settle(blow, striker);
    check();
}

/// The hit host has to put its knobs back while the program stands still.
void Campaign::waitForHost(Blow& blow, Striker& striker) {
    const Strike& strike = blow.strike;
    if (strike.endsGuardian() && !notBack(strike.host).isEmpty()) {
        blow.byPerson = true;
        recoverHost(strike.host);
    }
    QStringList left;
    do {
        mendWhenDue(striker);
        left = notBack(strike.host);
    } while (!left.isEmpty() && m_struck.elapsed() < strike.mendMs + kBackMs);
    if (left.isEmpty())
        blow.backMs = m_struck.elapsed();
    else
        violated(QStringLiteral("%1 has not put back by itself: %2 (%3)")
                     .arg(strike.host, left.join(QStringLiteral("; ")), strike.text()));
}

/// The program is left alone until it has measured again or gives up; then it is stopped.
void Campaign::goOn(Striker& striker) {
    bool asked = false;
    qint64 askedMs = 0;
    while (!m_program->hasEnded(20)) {
        mendWhenDue(striker);
        const qint64 now = m_struck.elapsed();
        if (!asked && (measuredSince(m_struckAt) || now > kGoOnMs)) {
            ::kill(static_cast<pid_t>(m_program->pid()), SIGINT);
            asked = true;
            askedMs = now;
        }
        if (asked && now - askedMs > kEndMs)
            return; // endOfProgram() tells
    }
}

/// Until every knob of every host is as it was before, by whom it may be.
void Campaign::settle(Blow& blow, Striker& striker) {
    const Strike& strike = blow.strike;
    const qint64 start = m_struck.elapsed();
    QStringList left;
    for (;;) {
        mendWhenDue(striker);
        left = notBack();
        if (left.isEmpty() && strike.then == Then::Dies && !blow.backMs)
            blow.backMs = m_struck.elapsed();
        if (left.isEmpty() && striker.mended())
            return;
        const bool late = m_struck.elapsed() > std::max<qint64>(start, strike.mendMs) + kBackMs;
        if (late)
            break;
        if (strike.endsGuardian() && striker.mended() && !blow.byPerson) {
            blow.byPerson = true;
            recover(blow);
        }
        QThread::msleep(10);
    }
    violated(
        QStringLiteral("not back: %1 (%2)").arg(left.join(QStringLiteral("; ")), strike.text()));
    for (const Lab::Host& host : m_lab.hosts())
        std::printf("  %s keeps: %s\n", qPrintable(host.name),
                    qPrintable(m_readers[host.name]->journals().join(u' ')));
    (void)bringUp(); // what comes is judged by itself
}

void Campaign::recover(Blow& blow) {
    if (blow.strike.byResume && m_run != 0)
        resumeAndStop();
    else
        recoverHost(blow.strike.host);
}

void Campaign::recoverHost(const QString& host) {
    QElapsedTimer timer;
    timer.start();
    int status = -1;
    QByteArray said;
    while (status != 0 && timer.elapsed() < kRecoverMs) {
        CliProcess recover(
            {QStringLiteral("recover"), host, QStringLiteral("--ssh-config"), m_lab.sshConfig()});
        status = recover.waitForEnd(kRecoverMs);
        said = recover.errorText();
        if (status != 0)
            QThread::msleep(300);
    }
    if (status != 0)
        violated(QStringLiteral("recover %1 ended with %2: %3")
                     .arg(host)
                     .arg(status)
                     .arg(QString::fromUtf8(said)));
}

/// Resuming puts back what was left, too. Stopped at once, so that the knobs can be looked at.
void Campaign::resumeAndStop() {
    int status = 0;
    do {
        startProgram();
        if (awaitRun())
            ::kill(static_cast<pid_t>(m_program->pid()), SIGINT);
        (void)m_program->waitForEnd(kEndMs);
        status = endOfProgram(false);
    } while (mustWait(status));
    if (status != 0 && status != 130)
        violated(QStringLiteral("resume ended with %1").arg(status));
}

} // namespace knobscope::test
