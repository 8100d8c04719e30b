// SPDX-License-Identifier: GPL-3.0-or-later
#include "cliprocess.h"
#include "core/model/matrix.h"
#include "db/runrepository.h"
#include "tests/unit/db/examplerun.h"

#include <QJsonArray>
#include <QTest>

using namespace knobscope;

/// What the headless program does without reaching any host.
class TestCli : public QObject {
    Q_OBJECT
private slots:
    void wrongArgumentsEndWithTwo_data();
    void wrongArgumentsEndWithTwo();
    void helpAndVersionEndWell_data();
    void helpAndVersionEndWell();
    void wrongFilesEndWithTwo_data();
    void wrongFilesEndWithTwo();
    void wrongFileEndsTheJsonToo();
    void dryRunShowsThePlanAndChangesNothing();
    void dryRunAsJson();
    void unusableDatabaseEndsWithTwo();
    void unreachableHostEndsWithThree();
    void listsNothingYet();
    void listsAndShowsRuns();
    void exportsCsvAndFigures();
    void refusesUnknownRuns_data();
    void refusesUnknownRuns();
    void refusesToResumeWhatIsDone();
    void refusesToResumeWhatIsBeingMeasured();
    void worksInAnyLocale();

private:
    /// A finished run in which something went wrong here and there.
    static qint64 storeRun(RunRepository& runs, RunState state = RunState::Finished) {
        Experiment experiment = example::experiment();
        experiment.plan.repeatsMin = experiment.plan.repeatsMax = 2;
        const auto run = runs.createRun(experiment, expandMatrix(experiment));
        if (!run)
            return -1;
        (void)runs.addHostFacts(*run,
                                HostFacts{Side::Sender, "this computer", {{"kernel", "6.9"}}});
        int order = 0;
        (void)runs.addSample(*run, example::failedAttempt(4, 0, order++));
        for (int block = 0; block < 2; ++block)
            for (int cell = 0; cell < 6; ++cell)
                (void)runs.addSample(*run, example::sample(cell, block, order++));
        (void)runs.setRunState(*run, state, {});
        return *run;
    }
};

void TestCli::wrongArgumentsEndWithTwo_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("none") << QStringList{};
    QTest::newRow("unknown command") << QStringList{"dance"};
    QTest::newRow("two commands") << QStringList{"runs", "show"};
    QTest::newRow("run without file") << QStringList{"run"};
    QTest::newRow("run with empty file name") << QStringList{"run", ""};
    QTest::newRow("unknown option") << QStringList{"run", "x.json", "--fast"};
    QTest::newRow("option without value") << QStringList{"run", "x.json", "--db"};
    QTest::newRow("resume without run") << QStringList{"resume"};
    QTest::newRow("run is no number") << QStringList{"show", "first"};
    QTest::newRow("negative run") << QStringList{"show", "-1"};
    QTest::newRow("huge run") << QStringList{"show", "99999999999999999999"};
    QTest::newRow("export of nothing") << QStringList{"export", "1"};
    QTest::newRow("style without figure")
        << QStringList{"export", "1", "--csv", "d", "--style", "acm"};
    QTest::newRow("unknown style")
        << QStringList{"export", "1", "--figure", "f.pdf", "--style", "nature"};
    QTest::newRow("check without host") << QStringList{"check"};
    QTest::newRow("recover of two") << QStringList{"recover", "a", "b"};
}

void TestCli::wrongArgumentsEndWithTwo() {
    QFETCH(QStringList, arguments);
    const CliProcess cli;
    const auto outcome = cli.run(arguments);
    QCOMPARE(outcome.status, 2);
    QCOMPARE(outcome.out, QByteArray());
    QVERIFY2(outcome.err.startsWith("knobscope-cli: ") && outcome.err.count('\n') == 1,
             outcome.err.constData());
}

void TestCli::helpAndVersionEndWell_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("shown");
    QTest::newRow("help") << QStringList{"--help"} << QByteArray("recover");
    QTest::newRow("help of run") << QStringList{"run", "--help"} << QByteArray("--dry-run");
    QTest::newRow("help of export") << QStringList{"export", "--help"} << QByteArray("usenix");
    QTest::newRow("version") << QStringList{"--version"} << QByteArray("knobscope-cli ");
}

void TestCli::helpAndVersionEndWell() {
    QFETCH(QStringList, arguments);
    QFETCH(QByteArray, shown);
    const CliProcess cli;
    const auto outcome = cli.run(arguments);
    QCOMPARE(outcome.status, 0);
    QVERIFY2(outcome.out.contains(shown), outcome.out.constData());
    QCOMPARE(outcome.err, QByteArray());
}

