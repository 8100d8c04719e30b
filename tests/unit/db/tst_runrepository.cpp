// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/experimentfile.h"
#include "db/database.h"
#include "db/runrepository.h"
#include "examplerun.h"

#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <limits>

using namespace knobscope;

class TestRunRepository : public QObject {
    Q_OBJECT
private slots:
    void init();
    void cleanup();
    void keepsTheExperiment();
    void keepsTheExperimentVerbatim();
    void keepsAnExperimentWithoutAxes();
    void keepsSamples();
    void keepsFiguresOfEveryHost();
    void keepsFailedAttempts();
    void keepsTheOrderMeasured();
    void storesOnlyWhatIsKnown();
    void keepsHostFacts();
    void sharesCounterSets();
    void countsASampleOnce();
    void listsNewestFirst();
    void saysWhatCanBeResumed_data();
    void saysWhatCanBeResumed();
    void rejectsWhatDoesNotFit();
    void storesAllOfASampleOrNothing();
    void deletesARunWithAllThatBelongsToIt();
    void neverUsesAnIdAgain();
    void namesDamage_data();
    void namesDamage();
    void findsDanglingReferences();

private:
    qint64 newRun(const Experiment& experiment = example::experiment()) {
        const auto run = m_runs->createRun(experiment, expandMatrix(experiment));
        return run ? *run : -1;
    }
    void reopen() {
        m_runs.reset();
        auto opened = RunRepository::open(m_path);
        QVERIFY2(opened, opened ? "" : qPrintable(opened.error().text()));
        m_runs = std::move(*opened);
    }
    qint64 count(std::string_view sql) {
        const auto database = Database::open(m_path);
        const auto value = (*database)->value(sql);
        return value && *value ? (*value)->toLongLong() : -1;
    }

    std::unique_ptr<QTemporaryDir> m_dir;
    QString m_path;
    std::unique_ptr<RunRepository> m_runs;
};

void TestRunRepository::init() {
    m_dir = std::make_unique<QTemporaryDir>();
    m_path = m_dir->filePath(QStringLiteral("runs.db"));
    reopen();
}

void TestRunRepository::cleanup() {
    if (m_runs)
        QCOMPARE(m_runs->check().value(), QStringList());
    m_runs.reset();
}

void TestRunRepository::keepsTheExperiment() {
    const Experiment experiment = example::experiment();
    const qint64 run = newRun();
    QVERIFY(run > 0);
    reopen();
    const auto stored = m_runs->loadRun(run);
    QVERIFY2(stored, stored ? "" : qPrintable(stored.error().text()));
    QVERIFY(stored->experiment == experiment);
    QVERIFY(stored->cells == expandMatrix(experiment));
    QCOMPARE(stored->info.id, run);
    QCOMPARE(stored->info.name, experiment.name);
    QCOMPARE(stored->info.state, RunState::Running);
    QCOMPARE(stored->info.testKind, experiment.test.kind);
    QCOMPARE(stored->info.knobs, (QStringList{"window", "message_size"}));
    QCOMPARE(stored->info.cells, 6);
    QCOMPARE(stored->info.samplesPlanned, 12);
    QVERIFY(stored->info.started.isValid());
    QCOMPARE(stored->info.started.timeSpec(), Qt::UTC);
    QVERIFY(!stored->info.ended.isValid());
    QVERIFY(stored->samples.isEmpty());
}

void TestRunRepository::keepsTheExperimentVerbatim() {
    const qint64 run = newRun();
    const auto database = Database::open(m_path);
    const auto json = (*database)->value("SELECT experiment FROM run WHERE id = ?", {run});
    QCOMPARE((**json).toString().toUtf8(), writeExperiment(example::experiment()));
}

void TestRunRepository::keepsAnExperimentWithoutAxes() {
    Experiment experiment = example::experiment();
    experiment.axes.clear();
    const qint64 run = newRun(experiment);
    const auto stored = m_runs->loadRun(run);
    QVERIFY2(stored, stored ? "" : qPrintable(stored.error().text()));
    QVERIFY(stored->cells == expandMatrix(experiment));
    QCOMPARE(stored->cells.size(), 1);
    QCOMPARE(stored->info.knobs, QStringList());
}

