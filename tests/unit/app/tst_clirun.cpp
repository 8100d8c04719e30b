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
    void measuresManyToOne();
    void quietSaysOnlyTheResult();
    void stopsOnASignalAndResumes_data();
    void stopsOnASignalAndResumes();
    void stoppedAfterTheLastSampleIsWhole();
    void failedExportIsNoWrongArgument();
    void goesOnWhenNobodyReads_data();
    void goesOnWhenNobodyReads();
    void stoppedWhileNobodyReads();
    void progressFitsTheTerminal();

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
    const auto json = cli.run({"check", "local", "local", "--json"});
    QCOMPARE(json.status, 0);
    const QJsonArray hosts = QJsonDocument::fromJson(json.out).array();
    QCOMPARE(hosts.size(), 2);
    QCOMPARE(hosts[1]["host"].toString(), QStringLiteral("local"));
    QCOMPARE(hosts[1]["status"].toInt(-1), 0);
    QCOMPARE(hosts[1]["checks"][0]["state"].toString(), QStringLiteral("ok"));
}

void TestCliRun::recoversNothing() {
    const CliProcess cli;
    const auto outcome = cli.run({"recover", "local"});
    QVERIFY2(outcome.status == 0, outcome.err.constData());
    const auto json = cli.run({"recover", "local", "--json"});
    QCOMPARE(json.status, 0);
    const QJsonObject report = QJsonDocument::fromJson(json.out).object();
    QCOMPARE(report["status"].toInt(-1), 0);
    QVERIFY(report["knobs"].isArray() && report["knobs"].toArray().isEmpty());
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
                             "out/environment.csv", "out/streams.csv", "out/figure.pdf"}) {
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
            // Over loopback a CPU may well be the limit, which is a flag.
            QCOMPARE(line["state"].toString(), line["flags"].toArray().isEmpty()
                                                   ? QStringLiteral("done")
                                                   : QStringLiteral("flagged"));
            QVERIFY(line["metrics"]["sample"]["throughput_mbit_s"].toDouble() > 0);
            QCOMPARE(line["settings"][0]["knob"].toString(), QStringLiteral("message_size"));
            // Plain numbers, counted from 1.
            const int cell = line["cell"].toInt();
            QVERIFY(cell == 1 || cell == 2);
            QCOMPARE(line["settings"][0]["value"].toInt(), cell == 1 ? 16384 : 131072);
            QCOMPARE(line["order"].toInt(), counts[event]);
            QCOMPARE(line["block"].toInt(), 1);
            QCOMPARE(line["attempt"].toInt(), 1);
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

/// This computer three times: two senders, and a receiver with an agent for each of them.
void TestCliRun::measuresManyToOne() {
    const CliProcess cli;
    const QByteArray host = R"({ "local": true, "address": "127.0.0.1", "interface": "lo" })";
    QVERIFY(cli.write(QStringLiteral("e.json"),
                      localExperiment(0.2, 1).replace("\"sender\": " + host,
                                                      "\"sender\": [" + host + ", " + host + "]")));
    const auto outcome = cli.run({"run", "e.json", "--db", "r.db", "--json", "--export", "out"});
    QVERIFY2(outcome.status == 0, outcome.err.constData());
    int samples = 0;
    for (const QJsonObject& line : jsonLines(outcome.out)) {
        if (line["event"].toString() != QLatin1String("sample"))
            continue;
        ++samples;
        const QJsonObject metrics = line["metrics"].toObject();
        const double first = metrics["sender_1"]["throughput_mbit_s"].toDouble();
        const double second = metrics["sender_2"]["throughput_mbit_s"].toDouble();
        QVERIFY(first > 0 && second > 0);
        QCOMPARE(metrics["sample"]["throughput_mbit_s"].toDouble(), first + second);
        QVERIFY(metrics["receiver"]["bytes_received"].toDouble() > 0);
    }
    QCOMPARE(samples, 2);
    QCOMPARE(cli.read(QStringLiteral("out/hosts.csv")).count('\n'), 1 + 2 * 3);
    QCOMPARE(cli.read(QStringLiteral("out/streams.csv")).count('\n'), 1 + 2 * 4);
    const StoredRun run = load(cli, 1);
    QCOMPARE(run.hosts.size(), 3);
    QCOMPARE(run.samples.value(0).streams.value(Side::Receiver).size(), 2);
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

/// Nothing is left to resume: such a run would be neither finished nor resumable for ever.
void TestCliRun::stoppedAfterTheLastSampleIsWhole() {
    const CliProcess cli;
    QByteArray experiment = localExperiment(0.2, 1);
    experiment.replace("\"order\"", "\"pause_seconds\": 3, \"order\"");
    QVERIFY(cli.write(QStringLiteral("e.json"), experiment));
    QProcess process;
    cli.prepare(process);
    process.setArguments({"run", "e.json", "--db", "r.db"});
    process.start();
    QVERIFY(waitForOutput(process, "\nsample 2 "));
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    const auto outcome = CliProcess::finish(process);
    QVERIFY2(outcome.status == 0, outcome.err.constData());
    QCOMPARE(load(cli, 1).info.state, RunState::Finished);
}

/// What cannot be written when all is measured (a full disk) is no fault of the command line.
void TestCliRun::failedExportIsNoWrongArgument() {
    const CliProcess cli;
    QVERIFY(cli.write(QStringLiteral("e.json"), localExperiment(0.2, 1)));
    QVERIFY(QDir().mkpath(cli.path(QStringLiteral("out/samples.csv")))); // stands in the way
    const auto outcome = cli.run({"run", "e.json", "--db", "r.db", "--export", "out"});
    QCOMPARE(outcome.status, 1);
    QVERIFY2(outcome.err.contains("samples.csv"), outcome.err.constData());
    QCOMPARE(load(cli, 1).info.state, RunState::Finished);
}

void TestCliRun::goesOnWhenNobodyReads_data() {
    QTest::addColumn<QStringList>("options");
    QTest::addColumn<QString>("reader"); ///< a command; empty: standard output is closed
    QTest::newRow("text") << QStringList{} << "head -n 1";
    QTest::newRow("JSON") << QStringList{"--json"} << "head -n 1";
    QTest::newRow("JSON, no reader at all") << QStringList{"--json"} << "true";
    QTest::newRow("closed") << QStringList{"--json"} << "";
    QTest::newRow("full disk") << QStringList{"--json"} << "full";
}

/// The run is measured, stored and ends as it would have ended; errors come all the same.
void TestCliRun::goesOnWhenNobodyReads() {
    QFETCH(QStringList, options);
    QFETCH(QString, reader);
    const CliProcess cli;
    QVERIFY(cli.write(QStringLiteral("e.json"), localExperiment(0.2, 2)));
    const QString run = QStringLiteral(KNOBSCOPE_BINARY_DIR "/knobscope-cli run %1 --db r.db ") +
                        options.join(QLatin1Char(' '));
    const QString into = reader.isEmpty()                  ? QStringLiteral(">&-")
                         : reader == QLatin1String("full") ? QStringLiteral(">/dev/full")
                                                           : QStringLiteral("| ") + reader;
    const auto outcomeOf = [&](const QString& file) {
        QProcess shell;
        cli.prepare(shell);
        shell.setProgram(QStringLiteral("bash"));
        shell.setArguments({"-c", run.arg(file) + into + "; exit ${PIPESTATUS[0]}"});
        shell.start();
        return CliProcess::finish(shell);
    };
    const auto outcome = outcomeOf(QStringLiteral("e.json"));
    QVERIFY2(outcome.status == 0, outcome.err.constData());
    QCOMPARE(outcome.err.isEmpty(), reader != QLatin1String("full"));
    QCOMPARE(load(cli, 1).info.state, RunState::Finished);
    QCOMPARE(load(cli, 1).samples.size(), 4);
    const auto wrong = outcomeOf(QStringLiteral("absent.json"));
    QCOMPARE(wrong.status, 2);
    QVERIFY2(wrong.err.contains("absent.json"), wrong.err.constData());
}

void TestCliRun::stoppedWhileNobodyReads() {
    const CliProcess cli;
    QVERIFY(cli.write(QStringLiteral("e.json"), localExperiment(0.3, 20)));
    QProcess process;
    QProcess reader;
    cli.prepare(process);
    process.setArguments({"run", "e.json", "--db", "r.db", "--json"});
    process.setStandardOutputProcess(&reader);
    process.start();
    reader.start(QStringLiteral("head"), {"-n", "12"});
    QVERIFY(reader.waitForFinished(30000));
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    const auto outcome = CliProcess::finish(process);
    QCOMPARE(outcome.status, 130);
    QVERIFY2(outcome.err.contains("putting the knobs back"), outcome.err.constData());
    QCOMPARE(load(cli, 1).info.state, RunState::Cancelled);
}

/// Made by script(1): no line that is drawn anew may wrap, and the values of the knobs stay whole.
void TestCliRun::progressFitsTheTerminal() {
    const CliProcess cli;
    QByteArray experiment = localExperiment(0.3, 1);
    experiment.replace(R"("values": ["16K", "128K"] })",
                       R"("values": ["16K", "131072"] },
             { "knob": "congestion_control", "side": "both", "values": ["cubic"] },
             { "knob": "streams", "side": "both", "values": [2] },
             { "knob": "window", "side": "sender", "values": ["256K"] },
             { "knob": "window", "side": "receiver", "values": ["1048576"] })");
    QVERIFY(cli.write(QStringLiteral("e.json"), experiment));
    QProcess terminal;
    cli.prepare(terminal);
    terminal.setArguments(
        {"-qec", "stty cols 80; " + terminal.program() + " run e.json --db r.db", "/dev/null"});
    terminal.setProgram(QStringLiteral("script"));
    terminal.start();
    const auto outcome = CliProcess::finish(terminal);
    QVERIFY2(outcome.status == 0, outcome.out.constData());
    QByteArray drawn = outcome.out;
    drawn.replace("\x1b[K", "").replace('\n', '\r');
    bool progress = false;
    for (const QByteArray& line : drawn.split('\r')) {
        const QString text = QString::fromUtf8(line);
        QVERIFY2(text.size() <= 80, line.constData());
        if (line.contains("left  cell") && line.contains("Mbit/s")) {
            progress = true;
            for (const char* value : {"cubic", "256K", "1048576"})
                QVERIFY2(line.contains(value), line.constData());
        }
    }
    QVERIFY2(progress, outcome.out.constData());
}

QTEST_GUILESS_MAIN(TestCliRun)
#include "tst_clirun.moc"