void TestCli::wrongFilesEndWithTwo_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QByteArray>("named");
    const QByteArray good = localExperiment(0.2, 2);
    const auto with = [&](const char* from, const char* to) {
        QByteArray changed = good;
        changed.replace(from, to);
        return changed;
    };
    QTest::newRow("empty") << QByteArray() << QByteArray("e.json");
    QTest::newRow("broken JSON") << good.chopped(1) << QByteArray("line");
    QTest::newRow("unknown key") << with("\"plan\"", "\"plans\"") << QByteArray("plans");
    QTest::newRow("unknown knob") << with("message_size", "mesage_size")
                                  << QByteArray("axes[0].knob");
    QTest::newRow("bad value") << with("\"128K\"", "\"big\"") << QByteArray("axes[0].values[1]");
    QTest::newRow("empty axis") << with("[\"16K\", \"128K\"]", "[]") << QByteArray("axes[0]");
}

void TestCli::wrongFilesEndWithTwo() {
    QFETCH(QByteArray, content);
    QFETCH(QByteArray, named);
    const CliProcess cli;
    QVERIFY(cli.write(QStringLiteral("e.json"), content));
    for (const char* how : {"--quiet", "--dry-run"}) {
        const auto outcome = cli.run({"run", "e.json", how});
        QCOMPARE(outcome.status, 2);
        QCOMPARE(outcome.out, QByteArray());
        QVERIFY2(outcome.err.contains(named) && outcome.err.count('\n') == 1,
                 outcome.err.constData());
    }
    QVERIFY(!QDir(cli.path(QStringLiteral("data"))).exists());
}

void TestCli::wrongFileEndsTheJsonToo() {
    const CliProcess cli;
    const auto outcome = cli.run({"run", "missing.json", "--json"});
    QCOMPARE(outcome.status, 2);
    const auto lines = jsonLines(outcome.out);
    QCOMPARE(lines.size(), 1);
    QCOMPARE(lines[0]["event"].toString(), QStringLiteral("finished"));
    QCOMPARE(lines[0]["status"].toInt(-1), 2);
    QVERIFY(lines[0]["run"].isNull());
    QVERIFY(lines[0]["message"].toString().contains(QStringLiteral("missing.json")));
}

void TestCli::dryRunShowsThePlanAndChangesNothing() {
    const CliProcess cli;
    QVERIFY(cli.write(QStringLiteral("e.json"), localExperiment(0.5, 3)));
    const auto outcome = cli.run({"run", "e.json", "--dry-run"});
    QCOMPARE(outcome.status, 0);
    QCOMPARE(outcome.err, QByteArray());
    for (const char* shown : {"Größe", "2 cells", "16K", "128K", "6 samples", "127.0.0.1"})
        QVERIFY2(outcome.out.contains(shown), outcome.out.constData());
    QVERIFY(!QDir(cli.path(QStringLiteral("data"))).exists());
}

void TestCli::dryRunAsJson() {
    const CliProcess cli;
    QVERIFY(cli.write(QStringLiteral("e.json"), localExperiment(0.5, 3)));
    const auto outcome = cli.run({"run", "e.json", "--dry-run", "--json"});
    QCOMPARE(outcome.status, 0);
    const auto lines = jsonLines(outcome.out);
    QCOMPARE(lines.size(), 1);
    QCOMPARE(lines[0]["event"].toString(), QStringLiteral("plan"));
    QCOMPARE(lines[0]["cells"].toArray().size(), 2);
    QCOMPARE(lines[0]["samples_max"].toInt(), 6);
    QVERIFY(lines[0]["seconds_min"].toDouble() >= 3);
}

void TestCli::unusableDatabaseEndsWithTwo() {
    const CliProcess cli;
    QVERIFY(cli.write(QStringLiteral("e.json"), localExperiment(0.2, 1)));
    for (const QStringList& arguments :
         {QStringList{"runs"}, QStringList{"show", "1"}, QStringList{"run", "e.json", "--quiet"}}) {
        const auto outcome = cli.run(arguments + QStringList{"--db", "e.json"});
        QCOMPARE(outcome.status, 2);
        QVERIFY2(outcome.err.contains("no SQLite database") && outcome.err.count('\n') == 1,
                 outcome.err.constData());
    }
    QCOMPARE(cli.read(QStringLiteral("e.json")), localExperiment(0.2, 1));
}

void TestCli::unreachableHostEndsWithThree() {
    const CliProcess cli;
    for (const char* command : {"check", "recover"}) {
        const auto outcome = cli.run({command, "ssh://nobody@127.0.0.1:1"});
        QCOMPARE(outcome.status, 3);
        QVERIFY2(outcome.err.contains("127.0.0.1"), outcome.err.constData());
    }
}

void TestCli::listsNothingYet() {
    const CliProcess cli;
    const auto outcome = cli.run({"runs"});
    QCOMPARE(outcome.status, 0);
    QCOMPARE(outcome.out, QByteArray());
    QVERIFY(QFile::exists(cli.path(QStringLiteral("data/knobscope/runs.db"))));
    QCOMPARE(cli.run({"show", "last"}).status, 2);
}