void TestRunRepository::keepsSamples() {
    const qint64 run = newRun();
    SampleRecord sample = example::sample(3, 1, 7);
    const auto id = m_runs->addSample(run, sample);
    QVERIFY2(id, id ? "" : qPrintable(id.error().text()));
    reopen();
    const auto stored = m_runs->loadRun(run);
    QVERIFY2(stored, stored ? "" : qPrintable(stored.error().text()));
    QCOMPARE(stored->samples.size(), 1);
    const SampleRecord& back = stored->samples.first();
    QCOMPARE(back.id, *id);
    QCOMPARE(back.cell, 3);
    QCOMPARE(back.block, 1);
    QCOMPARE(back.order, 7);
    QCOMPARE(back.attempt, 0);
    QCOMPARE(back.state, SampleState::Flagged);
    QCOMPARE(back.flags, sample.flags);
    QCOMPARE(back.started, sample.started);
    QCOMPARE(back.ended, sample.ended);
    QVERIFY(back.knobs == sample.knobs);
    QVERIFY(back.metrics == sample.metrics);
    QVERIFY(back.deltas == sample.deltas);
    QVERIFY(back.presentCounters == sample.presentCounters);
    QVERIFY(back.series == sample.series);
    QVERIFY(back.distributions == sample.distributions);
    QVERIFY(back.streams == sample.streams);
}

void TestRunRepository::keepsFiguresOfEveryHost() {
    const Experiment experiment = example::experimentOfSeveral();
    const qint64 run = newRun(experiment);
    SampleRecord sample = example::sampleOfSeveral(0, 0, 0);
    QVERIFY(m_runs->addSample(run, sample));
    for (const HostRef host : experiment.hostRefs())
        QVERIFY(m_runs->addHostFacts(
            run, HostFacts{host, experiment.host(host).label(), {{"kernel", hostName(host)}}}));
    reopen();
    const auto stored = m_runs->loadRun(run);
    QVERIFY2(stored, stored ? "" : qPrintable(stored.error().text()));
    QVERIFY(stored->experiment == experiment);
    QCOMPARE(stored->info.sender, QStringLiteral("host1, host2"));
    QCOMPARE(stored->info.receiver, QStringLiteral("host3"));
    const SampleRecord& back = stored->samples.first();
    QVERIFY(back.knobs == sample.knobs);
    QVERIFY(back.metrics == sample.metrics);
    QVERIFY(back.deltas == sample.deltas);
    QVERIFY(back.presentCounters == sample.presentCounters);
    QVERIFY(back.streams == sample.streams);
    QCOMPARE(back.metric(QStringLiteral("throughput_mbit_s"), {Side::Sender, 2}), 402.0);
    QCOMPARE(stored->hosts.size(), 3);
    QCOMPARE(stored->hosts[1].host, HostRef(Side::Sender, 2));
    QCOMPARE(stored->hosts[1].label, QStringLiteral("host2"));
    QCOMPARE(stored->hosts[1].facts.value("kernel"), QStringLiteral("sender 2"));
}

void TestRunRepository::keepsFailedAttempts() {
    const qint64 run = newRun();
    QVERIFY(m_runs->addSample(run, example::failedAttempt(2, 0, 0)));
    const auto stored = m_runs->loadRun(run);
    QVERIFY(stored);
    const SampleRecord& back = stored->samples.first();
    QCOMPARE(back.state, SampleState::Failed);
    QCOMPARE(back.reason, QStringLiteral("Contact with host2 was lost"));
    QVERIFY(back.metrics.isEmpty() && back.deltas.isEmpty() && back.series.isEmpty());
    QVERIFY(back.presentCounters.isEmpty());
}

