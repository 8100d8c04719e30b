// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/lab/labrun.h"

#include <QElapsedTimer>
#include <QJsonArray>
#include <QTest>

#include <csignal>

using namespace knobscope;
using namespace knobscope::test;

namespace {
const QString kLimit = QStringLiteral("net.ipv4.tcp_limit_output_bytes");
const QString kCorking = QStringLiteral("net.ipv4.tcp_autocorking");
/// Command line of an agent as it lies on a host, named by its content.
const QString kAgent = QStringLiteral("knobscope-[0-9]+/agent-");
constexpr int kRestoreLimitMs = 15000;
} // namespace

/// One fault in the middle of a sample, on real hosts. Each time: the knobs are back within 15 s,
/// the failed attempt is kept with its reason, the run can be finished, the database is sound.
/// CTest runs each function as a test of its own.
class TestFaults : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void cleanupTestCase();
    void agentKilled();
    void guardianAndAgentKilled();
    void controllerKilled();
    void sshdKilled();
    void controlLinkDown();
    void receiverAgentStopped();

private:
    struct Knobs {
        QString senderLimit;
        QString receiverCorking;
        bool operator==(const Knobs&) const = default;
    };
    [[nodiscard]] Knobs knobs() const;
    [[nodiscard]] std::unique_ptr<CliProcess> startRun();
    [[nodiscard]] bool knobsComeBack(int limitMs);
    struct Agent {
        pid_t guardian = 0;
        pid_t worker = 0;
    };
    [[nodiscard]] Agent agent(const QString& host) const;
    void verifyFailedAttempt();
    void finishAndVerify();

    Lab m_lab;
    std::unique_ptr<LabRun> m_run;
    Knobs m_before;
    qint64 m_doneBefore = 0;
};

void TestFaults::initTestCase() {
    QVERIFY2(m_lab.up({QStringLiteral("--rate"), QStringLiteral("500mbit")}),
             qPrintable(m_lab.error()));
    m_run = std::make_unique<LabRun>(m_lab);
    m_before = knobs();
    QVERIFY(!m_before.senderLimit.isEmpty() && !m_before.receiverCorking.isEmpty());
}

void TestFaults::cleanupTestCase() {
    // Nothing of the product is left running on a host, and no journal.
    for (const Lab::Host& host : m_lab.hosts()) {
        QTRY_COMPARE_WITH_TIMEOUT(m_lab.pids(host.name, kAgent).size(), 0, kRestoreLimitMs);
        const auto journals =
            m_lab.exec(host.name, {QStringLiteral("sh"), QStringLiteral("-c"),
                                   QStringLiteral("ls /run/knobscope 2>/dev/null")});
        QVERIFY2(!journals.out.contains("journal"), journals.out);
    }
}

TestFaults::Knobs TestFaults::knobs() const {
    return {m_run->sysctl(QStringLiteral("host1"), kLimit),
            m_run->sysctl(QStringLiteral("host2"), kCorking)};
}

/// Starts a run and returns in the middle of its second sample or later, with knobs set.
std::unique_ptr<CliProcess> TestFaults::startRun() {
    const QJsonObject limit{{QStringLiteral("knob"), QStringLiteral("sysctl:") + kLimit},
                            {QStringLiteral("side"), QStringLiteral("sender")},
                            {QStringLiteral("values"), QJsonArray{65536, 131072}}};
    const QJsonObject corking{{QStringLiteral("knob"), QStringLiteral("sysctl:") + kCorking},
                              {QStringLiteral("side"), QStringLiteral("receiver")},
                              {QStringLiteral("values"), QJsonArray{0}}};
    const QString file =
        m_run->write({{QStringLiteral("test"),
                       QJsonObject{{QStringLiteral("kind"), QStringLiteral("tcp_stream")},
                                   {QStringLiteral("seconds"), 2}}},
                      {QStringLiteral("axes"), QJsonArray{limit, corking}},
                      {QStringLiteral("plan"), QJsonObject{{QStringLiteral("repeats"), 2}}}});
    auto cli = std::make_unique<CliProcess>(m_run->runArguments(file));
    if (!cli->waitForSample())
        return nullptr;
    QElapsedTimer settled;
    settled.start();
    while (settled.elapsed() < 700)
        QTest::qWait(50);
    return cli;
}

bool TestFaults::knobsComeBack(int limitMs) {
    QElapsedTimer timer;
    timer.start();
    while (timer.elapsed() < limitMs) {
        if (knobs() == m_before) {
            qInfo("knobs were back after %lld ms", timer.elapsed());
            return true;
        }
        QTest::qWait(20);
    }
    return false;
}

/// The guardian is the parent of the worker: the younger of the two is the worker. 0: not both
/// are there, which kill() must never be given.
TestFaults::Agent TestFaults::agent(const QString& host) const {
    const auto pids = m_lab.pids(host, kAgent);
    if (pids.size() != 2)
        return {};
    return {static_cast<pid_t>(qMin(pids[0], pids[1])), static_cast<pid_t>(qMax(pids[0], pids[1]))};
}

void TestFaults::verifyFailedAttempt() {
    const StoredRun run = m_run->load(1);
    int failed = 0;
    for (const SampleRecord& sample : run.samples) {
        if (sample.state != SampleState::Failed)
            continue;
        ++failed;
        QVERIFY(sample.reason.size() > 10);
        qInfo("%s", qPrintable(sample.reason));
        QVERIFY(sample.metrics.isEmpty());
    }
    QVERIFY(failed >= 1);
}