void TestCli::listsAndShowsRuns() {
    const CliProcess cli;
    {
        const auto runs = RunRepository::open(cli.path(QStringLiteral("r.db")));
        QCOMPARE(storeRun(**runs, RunState::Cancelled), 1);
        QCOMPARE(storeRun(**runs), 2);
    }
    const auto list = cli.run({"runs", "--db", "r.db"});
    QCOMPARE(list.status, 0);
    const auto lines = list.out.split('\n');
    QCOMPARE(lines.size(), 4); // header, two runs, the end
    QVERIFY2(lines[1].startsWith("2 ") && lines[1].contains("finished"), lines[1].constData());
    QVERIFY2(lines[2].startsWith("1 ") && lines[2].contains("cancelled"), lines[2].constData());

    const auto last = cli.run({"show", "last", "--db", "r.db"});
    QCOMPARE(last.status, 0);
    QCOMPARE(last.out, cli.run({"show", "2", "--db", "r.db"}).out);
    for (const char* shown : {"窗口", "finished", "6.9", "12/12", "tcp_rmem requested 9999",
                              "(2 samples)", "Contact with host2 was lost", "TcpExtTCPTimeouts"})
        QVERIFY2(last.out.contains(shown), (QByteArray(shown) + " in\n" + last.out).constData());
}

void TestCli::exportsCsvAndFigures() {
    const CliProcess cli;
    {
        const auto runs = RunRepository::open(cli.path(QStringLiteral("r.db")));
        QCOMPARE(storeRun(**runs), 1);
    }
    const auto csv = cli.run({"export", "last", "--db", "r.db", "--csv", "out/csv"});
    QCOMPARE(csv.status, 0);
    QVERIFY(cli.read(QStringLiteral("out/csv/samples.csv")).count('\n') >= 13);

    const QList<std::pair<QString, QByteArray>> figures{{QStringLiteral("f.pdf"), "%PDF"},
                                                        {QStringLiteral("f.png"), "\x89PNG"},
                                                        {QStringLiteral("f.svg"), "<?xml"}};
    for (const auto& [name, start] : figures) {
        const auto figure =
            cli.run({"export", "1", "--db", "r.db", "--figure", name, "--style", "ieee"});
        QVERIFY2(figure.status == 0, figure.err.constData());
        QCOMPARE(figure.err, QByteArray());
        QVERIFY2(cli.read(name).startsWith(start), qPrintable(name));
    }
    const auto wrong = cli.run({"export", "1", "--db", "r.db", "--figure", "f.gif"});
    QCOMPARE(wrong.status, 2);
    QVERIFY(!QFile::exists(cli.path(QStringLiteral("f.gif"))));
}

void TestCli::refusesUnknownRuns_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("show") << QStringList{"show", "7"};
    QTest::newRow("resume") << QStringList{"resume", "7"};
    QTest::newRow("export") << QStringList{"export", "7", "--csv", "out"};
    QTest::newRow("zero") << QStringList{"show", "0"};
}

void TestCli::refusesUnknownRuns() {
    QFETCH(QStringList, arguments);
    const CliProcess cli;
    const auto outcome = cli.run(arguments);
    QCOMPARE(outcome.status, 2);
    QVERIFY2(outcome.err.contains("There is no run"), outcome.err.constData());
}

void TestCli::refusesToResumeWhatIsDone() {
    const CliProcess cli;
    {
        const auto runs = RunRepository::open(cli.path(QStringLiteral("r.db")));
        QCOMPARE(storeRun(**runs), 1);
    }
    const auto outcome = cli.run({"resume", "last", "--db", "r.db"});
    QCOMPARE(outcome.status, 2);
    QVERIFY2(outcome.err.contains("finished"), outcome.err.constData());
}

void TestCli::refusesToResumeWhatIsBeingMeasured() {
    const CliProcess cli;
    const auto runs = RunRepository::open(cli.path(QStringLiteral("r.db")));
    const qint64 run = storeRun(**runs, RunState::Running);
    QVERIFY((*runs)->claimRun(run));
    const auto outcome = cli.run({"resume", "1", "--db", "r.db"});
    QCOMPARE(outcome.status, 2);
    QVERIFY2(outcome.err.contains("another program"), outcome.err.constData());
}

void TestCli::worksInAnyLocale() {
    const CliProcess cli;
    QVERIFY(cli.write(QStringLiteral("größe.json"), localExperiment(0.5, 3)));
    QProcess process;
    cli.prepare(process);
    QProcessEnvironment environment = process.processEnvironment();
    environment.insert(QStringLiteral("LC_ALL"), QStringLiteral("C"));
    process.setProcessEnvironment(environment);
    process.setArguments({"run", "größe.json", "--dry-run"});
    process.start();
    const auto outcome = CliProcess::finish(process);
    QCOMPARE(outcome.status, 0);
    QCOMPARE(outcome.err, QByteArray());
    QVERIFY(outcome.out.contains("Größe"));
}

QTEST_GUILESS_MAIN(TestCli)
#include "tst_cli.moc"