void TestRunRepository::keepsTheOrderMeasured() {
    const qint64 run = newRun();
    const QList<int> cells{5, 0, 3, 1};
    for (int i = 0; i < cells.size(); ++i)
        QVERIFY(m_runs->addSample(run, example::sample(cells[i], 0, i)));
    const auto stored = m_runs->loadRun(run);
    QVERIFY(stored);
    QList<int> back;
    for (const SampleRecord& sample : stored->samples) {
        back.append(sample.cell);
        QCOMPARE(sample.metrics.first().value, 941.25 + sample.order);
    }
    QCOMPARE(back, cells);
}

void TestRunRepository::storesOnlyWhatIsKnown() {
    const qint64 run = newRun();
    SampleRecord sample;
    sample.metrics = {Metric{Side::Whole, QStringLiteral("a"), std::nan("")},
                      Metric{Side::Whole, QStringLiteral("b"), 0},
                      Metric{Side::Whole, QStringLiteral("c"), HUGE_VAL},
                      Metric{Side::Whole, QStringLiteral("d"), -HUGE_VAL}};
    sample.deltas = {CounterDelta{Side::Sender, QStringLiteral("snmp"), QStringLiteral("x"), 0},
                     CounterDelta{Side::Sender, QStringLiteral("snmp"), QStringLiteral("y"), 1}};
    QVERIFY(m_runs->addSample(run, sample));
    const auto stored = m_runs->loadRun(run);
    QVERIFY(stored);
    const SampleRecord& back = stored->samples.first();
    QVERIFY(!back.started.isValid()); // no time given: none made up
    QCOMPARE(back.metrics, (QList<Metric>{sample.metrics[1]}));
    QCOMPARE(back.deltas, (QList<CounterDelta>{sample.deltas[1]}));
}

void TestRunRepository::keepsHostFacts() {
    const qint64 run = newRun();
    HostFacts sender{Side::Sender, QStringLiteral("host1"), {{"kernel", "6.1"}, {"nic.µ", ""}}};
    HostFacts receiver{Side::Receiver, QStringLiteral("host2"), {}};
    QVERIFY(m_runs->addHostFacts(run, sender));
    QVERIFY(m_runs->addHostFacts(run, receiver));
    QVERIFY(m_runs->addHostFacts(run, sender)); // the same again adds nothing
    auto stored = m_runs->loadRun(run);
    QVERIFY(stored);
    QCOMPARE(stored->hosts.size(), 2);
    QCOMPARE(stored->hosts[0].host, HostRef(Side::Sender));
    QCOMPARE(stored->hosts[0].label, sender.label);
    QCOMPARE(stored->hosts[0].facts, sender.facts);
    QCOMPARE(stored->hosts[1].host, HostRef(Side::Receiver));
    QVERIFY(stored->hosts[1].facts.isEmpty());

    sender.facts["kernel"] = QStringLiteral("6.12");
    QVERIFY(m_runs->addHostFacts(run, sender));
    stored = m_runs->loadRun(run);
    QCOMPARE(stored->hosts.size(), 3);
    QCOMPARE(stored->hosts[2].facts["kernel"], QStringLiteral("6.12"));
}

void TestRunRepository::sharesCounterSets() {
    const qint64 run = newRun();
    for (int i = 0; i < 5; ++i)
        QVERIFY(m_runs->addSample(run, example::sample(i, 0, i)));
    QCOMPARE(count("SELECT COUNT(*) FROM counter_set"), 3);
    reopen(); // a new object finds them again
    QVERIFY(m_runs->addSample(run, example::sample(0, 1, 5)));
    QCOMPARE(count("SELECT COUNT(*) FROM counter_set"), 3);

    SampleRecord other = example::sample(0, 2, 6);
    other.presentCounters[Side::Receiver][QStringLiteral("snmp")].removeLast();
    QVERIFY(m_runs->addSample(run, other));
    QCOMPARE(count("SELECT COUNT(*) FROM counter_set"), 4);
    QVERIFY(m_runs->loadRun(run)->samples.last().presentCounters == other.presentCounters);
}

