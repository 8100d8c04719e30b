// SPDX-License-Identifier: GPL-3.0-or-later
// campaign [KILLS]: strikes that often. KNOBSCOPE_CAMPAIGN_SEED and KNOBSCOPE_CAMPAIGN_KILLS in the
// environment set the course.
#include "tests/fault/campaign.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QThread>

#include <algorithm>
#include <csignal>
#include <cstdio>

namespace knobscope::test {

namespace {

constexpr int kCells = 8;
constexpr int kRepeats = 4;
constexpr int kStrikesOfRun = 8;
constexpr int kWholeRunMs = 120000;
constexpr int kAgentMs = 20000;
/// From a strike until no host is held any more: the lease of 10 s, after what was stopped goes on.
constexpr int kLeaseMs = 30000;

QJsonObject axis(const char* knob, const char* side, const QJsonArray& values) {
    return {{QStringLiteral("knob"), QLatin1String(knob)},
            {QStringLiteral("side"), QLatin1String(side)},
            {QStringLiteral("values"), values}};
}

/// Knobs of several kinds on both hosts; some move from cell to cell, all differ from the host's
/// own values.
QJsonObject experiment() {
    const QJsonArray axes{
        axis("sysctl:net.ipv4.tcp_limit_output_bytes", "both", {65536, 262144}),
        axis("link:mtu", "both", {1300, 1400}),
        axis("link:txqueuelen", "both", {500, 700}),
        axis("sysctl:net.ipv4.tcp_autocorking", "both", {0}),
        axis("sysctl:net.ipv4.tcp_rmem", "receiver", {QStringLiteral("4096 65536 2097152")}),
        axis("feature:tso", "both", {QStringLiteral("off")}),
        axis("feature:gso", "sender", {QStringLiteral("off")}),
        axis("qdisc:root", "sender", {QStringLiteral("pfifo limit 500")})};
    return {
        {QStringLiteral("test"), QJsonObject{{QStringLiteral("kind"), QStringLiteral("tcp_stream")},
                                             {QStringLiteral("seconds"), 0.05}}},
        {QStringLiteral("axes"), axes},
        {QStringLiteral("plan"), QJsonObject{{QStringLiteral("repeats"), kRepeats}}}};
}

double median(QList<qint64> values) {
    std::sort(values.begin(), values.end());
    const qsizetype half = values.size() / 2;
    const auto upper = static_cast<double>(values.at(half));
    return values.size() % 2 == 1 ? upper : (upper + static_cast<double>(values.at(half - 1))) / 2;
}

} // namespace

bool Campaign::bringUp() {
    m_readers.clear();
    m_before.clear();
    m_lab.down();
    if (!m_lab.up({QStringLiteral("--rate"), QStringLiteral("500mbit")})) {
        violated(m_lab.error());
        return false;
    }
    if (!m_files) {
        m_files = std::make_unique<LabRun>(m_lab);
        m_ledger = std::make_unique<Ledger>(m_files->database());
    }
    m_experiment = m_files->write(experiment());
    for (const Lab::Host& host : m_lab.hosts()) {
        m_readers[host.name] = std::make_unique<HostReader>(host);
        m_before[host.name] = m_readers[host.name]->read();
        if (m_before[host.name].isEmpty())
            violated(host.name + QStringLiteral(" cannot be read"));
    }
    return m_violations.isEmpty() || !m_before.isEmpty();
}

void Campaign::startProgram() {
    m_program = std::make_unique<CliProcess>(m_run == 0 ? m_files->runArguments(m_experiment)
                                                        : m_files->resumeArguments(m_run));
}

bool Campaign::awaitRun() {
    return m_program->waitFor(
        [](const QJsonObject& event) {
            return event.value(QStringLiteral("event")).toString() == QLatin1String("run_started");
        },
        kAgentMs);
}

/// False: the program ended before.
bool Campaign::reachMoment(const Strike& strike, Striker& striker) {
    if (!strike.early && !awaitRun())
        return false;
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < strike.momentMs) {
        const auto left = strike.momentMs - static_cast<int>(timer.elapsed());
        if (m_program->hasEnded(std::clamp(left, 0, 50)))
            return false;
    }
    while (!striker.find()) {
        if (m_program->hasEnded(20))
            return false;
        if (timer.elapsed() > kAgentMs) {
            violated(QStringLiteral("no agent came to ") + strike.host);
            return false;
        }
    }
    return !m_program->hasEnded(0);
}

void Campaign::strikeOnce() {
    Blow blow;
    blow.strike = m_deck.draw(m_lab);
    Striker striker(m_lab, blow.strike);
    startProgram();
    if (!reachMoment(blow.strike, striker)) {
        (void)m_program->hasEnded(kWholeRunMs);
        if (const int status = endOfProgram(false); !mustWait(status))
            verifyEnd(status);
        return;
    }
    blow.knobsSet = !notBack(blow.strike.host).isEmpty();
    // The program stands still first, so that it cannot set the knobs again before they are seen.
    const auto pid = static_cast<pid_t>(m_program->pid());
    if (blow.strike.then == Then::Waits)
        ::kill(pid, SIGSTOP);
    m_struckAt = QDateTime::currentDateTimeUtc();
    m_struck.start();
    const bool hit = striker.strike(pid);
    follow(blow, striker);
    if (!hit)
        return;
    m_blows.append(blow);
    ++m_strikesOfRun;
    std::printf("%3lld  %-26s %s%s\n", static_cast<long long>(m_blows.size()),
                blow.backMs ? qPrintable(QStringLiteral("back after %1 ms").arg(*blow.backMs))
                            : "back at the end",
                qPrintable(blow.strike.text()), blow.knobsSet ? "" : " (no knob was set)");
    std::fflush(stdout);
}

