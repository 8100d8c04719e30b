// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/experimentfile.h"
#include "experimentexample.h"

#include <QDirIterator>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTest>

#include <limits>

using namespace knobscope;

namespace {

Experiment localExperiment() {
    Experiment experiment;
    experiment.name = QStringLiteral("Local");
    experiment.sender = {true, {}, QStringLiteral("127.0.0.1"), QStringLiteral("lo")};
    experiment.receiver = experiment.sender;
    return experiment;
}

} // namespace

class TestExperimentFile : public QObject {
    Q_OBJECT
private slots:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral("."))); }
    void readsTheExample();
    void readsVariants_data();
    void readsVariants();
    void writesWhatItReads_data();
    void writesWhatItReads();
    void refusesLargeMatrices();
    void showsCommandLinesAsTheyAre();
    void fillsInThisComputer();
    void checksWhatTheWizardMakes();
    void templatesAreCanonical();
    void schemaNamesWhatTheParserKnows();
};

void TestExperimentFile::readsTheExample() {
    const auto experiment = parseExperiment(example());
    QVERIFY2(experiment, experiment ? "" : qPrintable(experiment.error().text()));
    QCOMPARE(experiment->name, QStringLiteral("Window on the test link"));
    QCOMPARE(experiment->sender.ssh, QStringLiteral("host1"));
    QCOMPARE(experiment->receiver.address, QStringLiteral("10.77.0.2"));
    QCOMPARE(experiment->test.seconds, 2.0);
    QCOMPARE(experiment->test.warmupSeconds, 0.2);
    QCOMPARE(experiment->axes.size(), 2);
    QCOMPARE(experiment->axes[0].values[1].text, QStringLiteral("64K"));
    QVERIFY(experiment->axes[0].values[3].isAuto());
    QVERIFY(experiment->axes[1].side == Side::Sender);
    QVERIFY(experiment->axes[1].values[2].number == std::optional<qint64>(1048576));
    QCOMPARE(experiment->exclude.size(), 1);
    QCOMPARE(experiment->plan.repeatsMin, 5);
    QCOMPARE(experiment->plan.repeatsMax, 30);
    QVERIFY(experiment->plan.blocks);
}