void TestRunRepository::countsASampleOnce() {
    const qint64 run = newRun();
    QVERIFY(m_runs->addSample(run, example::failedAttempt(0, 0, 0)));
    QVERIFY(m_runs->addSample(run, example::sample(0, 0, 1)));
    QVERIFY(m_runs->addSample(run, example::failedAttempt(1, 0, 2)));
    QVERIFY(m_runs->addSample(run, example::failedAttempt(1, 0, 3)));
    QVERIFY(m_runs->addSample(run, example::sample(2, 0, 4)));
    for (const RunInfo& info : {m_runs->listRuns()->first(), m_runs->loadRun(run)->info}) {
        QCOMPARE(info.samplesDone, 2);
        QCOMPARE(info.samplesFailed, 1);
    }
}

void TestRunRepository::listsNewestFirst() {
    QVERIFY(m_runs->listRuns()->isEmpty());
    Experiment both = example::experiment();
    both.axes = {both.axes[0]};
    const qint64 first = newRun();
    const qint64 second = newRun(both);
    QVERIFY(m_runs->setRunState(second, RunState::Failed, QStringLiteral("host2 is down")));
    const auto runs = m_runs->listRuns();
    QVERIFY(runs);
    QCOMPARE(runs->size(), 2);
    QCOMPARE(runs->at(0).id, second);
    QCOMPARE(runs->at(0).state, RunState::Failed);
    QCOMPARE(runs->at(0).message, QStringLiteral("host2 is down"));
    QVERIFY(runs->at(0).ended.isValid());
    QCOMPARE(runs->at(0).knobs, QStringList{"window"});
    QCOMPARE(runs->at(1).id, first);
    QCOMPARE(runs->at(1).knobs, (QStringList{"window", "message_size"}));
}

void TestRunRepository::saysWhatCanBeResumed_data() {
    QTest::addColumn<RunState>("state");
    QTest::addColumn<bool>("complete");
    QTest::addColumn<bool>("claimed");
    QTest::addColumn<bool>("resumable");
    QTest::newRow("program died") << RunState::Running << false << false << true;
    QTest::newRow("program died after the last sample")
        << RunState::Running << true << false << true;
    QTest::newRow("being measured") << RunState::Running << false << true << false;
    QTest::newRow("finished") << RunState::Finished << true << false << false;
    QTest::newRow("stopped") << RunState::Cancelled << false << false << true;
    QTest::newRow("failed") << RunState::Failed << false << false << true;
    QTest::newRow("failed with nothing left to do") << RunState::Failed << true << false << false;
}

void TestRunRepository::saysWhatCanBeResumed() {
    QFETCH(RunState, state);
    QFETCH(bool, complete);
    QFETCH(bool, claimed);
    QFETCH(bool, resumable);
    Experiment experiment = example::experiment();
    experiment.plan.repeatsMax = experiment.plan.repeatsMin = 2;
    const qint64 run = newRun(experiment);
    for (int block = 0; block < 2; ++block)
        for (int cell = 0; cell < (complete ? 6 : 5); ++cell)
            QVERIFY(m_runs->addSample(run, example::sample(cell, block, block * 6 + cell)));
    QVERIFY(m_runs->setRunState(run, state, QString()));
    if (claimed)
        QVERIFY(m_runs->claimRun(run));
    QCOMPARE(m_runs->listRuns()->first().resumable, resumable);
    QCOMPARE(m_runs->loadRun(run)->info.resumable, resumable);
    const auto other = RunRepository::open(m_path);
    QCOMPARE((*other)->listRuns()->first().resumable, resumable);
}

