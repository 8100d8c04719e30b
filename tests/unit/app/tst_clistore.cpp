// SPDX-License-Identifier: GPL-3.0-or-later
#include "cliprocess.h"
#include "core/model/matrix.h"
#include "db/runrepository.h"
#include "tests/unit/db/examplerun.h"

#include <QJsonArray>
#include <QRegularExpression>
#include <QTest>

using namespace knobscope;

namespace {

const char* const kLong = "AnExperimentWhoseNameIsFarTooLongForOneColumn";

} // namespace

/// What the headless program shows of stored runs.
class TestCliStore : public QObject {
    Q_OBJECT
private slots:
    void listsNothingYet();
    void mistypedDatabaseStaysAbsent_data();
    void mistypedDatabaseStaysAbsent();
    void listsAndShowsRuns();
    void listsAsJson();
    void showsAsJson();
    void showsEveryHost();
    void fitsTheTerminal_data();
    void fitsTheTerminal();
    void lostOutputIsToldOf();
    void exportsCsvAndFigures();
    void refusesUnknownRuns_data();
    void refusesUnknownRuns();
    void refusesToResumeWhatIsDone();
    void refusesToResumeWhatIsBeingMeasured();

private:
    /// A finished run in which something went wrong here and there.
    static qint64 storeRun(RunRepository& runs, RunState state = RunState::Finished,
                           bool longNames = false) {
        Experiment experiment = example::experiment();
        if (longNames) {
            experiment.name = QLatin1String(kLong) + experiment.name + experiment.name;
            experiment.axes[0] = Axis{QStringLiteral("sysctl:net.ipv4.tcp_rmem"),
                                      Side::Sender,
                                      {KnobValue(QStringLiteral("4096 131072 6291456")),
                                       KnobValue(QStringLiteral("4096 16384 4194304"))}};
        }
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

void TestCliStore::listsNothingYet() {
    const CliProcess cli;
    const auto outcome = cli.run({"runs"});
    QCOMPARE(outcome.status, 0);
    QCOMPARE(outcome.out, QByteArray());
    QVERIFY(outcome.err.contains("No run is stored yet"));
    QCOMPARE(cli.run({"runs", "--json"}).out, QByteArray("[]\n"));
    for (const QStringList& arguments :
         {QStringList{"show", "last"}, QStringList{"show", "1", "--json"},
          QStringList{"export", "last", "--csv", "out"}, QStringList{"resume", "1"}}) {
        const auto refused = cli.run(arguments);
        QCOMPARE(refused.status, 2);
        QVERIFY2(refused.err.contains("There is no run"), refused.err.constData());
    }
    QCOMPARE(cli.files(), QStringList()); // looking makes nothing
}

void TestCliStore::listsAndShowsRuns() {
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

void TestCliStore::exportsCsvAndFigures() {
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

void TestCliStore::refusesUnknownRuns_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("show") << QStringList{"show", "7"};
    QTest::newRow("resume") << QStringList{"resume", "7"};
    QTest::newRow("export") << QStringList{"export", "7", "--csv", "out"};
    QTest::newRow("zero") << QStringList{"show", "0"};
}

void TestCliStore::refusesUnknownRuns() {
    QFETCH(QStringList, arguments);
    const CliProcess cli;
    const auto outcome = cli.run(arguments);
    QCOMPARE(outcome.status, 2);
    QVERIFY2(outcome.err.contains("There is no run"), outcome.err.constData());
}

void TestCliStore::refusesToResumeWhatIsDone() {
    const CliProcess cli;
    {
        const auto runs = RunRepository::open(cli.path(QStringLiteral("r.db")));
        QCOMPARE(storeRun(**runs), 1);
    }
    const auto outcome = cli.run({"resume", "last", "--db", "r.db"});
    QCOMPARE(outcome.status, 2);
    QVERIFY2(outcome.err.contains("finished"), outcome.err.constData());
}

void TestCliStore::refusesToResumeWhatIsBeingMeasured() {
    const CliProcess cli;
    const auto runs = RunRepository::open(cli.path(QStringLiteral("r.db")));
    const qint64 run = storeRun(**runs, RunState::Running);
    QVERIFY((*runs)->claimRun(run));
    const auto outcome = cli.run({"resume", "1", "--db", "r.db"});
    QCOMPARE(outcome.status, 2);
    QVERIFY2(outcome.err.contains("another program"), outcome.err.constData());
}

void TestCliStore::mistypedDatabaseStaysAbsent_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::newRow("runs") << QStringList{"runs"};
    QTest::newRow("runs as JSON") << QStringList{"runs", "--json"};
    QTest::newRow("show") << QStringList{"show", "last"};
    QTest::newRow("export") << QStringList{"export", "1", "--csv", "out"};
    QTest::newRow("resume") << QStringList{"resume", "last"};
}

void TestCliStore::mistypedDatabaseStaysAbsent() {
    QFETCH(QStringList, arguments);
    const CliProcess cli;
    for (const char* name : {"absent.db", "absent/runs.db"}) {
        const auto outcome = cli.run(arguments + QStringList{"--db", name});
        QCOMPARE(outcome.status, 2);
        QCOMPARE(outcome.out, QByteArray());
        QVERIFY2(outcome.err.contains(name) && outcome.err.count('\n') == 1,
                 outcome.err.constData());
    }
    QCOMPARE(cli.files(), QStringList());
}

void TestCliStore::listsAsJson() {
    const CliProcess cli;
    {
        const auto runs = RunRepository::open(cli.path(QStringLiteral("r.db")));
        QCOMPARE(storeRun(**runs, RunState::Cancelled), 1);
        QCOMPARE(storeRun(**runs), 2);
    }
    const auto outcome = cli.run({"runs", "--db", "r.db", "--json"});
    QCOMPARE(outcome.status, 0);
    QCOMPARE(outcome.out.count('\n'), 1);
    const QJsonArray list = QJsonDocument::fromJson(outcome.out).array();
    QCOMPARE(list.size(), 2);
    QCOMPARE(list[0]["run"].toInt(), 2);
    QCOMPARE(list[0]["state"].toString(), QStringLiteral("finished"));
    QCOMPARE(list[1]["name"].toString(), example::experiment().name);
    QCOMPARE(list[1]["samples_done"].toInt(), 12);
}

void TestCliStore::showsAsJson() {
    const CliProcess cli;
    {
        const auto runs = RunRepository::open(cli.path(QStringLiteral("r.db")));
        QCOMPARE(storeRun(**runs), 1);
    }
    const auto outcome = cli.run({"show", "1", "--db", "r.db", "--json"});
    QCOMPARE(outcome.status, 0);
    QCOMPARE(outcome.out.count('\n'), 1);
    const QJsonObject run = QJsonDocument::fromJson(outcome.out).object();
    QCOMPARE(run["experiment"]["name"].toString(), example::experiment().name);
    const QJsonArray cells = run["cells"].toArray();
    QCOMPARE(cells.size(), 6);
    QCOMPARE(cells[0]["cell"].toInt(), 1);
    QCOMPARE(cells[0]["settings"][0]["knob"].toString(), QStringLiteral("window"));
    QCOMPARE(cells[0]["settings"][0]["value"].toInt(), 65536);
    QCOMPARE(cells[5]["settings"][0]["value"].toString(), QStringLiteral("auto"));
    QCOMPARE(cells[0]["n"].toInt(), 2);
    const double mean = cells[0]["mean"].toDouble();
    QVERIFY(mean > 900);
    QVERIFY(cells[0]["interval"][0].toDouble() < mean);
    QVERIFY(cells[0]["interval"][1].toDouble() > mean);
    QCOMPARE(cells[0]["flags"][0]["samples"].toInt(), 2);
    const QJsonValue failed = run["failed_attempts"][0];
    QCOMPARE(failed["cell"].toInt(), 5);
    QCOMPARE(failed["block"].toInt(), 1);
    QCOMPARE(failed["attempt"].toInt(), 1);
    QCOMPARE(run["counters"].toArray().size(), 2);
    QVERIFY(run["counters"][0]["least"]["cell"].toInt() >= 1);
    QCOMPARE(run["counters"][0]["means"].toArray().size(), 6);
}

void TestCliStore::showsEveryHost() {
    const CliProcess cli;
    {
        const auto runs = RunRepository::open(cli.path(QStringLiteral("r.db")));
        const Experiment experiment = example::experimentOfSeveral();
        const auto run = (*runs)->createRun(experiment, expandMatrix(experiment));
        QVERIFY(run);
        for (const HostRef host : experiment.hostRefs())
            QVERIFY((*runs)->addHostFacts(
                *run, HostFacts{host, experiment.host(host).label(), {{"kernel", "6.9"}}}));
        QVERIFY((*runs)->addSample(*run, example::sampleOfSeveral(0, 0, 0)));
        QVERIFY((*runs)->addSample(*run, example::sampleOfSeveral(0, 1, 1)));
    }
    QVERIFY(cli.run({"runs", "--db", "r.db"}).out.contains("host1, host2 → host3"));
    const auto shown = cli.run({"show", "1", "--db", "r.db"});
    QCOMPARE(shown.status, 0);
    const QString text = QString::fromUtf8(shown.out);
    static const QRegularExpression lines[] = {
        QRegularExpression("Sender 1 +host1\n"),
        QRegularExpression("Sender 2 +host2\n"),
        QRegularExpression("Receiver +host3\n"),
        QRegularExpression("Kernel \\(sender 2\\) +6.9"),
        QRegularExpression("sender 1 +host1 +64K/4K +401 +- +12.5"),
        QRegularExpression("sender 2 +host2 +64K/4K +402 +- +25"),
        QRegularExpression("TcpOutSegs +sender +snmp +3000")};
    for (const QRegularExpression& line : lines)
        QVERIFY2(line.match(text).hasMatch(), qPrintable(line.pattern() + " in\n" + text));
    QCOMPARE(text.count(QStringLiteral("TcpOutSegs")), 1); // the sum; --json has each host

    const auto json = cli.run({"show", "1", "--db", "r.db", "--json"});
    const QJsonObject run = QJsonDocument::fromJson(json.out).object();
    QCOMPARE(run["hosts"].toArray().size(), 3);
    QCOMPARE(run["hosts"][1]["number"].toInt(), 2);
    QVERIFY(run["hosts"][2]["number"].isNull());
    QCOMPARE(run["host_cells"].toArray().size(), 2);
    QCOMPARE(run["host_cells"][1]["host"].toString(), QStringLiteral("host2"));
    QCOMPARE(run["host_cells"][1]["means"]["cpu_percent"].toDouble(), 25.0);
    QMap<int, double> segments; // by number
    for (const QJsonValue& counter : run["counters"].toArray()) {
        if (counter["counter"] == QStringLiteral("TcpOutSegs"))
            segments[counter["number"].toInt()] = counter["most"]["mean"].toDouble();
    }
    QCOMPARE(segments, (QMap<int, double>{{0, 3000}, {1, 1000}, {2, 2000}}));
}

void TestCliStore::fitsTheTerminal_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QStringList>("shown"); ///< never shortened
    QTest::newRow("runs") << QStringList{"runs"}
                          << QStringList{"12/12", "finished", "tcp_stream", "this computer", "…"};
    QTest::newRow("show") << QStringList{"show", "1"}
                          << QStringList{"4096 131072 6291456", "9.223e+18", "receiver", "12/12"};
}

/// A terminal of 80 columns, made by script(1); names of all lengths, two axes.
void TestCliStore::fitsTheTerminal() {
    QFETCH(QStringList, arguments);
    QFETCH(QStringList, shown);
    const CliProcess cli;
    {
        const auto runs = RunRepository::open(cli.path(QStringLiteral("r.db")));
        QCOMPARE(storeRun(**runs, RunState::Finished, true), 1);
    }
    QProcess terminal;
    cli.prepare(terminal);
    const QString command =
        terminal.program() + QStringLiteral(" %1 --db r.db").arg(arguments.join(QLatin1Char(' ')));
    terminal.setProgram(QStringLiteral("script"));
    terminal.setArguments({"-qec", "stty cols 80; " + command, "/dev/null"});
    terminal.start();
    const auto outcome = CliProcess::finish(terminal);
    QCOMPARE(outcome.status, 0);
    const QString text = QString::fromUtf8(outcome.out);
    for (const QString& line : text.split(QLatin1Char('\n')))
        QVERIFY2(line.toUcs4().size() <= 81, qPrintable(line)); // and a carriage return
    for (const QString& part : shown)
        QVERIFY2(text.contains(part), qPrintable(part + " in\n" + text));
    // Where it is no terminal, all is there in full.
    const auto whole = cli.run(arguments + QStringList{"--db", "r.db"});
    QVERIFY2(!whole.out.contains("…") && whole.out.contains(kLong), whole.out.constData());
}

/// Nobody may take half a list for a whole one.
void TestCliStore::lostOutputIsToldOf() {
    const CliProcess cli;
    {
        const auto runs = RunRepository::open(cli.path(QStringLiteral("r.db")));
        QCOMPARE(storeRun(**runs), 1);
    }
    QProcess process;
    cli.prepare(process);
    process.setArguments({"runs", "--db", "r.db", "--json"});
    process.setStandardOutputFile(QStringLiteral("/dev/full"));
    process.start();
    const auto outcome = CliProcess::finish(process);
    QCOMPARE(outcome.status, 1);
    QVERIFY2(outcome.err.contains("Standard output"), outcome.err.constData());
}

QTEST_GUILESS_MAIN(TestCliStore)
#include "tst_clistore.moc"