/// Resumes where the run did not finish by itself; then all four samples are there, once each.
void TestFaults::finishAndVerify() {
    StoredRun run = m_run->load(1);
    if (run.info.state != RunState::Finished) {
        QVERIFY(run.info.resumable);
        CliProcess again(m_run->resumeArguments(1));
        QVERIFY2(again.waitForEnd() == 0, again.errorText());
        run = m_run->load(1);
    }
    QCOMPARE(run.info.state, RunState::Finished);
    QMap<std::pair<int, int>, int> measured;
    for (const SampleRecord& sample : run.samples) {
        if (sample.measured())
            ++measured[{sample.block, sample.cell}];
    }
    QCOMPARE(measured.size(), 4);
    for (int times : measured)
        QCOMPARE(times, 1);
    QCOMPARE(m_run->checkDatabase(), QStringList());
    QCOMPARE(knobs(), m_before);
}

void TestFaults::agentKilled() {
    const auto cli = startRun();
    QVERIFY(cli);
    QVERIFY(knobs() != m_before);
    const Agent agent = this->agent(QStringLiteral("host1"));
    QVERIFY(agent.worker > 1);
    // The controller holds its breath, so that it cannot set the knobs again before we look.
    QCOMPARE(::kill(static_cast<pid_t>(cli->pid()), SIGSTOP), 0);
    QCOMPARE(::kill(agent.worker, SIGKILL), 0);
    QTRY_COMPARE_WITH_TIMEOUT(m_run->sysctl(QStringLiteral("host1"), kLimit), m_before.senderLimit,
                              2000);
    QCOMPARE(::kill(static_cast<pid_t>(cli->pid()), SIGCONT), 0);
    QVERIFY2(cli->waitForEnd() == 0, cli->errorText());
    QCOMPARE(knobs(), m_before);
    verifyFailedAttempt();
    finishAndVerify();
}

void TestFaults::guardianAndAgentKilled() {
    const auto cli = startRun();
    QVERIFY(cli);
    const Agent agent = this->agent(QStringLiteral("host1"));
    QVERIFY(agent.worker > 1);
    QCOMPARE(::kill(static_cast<pid_t>(cli->pid()), SIGSTOP), 0);
    QCOMPARE(::kill(agent.guardian, SIGKILL), 0);
    (void)::kill(agent.worker, SIGKILL); // it may have followed already
    QCOMPARE(::kill(static_cast<pid_t>(cli->pid()), SIGCONT), 0);
    // Only the journal knows now; the agent that the controller starts next reads it.
    QVERIFY2(cli->waitForEnd() == 0, cli->errorText());
    QCOMPARE(knobs(), m_before);
    verifyFailedAttempt();
    finishAndVerify();
}

void TestFaults::controllerKilled() {
    const auto cli = startRun();
    QVERIFY(cli);
    QVERIFY(knobs() != m_before);
    const auto reported =
        std::count_if(cli->events().begin(), cli->events().end(), [](const QJsonObject& event) {
            return event.value(QStringLiteral("event")).toString() == QLatin1String("sample");
        });
    QCOMPARE(::kill(static_cast<pid_t>(cli->pid()), SIGKILL), 0);
    QVERIFY(knobsComeBack(kRestoreLimitMs));
    (void)cli->waitForEnd();
    // Nothing that was reported as done is lost.
    const StoredRun run = m_run->load(1);
    QVERIFY(run.samples.size() >= reported);
    QCOMPARE(run.info.state, RunState::Running);
    finishAndVerify();
}

void TestFaults::sshdKilled() {
    const auto cli = startRun();
    QVERIFY(cli);
    QVERIFY(knobs() != m_before);
    QVERIFY(m_lab.setSshd(QStringLiteral("host2"), false));
    QVERIFY(knobsComeBack(kRestoreLimitMs));
    QCOMPARE(cli->waitForEnd(), 3);
    verifyFailedAttempt();
    QVERIFY(m_lab.setSshd(QStringLiteral("host2"), true));
    finishAndVerify();
}

void TestFaults::controlLinkDown() {
    const auto cli = startRun();
    QVERIFY(cli);
    QVERIFY(knobs() != m_before);
    QVERIFY(m_lab.setControlLink(QStringLiteral("host1"), false));
    QVERIFY(knobsComeBack(kRestoreLimitMs));
    QCOMPARE(cli->waitForEnd(), 3);
    verifyFailedAttempt();
    QVERIFY(m_lab.setControlLink(QStringLiteral("host1"), true));
    finishAndVerify();
}

void TestFaults::receiverAgentStopped() {
    const auto cli = startRun();
    QVERIFY(cli);
    QVERIFY(knobs() != m_before);
    const Agent agent = this->agent(QStringLiteral("host2"));
    QVERIFY(agent.worker > 1);
    // The controller holds its breath too: else it would set the knobs again with a new agent
    // before we look.
    QCOMPARE(::kill(agent.worker, SIGSTOP), 0);
    QCOMPARE(::kill(static_cast<pid_t>(cli->pid()), SIGSTOP), 0);
    QVERIFY(knobsComeBack(kRestoreLimitMs));
    QCOMPARE(::kill(static_cast<pid_t>(cli->pid()), SIGCONT), 0);
    // The guardian ends the stopped agent; the run goes on with a new one.
    QVERIFY2(cli->waitForEnd() == 0, cli->errorText());
    verifyFailedAttempt();
    finishAndVerify();
}

QTEST_GUILESS_MAIN(TestFaults)
#include "tst_faults.moc"