void TestRunRepository::rejectsWhatDoesNotFit() {
    const qint64 run = newRun();
    const auto code = [](const auto& result) {
        return result ? QString() : QString::number(static_cast<int>(result.error().code));
    };
    const QString badInput = QString::number(static_cast<int>(Error::Code::BadInput));
    QCOMPARE(code(m_runs->addSample(run, example::sample(6, 0, 0))), badInput);
    QCOMPARE(code(m_runs->addSample(run, example::sample(-1, 0, 0))), badInput);
    QCOMPARE(code(m_runs->addSample(run + 1, example::sample(0, 0, 0))), badInput);
    QCOMPARE(code(m_runs->addHostFacts(run + 1, HostFacts{})), badInput);
    QCOMPARE(code(m_runs->setRunState(run + 1, RunState::Finished, {})), badInput);
    QCOMPARE(code(m_runs->loadRun(run + 1)), badInput);
    QCOMPARE(code(m_runs->claimRun(run + 1)), badInput);
    QCOMPARE(code(m_runs->claimRun(-1)), badInput);
    QCOMPARE(code(m_runs->deleteRun(run + 1)), badInput);
    QCOMPARE(code(m_runs->createRun(example::experiment(), {Cell{0, {}}})), badInput);
    Experiment invalid = example::experiment();
    invalid.receiver.address = QStringLiteral("nowhere");
    QCOMPARE(code(m_runs->createRun(invalid, expandMatrix(invalid))), badInput);
    QCOMPARE(m_runs->listRuns()->size(), 1);
}

void TestRunRepository::storesAllOfASampleOrNothing() {
    const qint64 run = newRun();
    SampleRecord twice = example::sample(0, 0, 0);
    twice.metrics.prepend(Metric{Side::Whole, QStringLiteral("first_seen_here"), 1});
    twice.metrics.append(twice.metrics.first());
    const auto refused = m_runs->addSample(run, twice);
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, Error::Code::Storage);
    QVERIFY(m_runs->loadRun(run)->samples.isEmpty());
    // The names learnt on the way were rolled back too; they must not be remembered.
    twice.metrics.removeLast();
    QVERIFY(m_runs->addSample(run, twice));
    reopen();
    QVERIFY(m_runs->loadRun(run)->samples.first().metric(QStringLiteral("first_seen_here")));
}

void TestRunRepository::deletesARunWithAllThatBelongsToIt() {
    const qint64 kept = newRun();
    const qint64 gone = newRun();
    for (const qint64 run : {kept, gone}) {
        QVERIFY(m_runs->addHostFacts(run, HostFacts{Side::Sender, "host1", {{"kernel", "6.1"}}}));
        QVERIFY(m_runs->addSample(run, example::sample(0, 0, 0)));
    }
    QVERIFY(m_runs->deleteRun(gone));
    QCOMPARE(m_runs->listRuns()->size(), 1);
    QCOMPARE(m_runs->loadRun(kept)->samples.size(), 1);
    for (const std::string_view sql :
         {"SELECT COUNT(*) FROM sample", "SELECT COUNT(*) FROM run_host",
          "SELECT COUNT(*) FROM host_fact"})
        QCOMPARE(count(sql), 1);
    QCOMPARE(count("SELECT COUNT(*) FROM cell"), 6);
    QCOMPARE(count("SELECT COUNT(*) FROM metric"), 4);

    QVERIFY(m_runs->claimRun(kept));
    QVERIFY(!m_runs->deleteRun(kept));
    QVERIFY(!(*RunRepository::open(m_path))->deleteRun(kept));
}

void TestRunRepository::neverUsesAnIdAgain() {
    const qint64 first = newRun();
    QVERIFY(m_runs->deleteRun(first));
    QVERIFY(newRun() > first);
}

