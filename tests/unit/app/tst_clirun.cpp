// SPDX-License-Identifier: GPL-3.0-or-later
#include "cliprocess.h"
#include "core/model/run.h"
#include "db/runrepository.h"

#include <QJsonArray>
#include <QTest>

#include <csignal>

using namespace knobscope;

/// The headless program measuring this computer with real agents, over loopback, with test knobs
/// only: no host is changed.
class TestCliRun : public QObject {
    Q_OBJECT
private slots:
    void checksThisComputer();
    void recoversNothing();
    void measuresStoresAndExports();
    void tellsScriptsWhatHappens();
    void quietSaysOnlyTheResult();
    void stopsOnASignalAndResumes_data();
    void stopsOnASignalAndResumes();
    void goesOnWhenNobodyReads();

private:
    static StoredRun load(const CliProcess& cli, qint64 run) {
        const auto runs = RunRepository::open(cli.path(QStringLiteral("r.db")));
        const auto stored = runs ? (*runs)->loadRun(run) : Result<StoredRun>();
        return stored ? *stored : StoredRun{};
    }
    /// Waits for a line of standard output that contains `text`.
    static bool waitForOutput(QProcess& process, const QByteArray& text) {
        QByteArray seen;
        while (!seen.contains(text)) {
            if (!process.waitForReadyRead(30000))
                return false;
            seen += process.readAllStandardOutput();
        }
        return true;
    }
};

void TestCliRun::checksThisComputer() {
    const CliProcess cli;
    const auto outcome = cli.run({"check", "local"});
    QVERIFY2(outcome.status == 0, outcome.err.constData());
    QVERIFY2(outcome.out.contains("this computer") && outcome.out.contains("ok"),
             outcome.out.constData());
}

void TestCliRun::recoversNothing() {
    const CliProcess cli;
    const auto outcome = cli.run({"recover", "local"});
    QVERIFY2(outcome.status == 0, outcome.err.constData());
}

void TestCliRun::measuresStoresAndExports() {
    const CliProcess cli;
    QVERIFY(cli.write(QStringLiteral("e.json"), localExperiment(0.2, 2)));
    const auto outcome = cli.run({"run", "e.json", "--db", "r.db", "--export", "out"});
    QVERIFY2(outcome.status == 0, (outcome.err + outcome.out).constData());
    QCOMPARE(outcome.out.count("\nsample "), 4); // one line each, as this is no terminal
    QVERIFY2(!outcome.out.contains('\r') && !outcome.out.contains('\x1b'), outcome.out.constData());
    QVERIFY2(outcome.out.contains("Run 1 finished: 4 samples"), outcome.out.constData());
    for (const char* file : {"out/samples.csv", "out/cells.csv", "out/counters.csv",
                             "out/environment.csv", "out/figure.pdf"}) {
        QVERIFY2(!cli.read(QString::fromLatin1(file)).isEmpty(), file);
        QVERIFY2(outcome.out.contains(file), file);
    }
    const StoredRun run = load(cli, 1);
    QCOMPARE(run.info.state, RunState::Finished);
    QCOMPARE(run.samples.size(), 4);
    QCOMPARE(run.hosts.size(), 2);
    for (const SampleRecord& sample : run.samples)
        QVERIFY(sample.metric(QStringLiteral("throughput_mbit_s")).value_or(0) > 0);
}