void TestExperimentFile::readsVariants_data() {
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::newRow("fixed repeats")
        << QByteArray(
               R"({ "min": 5, "max": 30 }, "confidence": { "level": 0.95, "half_width_percent": 2.5 })")
        << QByteArray("3");
    QTest::newRow("no exclusions")
        << QByteArray(
               R"([ { "window": "32K", "sysctl:net.ipv4.tcp_limit_output_bytes": 1048576 } ])")
        << QByteArray("[]");
    QTest::newRow("largest seed") << QByteArray(R"("seed": 1)")
                                  << QByteArray(R"("seed": 18446744073709551615)");
    QTest::newRow("sequential") << QByteArray(R"("blocks")") << QByteArray(R"("sequential")");
    QTest::newRow("whole plan") << QByteArray(R"("seed": 1)")
                                << QByteArray(R"("seed": 0, "pause_seconds": 0.25, "retries": 0)");
    QTest::newRow("fixed options")
        << QByteArray(R"("seconds": 2)")
        << QByteArray(
               R"("seconds": 2, "nodelay": true, "message_size": "16K", "direction": "from_receiver", "cpu": 1)");
    QTest::newRow("whole number as float") << QByteArray("65536,") << QByteArray("6.5536e4,");
    QTest::newRow("feature")
        << QByteArray(R"("window", "side": "both", "values": ["32K", "64K", "256K", "auto"])")
        << QByteArray(R"("feature:tso", "values": [true, false])");
    QTest::newRow("sysctl text") << QByteArray("65536,") << QByteArray(R"("a \"quoted\" text",)");
    QTest::newRow("user and port")
        << QByteArray(R"("ssh": "host2")") << QByteArray(R"("ssh": "ssh://root@host1:2222")");
    QTest::newRow("IPv6") << QByteArray(R"("10.77.0.1", "interface": "test0" },
             "receiver": { "ssh": "host2", "address": "10.77.0.2")")
                          << QByteArray(R"("fd00::1", "interface": "test0" },
             "receiver": { "ssh": "host2", "address": "fe80::2%test0")");
    QTest::newRow("name with umlaut")
        << QByteArray("Window on") << QByteArray("Fenstergr\u00f6\u00dfe");
    QTest::newRow("byte order mark")
        << QByteArray("{ \"format\"") << QByteArray("\xEF\xBB\xBF{ \"format\"");
    QTest::newRow("each side its window")
        << QByteArray(
               R"({ "knob": "window", "side": "both", "values": ["32K", "64K", "256K", "auto"] })")
        << QByteArray(
               R"({ "knob": "window", "side": "sender", "values": ["32K"] }, { "knob": "window", "side": "receiver", "values": ["32K", "1M"] })");
}

void TestExperimentFile::readsVariants() {
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QByteArray text = replaced(from, to);
    QVERIFY2(!text.isEmpty(), "the row replaces nothing");
    // Exclusions of the example name an axis that some rows replace.
    if (to.contains("feature:"))
        text.replace(R"("window": "32K", )", "");
    const auto experiment = parseExperiment(text);
    QVERIFY2(experiment, experiment ? "" : qPrintable(experiment.error().text()));
    const auto again = parseExperiment(writeExperiment(*experiment));
    QVERIFY2(again, again ? "" : qPrintable(again.error().text()));
    QVERIFY(*again == *experiment);
    for (qsizetype i = 0; i < experiment->axes.size(); ++i) {
        for (qsizetype j = 0; j < experiment->axes[i].values.size(); ++j)
            QCOMPARE(again->axes[i].values[j].text, experiment->axes[i].values[j].text);
    }
}

void TestExperimentFile::writesWhatItReads_data() {
    QTest::addColumn<Experiment>("experiment");
    Experiment experiment = localExperiment();
    QTest::newRow("no axes") << experiment;
    experiment.plan.confidenceLevel = 0.99;
    QTest::newRow("fixed number, other level") << experiment;
    experiment.plan = PlanSpec{2, 9, 0.9, 0.1, false, 0, 0.001, 3};
    QTest::newRow("all of the plan") << experiment;
    experiment.test.options["window"] = KnobValue(QStringLiteral("1.5M"));
    experiment.test.seconds = 0.1;
    QTest::newRow("options") << experiment;
    experiment.axes << Axis{"sysctl:net.ipv4.tcp_rmem",
                            Side::Both,
                            {KnobValue(QStringLiteral("4096 131072 6291456")),
                             KnobValue(QStringLiteral("007")), KnobValue(QStringLiteral("-1"))}};
    QTest::newRow("texts") << experiment;
    experiment.axes << Axis{"streams", Side::Both, {}};
    for (int i = 1; i <= 100; ++i)
        experiment.axes[1].values << KnobValue(qint64{i});
    QTest::newRow("many values") << experiment;
    experiment.axes << Axis{"command:fan", Side::Both, {KnobValue(qint64{3})}};
    experiment.commands["fan"] = {"cat /run/fan", "echo \"$VALUE\" > /run/fan", "rm /run/fan", 2.5};
    experiment.commands["led"] = {"cat /run/led", "true", {}, 10};
    QTest::newRow("commands") << experiment;
}

void TestExperimentFile::writesWhatItReads() {
    QFETCH(Experiment, experiment);
    const QByteArray text = writeExperiment(experiment);
    const auto again = parseExperiment(text);
    QVERIFY2(again, again ? "" : qPrintable(again.error().text()));
    QVERIFY(*again == experiment);
    QCOMPARE(writeExperiment(*again), text);
}

void TestExperimentFile::refusesLargeMatrices() {
    Experiment experiment = localExperiment();
    const auto numbers = [](int count) {
        QList<KnobValue> values;
        for (int i = 1; i <= count; ++i)
            values << KnobValue(qint64{88 + i});
        return values;
    };
    experiment.axes = {{"window", Side::Both, numbers(1000)}};
    QVERIFY(checkExperiment(experiment));
    experiment.axes = {{"window", Side::Both, numbers(1001)}};
    QVERIFY(checkExperiment(experiment).error().text().startsWith("axes[0].values: 1001 values"));
    experiment.axes = {{"window", Side::Both, numbers(100)}, {"mss", Side::Both, numbers(100)}};
    QVERIFY(checkExperiment(experiment));
    experiment.axes[1].values = numbers(101);
    QVERIFY(checkExperiment(experiment).error().text().startsWith("axes: more than 10000 cells"));
    experiment.exclude = {{{"mss", KnobValue(qint64{89})}}};
    QVERIFY(checkExperiment(experiment));
    experiment.exclude.clear();
    for (const char* knob : {"message_size", "sysctl:a.b", "sysctl:a.c", "sysctl:a.d"})
        experiment.axes << Axis{knob, Side::Both, numbers(1000)};
    QVERIFY(checkExperiment(experiment).error().text().contains("too many to look at"));
}

/// Nothing in them may hide what runs.
void TestExperimentFile::showsCommandLinesAsTheyAre() {
    Experiment experiment;
    experiment.commands["fan"] = {"cat /run/fan", "rm -rf /\x1b[2K\r\techo\nline\u202e", {}, 10};
    experiment.commands["unused"] = {"a", "b", {}, 10};
    QCOMPARE(commandLines(experiment), QStringList());
    experiment.axes << Axis{"command:fan", Side::Both, {KnobValue(qint64{3})}};
    QCOMPARE(commandLines(experiment),
             (QStringList{"command:fan get: cat /run/fan",
                          "command:fan set: rm -rf /\\u001b[2K\\u000d\\u0009echo\\nline\\u202e"}));
}

void TestExperimentFile::fillsInThisComputer() {
    QByteArray text =
        replaced(R"({ "ssh": "host1", "address": "10.77.0.1", "interface": "test0" })",
                 R"({ "local": true })");
    text.replace(R"({ "ssh": "host2", "address": "10.77.0.2", "interface": "test0" })",
                 R"({ "local": true, "address": "127.0.0.2" })");
    const auto experiment = parseExperiment(text);
    QVERIFY2(experiment, experiment ? "" : qPrintable(experiment.error().text()));
    QCOMPARE(experiment->sender.address, QStringLiteral("127.0.0.1"));
    QCOMPARE(experiment->sender.interface, QStringLiteral("lo"));
    QCOMPARE(experiment->receiver.interface, QStringLiteral("lo"));
    QCOMPARE(experiment->sender.label(), QStringLiteral("this computer"));
}

void TestExperimentFile::checksWhatTheWizardMakes() {
    QVERIFY(checkExperiment(localExperiment()));
    QVERIFY(!checkExperiment(Experiment{}));
    Experiment experiment = localExperiment();
    experiment.test.options["link:mtu"] = KnobValue(qint64{1500});
    QVERIFY(checkExperiment(experiment)
                .error()
                .text()
                .startsWith("test.link:mtu: link:mtu is no test knob"));
    experiment = localExperiment();
    experiment.test.seconds = std::numeric_limits<double>::quiet_NaN();
    QVERIFY(checkExperiment(experiment).error().text().startsWith("test.seconds: "));
    experiment = localExperiment();
    experiment.axes << Axis{"window", Side::Whole, {KnobValue(qint64{4096})}};
    QVERIFY(checkExperiment(experiment).error().text().startsWith("axes[0].side: "));
    // Two interfaces of one machine are two settings, one sysctl is not.
    experiment.axes = {{"link:mtu", Side::Sender, {KnobValue(qint64{1500})}},
                       {"link:mtu", Side::Receiver, {KnobValue(qint64{9000})}}};
    QVERIFY(!checkExperiment(experiment));
    experiment.receiver.interface = QStringLiteral("test1");
    QVERIFY(checkExperiment(experiment));
}

/// Each template that is compiled in reads well and is as the program itself would write it.
void TestExperimentFile::templatesAreCanonical() {
    int count = 0;
    QDirIterator files(QStringLiteral(":/knobscope/experiments"));
    while (files.hasNext()) {
        QFile file(files.next());
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QByteArray text = file.readAll();
        const auto experiment = parseExperiment(text);
        QVERIFY2(experiment, experiment ? "" : qPrintable(experiment.error().text()));
        QCOMPARE(writeExperiment(*experiment), text);
        ++count;
    }
    QVERIFY(count >= 3);
    QVERIFY(QFile::exists(QStringLiteral(":/knobscope/experiments/loopback-window.json")));
}

void TestExperimentFile::schemaNamesWhatTheParserKnows() {
    QFile file(QStringLiteral(":/knobscope/schema/experiment-1.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QJsonParseError error;
    const QJsonObject schema = QJsonDocument::fromJson(file.readAll(), &error).object();
    QCOMPARE(error.error, QJsonParseError::NoError);
    const QJsonObject parts = schema["$defs"].toObject();

    // The parser lists its known keys when it meets another.
    const auto knownKeys = [](const QByteArray& from, const QByteArray& to) {
        const auto experiment = parseExperiment(replaced(from, to));
        QStringList keys =
            experiment.error().text().section("Known here: ", 1).chopped(1).split(", ");
        keys.sort();
        return keys;
    };
    QCOMPARE(QStringList(schema["properties"].toObject().keys()),
             knownKeys("\"version\"", "\"x\": 1, \"version\""));
    const QList<std::pair<QString, QByteArray>> objects{
        {"host", "\"ssh\""}, {"test", "\"kind\""}, {"axis", "\"knob\""}, {"plan", "\"order\""}};
    for (const auto& [name, key] : objects)
        QCOMPARE(QStringList(parts[name].toObject()["properties"].toObject().keys()),
                 knownKeys(key, "\"x\": 1, " + key));

    const QJsonArray named =
        parts["knob"].toObject()["anyOf"].toArray()[0].toObject()["enum"].toArray();
    QStringList inSchema;
    for (const QJsonValue& knob : named)
        inSchema << knob.toString();
    QStringList known;
    for (const QString& knob : knownKnobNames()) {
        if (!knob.startsWith("sysctl:") && !knob.startsWith("feature:"))
            known << knob;
    }
    inSchema.sort();
    known.sort();
    QCOMPARE(inSchema, known);
}

QTEST_APPLESS_MAIN(TestExperimentFile)
#include "tst_experimentfile.moc"