void TestRunRepository::namesDamage_data() {
    QTest::addColumn<QByteArray>("damage");
    QTest::addColumn<QString>("named");
    QTest::newRow("experiment") << QByteArray("UPDATE run SET experiment = '{'")
                                << QStringLiteral("experiment");
    QTest::newRow("state") << QByteArray("UPDATE run SET state = 'x'") << QStringLiteral("state");
    QTest::newRow("knob value") << QByteArray("DELETE FROM cell_knob WHERE cell = 2 AND axis = 0")
                                << QStringLiteral("cell 2");
    QTest::newRow("last knob value")
        << QByteArray("DELETE FROM cell_knob WHERE cell = 2 AND axis = 1")
        << QStringLiteral("cell 2");
    QTest::newRow("cell") << QByteArray("DELETE FROM cell WHERE cell = 5")
                          << QStringLiteral("5 of its 6 cells");
    QTest::newRow("series") << QByteArray("UPDATE series SET data = x'0101ffffffff'")
                            << QStringLiteral("sample 1: its sender series");
    QTest::newRow("empty series") << QByteArray("UPDATE series SET data = x''")
                                  << QStringLiteral("series");
    for (const int side : {-1, 4, 7, 70, 1000000})
        QTest::addRow("side %d", side) << QByteArray("UPDATE metric SET side = % WHERE side = 2")
                                              .replace('%', QByteArray::number(side))
                                       << QStringLiteral("sample 1: unknown side");
    QTest::newRow("host that the experiment has not")
        << QByteArray("UPDATE metric SET side = 9 WHERE side = 2")
        << QStringLiteral("sample 1: the experiment has no sender 2");
    QTest::newRow("series of one host")
        << QByteArray("UPDATE series SET side = 5 WHERE side = 2") << QStringLiteral("sample 1: ");
    QTest::newRow("host side") << QByteArray("UPDATE run_host SET side = 77")
                               << QStringLiteral("host 1");
    QTest::newRow("host number") << QByteArray("UPDATE run_host SET side = 6")
                                 << QStringLiteral("no receiver 1");
    QTest::newRow("streams") << QByteArray("UPDATE stream_figures SET data = x'0101'")
                             << QStringLiteral("sample 1: the streams of its sender");
    QTest::newRow("metric name") << QByteArray("DELETE FROM name WHERE text = 'cpu_percent'")
                                 << QStringLiteral("name");
    QTest::newRow("counter") << QByteArray("DELETE FROM counter WHERE name = 'TcpInSegs'")
                             << QStringLiteral("counter");
    QTest::newRow("counter set") << QByteArray("DELETE FROM counter_set")
                                 << QStringLiteral("counter set");
}

void TestRunRepository::namesDamage() {
    QFETCH(QByteArray, damage);
    QFETCH(QString, named);
    const qint64 run = newRun();
    QVERIFY(m_runs->addHostFacts(run, HostFacts{Side::Sender, "host1", {{"kernel", "6.1"}}}));
    QVERIFY(m_runs->addSample(run, example::sample(0, 0, 0)));
    QVERIFY(m_runs->addSample(run, example::sample(1, 0, 1)));
    {
        const auto database = Database::open(m_path);
        QVERIFY((*database)->exec("PRAGMA foreign_keys = OFF"));
        const auto done = (*database)->execOnce(damage.toStdString());
        QVERIFY2(done, done ? "" : qPrintable(done.error().text()));
    }
    reopen(); // without what the old object remembered
    const auto stored = m_runs->loadRun(run);
    QVERIFY(!stored);
    QCOMPARE(stored.error().code, Error::Code::Storage);
    QVERIFY2(stored.error().text().contains(named), qPrintable(stored.error().text()));
    m_runs.reset(); // its references dangle, as they should here
}

void TestRunRepository::findsDanglingReferences() {
    const qint64 run = newRun();
    QVERIFY(m_runs->addSample(run, example::sample(0, 0, 0)));
    {
        const auto database = Database::open(m_path);
        QVERIFY((*database)->exec("PRAGMA foreign_keys = OFF"));
        QVERIFY((*database)->exec("DELETE FROM sample"));
    }
    const auto found = m_runs->check();
    QVERIFY(found);
    QVERIFY(!found->isEmpty());
    QVERIFY2(found->join('\n').contains(QStringLiteral("sample")), qPrintable(found->join('\n')));
    m_runs.reset();
}

QTEST_GUILESS_MAIN(TestRunRepository)
#include "tst_runrepository.moc"