/// Where contact was lost without a word, the host is held until the lease is over: whoever starts
/// anew before is told so, and waits.
bool Campaign::mustWait(int status) {
    if (status != 3 || !m_struck.isValid() || m_struck.elapsed() > kLeaseMs ||
        !m_program->errorText().contains("in use by"))
        return false;
    ++m_waits;
    QThread::msleep(1000);
    return true;
}

/// Of a program that nothing has hit.
void Campaign::verifyEnd(int status) {
    const Ledger::Run last = m_ledger->lastRun();
    if (status != 0 || last.state != QLatin1String("finished")) {
        violated(QStringLiteral("run %1 is %2 and its program ended with %3, though nothing "
                                "hit it: %4")
                     .arg(last.id)
                     .arg(last.state)
                     .arg(status)
                     .arg(QString::fromUtf8(m_program->errorText())));
        return;
    }
    check();
    if (const QStringList left = notBack(); !left.isEmpty())
        violated(QStringLiteral("after a whole run: ") + left.join(QStringLiteral("; ")));
    for (const Lab::Host& host : m_lab.hosts()) {
        const QStringList journals = m_readers[host.name]->journals();
        if (!journals.isEmpty())
            violated(QStringLiteral("%1 keeps %2").arg(host.name, journals.join(u' ')));
    }
}

void Campaign::verifyFinished(qint64 run) {
    for (const QString& what : m_ledger->incomplete(run, kCells, kRepeats))
        violated(what);
    m_lastFinished = run;
    ++m_runsFinished;
    m_strikesOfRun = 0;
}

void Campaign::finishRun() {
    if (m_run == 0)
        return;
    int status = 0;
    do {
        startProgram();
        (void)m_program->hasEnded(kWholeRunMs);
        status = endOfProgram(false);
    } while (mustWait(status));
    verifyEnd(status);
    m_strikesOfRun = 0;
}

void Campaign::summarize() const {
    std::printf("\n%-28s %5s %9s %10s %14s\n", "fault", "kills", "knobs set", "by person",
                "median s until back");
    QMap<QString, QList<Blow>> kinds;
    for (const Blow& blow : m_blows)
        kinds[faultName(blow.strike.fault)].append(blow);
    for (auto kind = kinds.cbegin(); kind != kinds.cend(); ++kind) {
        QList<qint64> times;
        for (const Blow& blow : *kind) {
            if (blow.knobsSet && blow.backMs)
                times.append(*blow.backMs);
        }
        const auto count = [&](auto which) {
            return static_cast<int>(std::count_if(kind->begin(), kind->end(), which));
        };
        std::printf(
            "%-28s %5d %9d %10d %14s\n", qPrintable(kind.key()), static_cast<int>(kind->size()),
            count([](const Blow& blow) { return blow.knobsSet; }),
            count([](const Blow& blow) { return blow.byPerson; }),
            times.isEmpty() ? "-" : qPrintable(QString::number(median(times) / 1000, 'f', 2)));
    }
    std::printf("\n%lld kills, %d runs finished, %lld samples reported and found again, %d "
                "times told to wait for a lease, %lld violations\n",
                static_cast<long long>(m_blows.size()), m_runsFinished,
                static_cast<long long>(m_ledger ? m_ledger->samples() : 0), m_waits,
                static_cast<long long>(m_violations.size()));
    for (const QString& violation : m_violations)
        std::printf("VIOLATION: %s\n", qPrintable(violation));
}

int Campaign::run() {
    if (!bringUp())
        return 1;
    proveReading();
    while (m_blows.size() < m_kills && m_violations.size() < 20) {
        strikeOnce();
        if (m_strikesOfRun >= kStrikesOfRun)
            finishRun();
    }
    finishRun();
    for (const QString& what : m_ledger->check(0) + m_ledger->unfinished())
        violated(what);
    proveLedger();
    summarize();
    return m_violations.isEmpty() ? 0 : 1;
}

} // namespace knobscope::test

int main(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    using knobscope::test::Campaign;
    bool given = false;
    quint32 seed = qEnvironmentVariable("KNOBSCOPE_CAMPAIGN_SEED").toUInt(&given);
    if (!given)
        seed = static_cast<quint32>(QDateTime::currentMSecsSinceEpoch() % 1000000007);
    int kills = qEnvironmentVariableIntValue("KNOBSCOPE_CAMPAIGN_KILLS", &given);
    if (!given)
        kills = argc > 1 ? QByteArray(argv[1]).toInt() : 10;
    std::printf("seed %u, %d kills (KNOBSCOPE_CAMPAIGN_SEED, KNOBSCOPE_CAMPAIGN_KILLS)\n", seed,
                kills);
    return Campaign(seed, kills).run();
}