void TestCliRun::tellsScriptsWhatHappens() {
    const CliProcess cli;
    QVERIFY(cli.write(QStringLiteral("e.json"), localExperiment(0.2, 1)));
    const auto outcome = cli.run({"run", "e.json", "--db", "r.db", "--json"});
    QVERIFY2(outcome.status == 0, outcome.err.constData());
    QMap<QString, int> counts;
    const auto lines = jsonLines(outcome.out);
    for (const QJsonObject& line : lines) {
        const QString event = line["event"].toString();
        QVERIFY2(!event.isEmpty(), "a line that is no event");
        ++counts[event];
        if (event == QLatin1String("sample")) {
            QCOMPARE(line["state"].toString(), QStringLiteral("done"));
            QVERIFY(line["metrics"]["sample"]["throughput_mbit_s"].toDouble() > 0);
            QCOMPARE(line["settings"][0]["knob"].toString(), QStringLiteral("message_size"));
        }
    }
    QCOMPARE(counts["run_started"], 1);
    QCOMPARE(counts["sample"], 2);
    QVERIFY(counts["progress"] >= 2);
    QCOMPARE(counts["finished"], 1);
    QCOMPARE(lines.last()["event"].toString(), QStringLiteral("finished"));
    QCOMPARE(lines.last()["status"].toInt(-1), 0);
    QCOMPARE(lines.last()["run"].toInt(), 1);
}

void TestCliRun::quietSaysOnlyTheResult() {
    const CliProcess cli;
    QVERIFY(cli.write(QStringLiteral("e.json"), localExperiment(0.2, 1)));
    const auto outcome = cli.run({"run", "e.json", "--db", "r.db", "--quiet"});
    QVERIFY2(outcome.status == 0, outcome.err.constData());
    QCOMPARE(outcome.out.count("\nsample "), 0);
    QVERIFY(outcome.out.contains("Run 1 finished"));
    QCOMPARE(outcome.err, QByteArray());
}

void TestCliRun::stopsOnASignalAndResumes_data() {
    QTest::addColumn<int>("signalNumber");
    QTest::newRow("SIGINT") << SIGINT;
    QTest::newRow("SIGTERM") << SIGTERM;
    QTest::newRow("SIGHUP") << SIGHUP;
}

void TestCliRun::stopsOnASignalAndResumes() {
    QFETCH(int, signalNumber);
    const CliProcess cli;
    QVERIFY(cli.write(QStringLiteral("e.json"), localExperiment(0.3, 4)));
    QProcess process;
    cli.prepare(process);
    process.setArguments({"run", "e.json", "--db", "r.db"});
    process.start();
    QVERIFY(waitForOutput(process, "\nsample 2 "));
    ::kill(static_cast<pid_t>(process.processId()), signalNumber);
    const auto stopped = CliProcess::finish(process);
    QVERIFY2(stopped.status == 130, stopped.err.constData());
    QVERIFY2(stopped.err.contains("putting the knobs back"), stopped.err.constData());

    const StoredRun half = load(cli, 1);
    QCOMPARE(half.info.state, RunState::Cancelled);
    QVERIFY(half.info.resumable);
    QVERIFY(half.samples.size() >= 2 && half.samples.size() < 8);

    const auto resumed = cli.run({"resume", "last", "--db", "r.db"});
    QVERIFY2(resumed.status == 0, (resumed.err + resumed.out).constData());
    const StoredRun whole = load(cli, 1);
    QCOMPARE(whole.info.state, RunState::Finished);
    QCOMPARE(whole.info.samplesDone, 8);
    QSet<std::pair<int, int>> measured;
    for (const SampleRecord& sample : whole.samples) {
        if (sample.measured())
            measured.insert({sample.block, sample.cell});
    }
    QCOMPARE(measured.size(), 8);
    for (qsizetype i = 0; i < half.samples.size(); ++i)
        QCOMPARE(whole.samples[i].id, half.samples[i].id);
}

void TestCliRun::goesOnWhenNobodyReads() {
    const CliProcess cli;
    QVERIFY(cli.write(QStringLiteral("e.json"), localExperiment(0.2, 2)));
    QProcess process;
    QProcess reader; // leaves after the first line
    cli.prepare(process);
    process.setArguments({"run", "e.json", "--db", "r.db"});
    process.setStandardOutputProcess(&reader);
    process.start();
    reader.start(QStringLiteral("head"), {"-n", "1"});
    QVERIFY(reader.waitForFinished(30000));
    QCOMPARE(CliProcess::finish(process).status, 0);
    QCOMPARE(load(cli, 1).info.state, RunState::Finished);
}

QTEST_GUILESS_MAIN(TestCliRun)
#include "tst_clirun.moc"
