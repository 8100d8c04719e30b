// SPDX-License-Identifier: GPL-3.0-or-later
#include "cliprocess.h"
#include "core/model/experimentfile.h"
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
    void unknownCommandsNameTheKnown();
    void helpIsClean();
    void helpAndVersionEndWell_data();
    void helpAndVersionEndWell();
    void wrongFilesEndWithTwo_data();
    void wrongFilesEndWithTwo();
    void wrongFileEndsTheJsonToo();
    void dryRunShowsThePlanAndChangesNothing();
    void dryRunShowsEveryHost();
    void dryRunAsJson();
    void unusableDatabaseEndsWithTwo();
    void unreachableHostEndsWithThree();
    void worksInAnyLocale();
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
    for (const char* command : {"check", "recover", "run", "resume"})
        QTest::addRow("absent ssh configuration for %s", command)
            << QStringList{command, "1", "--ssh-config", "absent"};
    QTest::newRow("folder as ssh configuration") << QStringList{"check", "a", "--ssh-config", "."};
}

void TestCli::wrongArgumentsEndWithTwo() {
    QFETCH(QStringList, arguments);
    const CliProcess cli;
    const auto outcome = cli.run(arguments);
    QCOMPARE(outcome.status, 2);
    QCOMPARE(outcome.out, QByteArray());
    const QByteArray prefix = "knobscope-cli: ";
    QVERIFY2(outcome.err.startsWith(prefix) && outcome.err.count('\n') == 1,
             outcome.err.constData());
    QVERIFY2(!QChar(QLatin1Char(outcome.err.at(prefix.size()))).isLower(), outcome.err.constData());
}

/// "rnu" or nothing: what there is instead is told.
void TestCli::unknownCommandsNameTheKnown() {
    const CliProcess cli;
    for (const QStringList& arguments :
         {QStringList{"recovr", "x", "--json"}, QStringList{}, QStringList{"--fast"}}) {
        const auto outcome = cli.run(arguments);
        QCOMPARE(outcome.status, 2);
        for (const char* command : {"run", "resume", "runs", "show", "export", "check", "recover"})
            QVERIFY2(outcome.err.contains(command), outcome.err.constData());
        if (!arguments.isEmpty())
            QVERIFY2(outcome.err.contains('"' + arguments[0].toUtf8() + '"'),
                     outcome.err.constData());
    }
}

/// Usage as in manual pages: nothing of the parser's own notation, within 80 columns.
void TestCli::helpIsClean() {
    const CliProcess cli;
    const QByteArrayList commands{"run", "resume", "runs", "show", "export", "check", "recover"};
    for (const QByteArray& command : commands) {
        const auto outcome = cli.run({QString::fromLatin1(command), "--help"});
        QVERIFY2(outcome.out.startsWith("Usage: knobscope-cli " + command + " ["),
                 outcome.out.constData());
        for (const char* odd : {"(1x)", ":{", "REQUIRED", "OPTIONS", "Needs:"})
            QVERIFY2(!outcome.out.contains(odd), outcome.out.constData());
        for (const QByteArray& line : outcome.out.split('\n'))
            QVERIFY2(line.size() <= 80, line.constData());
        const bool json = outcome.out.contains("[--json]");
        QCOMPARE(json, command != "export");
    }
    QVERIFY(cli.run({"check", "--help"}).out.contains(" HOST...\n"));
    QVERIFY(cli.run({"recover", "--help"}).out.contains(" HOST\n"));
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

void TestCli::dryRunShowsEveryHost() {
    const CliProcess cli;
    QVERIFY(cli.write(QStringLiteral("e.json"), writeExperiment(example::experimentOfSeveral())));
    const auto outcome = cli.run({"run", "e.json", "--dry-run"});
    QCOMPARE(outcome.status, 0);
    const QString text =
        QString::fromUtf8(outcome.out).replace(QLatin1Char('\n'), u' ').simplified();
    for (const char* shown :
         {"Sender 1 host1, address 10.0.0.1, interface test0", "Sender 2 host2, address 10.0.0.2",
          "Receiver host3,", "Instances sender 1 to receiver, sender 2 to receiver"})
        QVERIFY2(text.contains(QLatin1String(shown)), outcome.out.constData());
    const auto json = cli.run({"run", "e.json", "--dry-run", "--json"});
    QCOMPARE(jsonLines(json.out).value(0)["instances"].toInt(), 2);
    // A side that does not pair up is refused with its place.
    QVERIFY(cli.write(QStringLiteral("e.json"),
                      writeExperiment(example::experimentOfSeveral()).replace("host2", "host3")));
    const auto refused = cli.run({"run", "e.json", "--dry-run"});
    QCOMPARE(refused.status, 2);
    QVERIFY2(refused.err.contains("hosts.receiver.ssh: \"host3\" is the host of hosts.sender[1]"),
             refused.err.constData());
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
        const auto json = cli.run({command, "ssh://nobody@127.0.0.1:1", "--json"});
        QCOMPARE(json.status, 3);
        const QJsonDocument document = QJsonDocument::fromJson(json.out);
        const QJsonObject host =
            document.isArray() ? document.array()[0].toObject() : document.object();
        QCOMPARE(host["status"].toInt(-1), 3);
        QVERIFY(host["host"].toString().contains(QStringLiteral("127.0.0.1")));
    }
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
