// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/experimentfile.h"

#include <QDirIterator>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>
#include <unistd.h>

#include <limits>
#include <variant>

using namespace knobscope;

namespace {

/// The documented example, in which rows replace one piece.
QByteArray example() {
    return R"({ "format": "knobscope-experiment", "version": 1, "name": "Window on the test link",
  "hosts": { "sender":   { "ssh": "host1", "address": "10.77.0.1", "interface": "test0" },
             "receiver": { "ssh": "host2", "address": "10.77.0.2", "interface": "test0" } },
  "test": { "kind": "tcp_stream", "backend": "builtin", "seconds": 2, "warmup_seconds": 0.2 },
  "axes": [ { "knob": "window", "side": "both", "values": ["32K", "64K", "256K", "auto"] },
            { "knob": "sysctl:net.ipv4.tcp_limit_output_bytes", "side": "sender", "values": [16384, 65536, 1048576] } ],
  "exclude": [ { "window": "32K", "sysctl:net.ipv4.tcp_limit_output_bytes": 1048576 } ],
  "plan": { "repeats": { "min": 5, "max": 30 }, "confidence": { "level": 0.95, "half_width_percent": 2.5 },
            "order": "blocks", "seed": 1 } }
)";
}

QByteArray replaced(const QByteArray& from, const QByteArray& to) {
    QByteArray text = example();
    const qsizetype at = text.indexOf(from);
    return at < 0 ? QByteArray() : text.replace(at, from.size(), to);
}

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
    void refuses_data();
    void refuses();
    void refusesWrongTypesEverywhere();
    void refusesEveryTruncation();
    void survivesEveryByte();
    void refusesHostileText_data();
    void refusesHostileText();
    void refusesWrongFiles();
    void refusesLargeMatrices();
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
}

void TestExperimentFile::writesWhatItReads() {
    QFETCH(Experiment, experiment);
    const QByteArray text = writeExperiment(experiment);
    const auto again = parseExperiment(text);
    QVERIFY2(again, again ? "" : qPrintable(again.error().text()));
    QVERIFY(*again == experiment);
    QCOMPARE(writeExperiment(*again), text);
}

void TestExperimentFile::refuses_data() {
    QTest::addColumn<QByteArray>("from");
    QTest::addColumn<QByteArray>("to");
    QTest::addColumn<QString>("said"); // the message begins with it
    const auto row = [](const char* name, const char* from, const char* to, const char* said) {
        QTest::newRow(name) << QByteArray(from) << QByteArray(to) << QString::fromUtf8(said);
    };
    row("format", "knobscope-experiment", "other", "format: ");
    row("version", "\"version\": 1", "\"version\": 2", "version: 2 is a version");
    row("no version", "\"version\": 1, ", "", "version: missing");
    row("no name", "\"name\": \"Window on the test link\",", "", "name: missing");
    row("empty name", "Window on the test link", " ", "name: must not be empty");
    row("line break in name", "Window on", "Window\\non", "name: has control characters");
    row("unknown key", "\"axes\"", "\"axis\"",
        "axis: unknown key. Did you mean \"axes\"? Known here: format, version");
    row("unknown key of a host", "\"interface\"", "\"iface\"", "hosts.sender.iface: unknown key");
    row("unknown key of test", "\"seconds\"", "\"second\"",
        "test.second: unknown key. Did you mean \"seconds\"?");
    row("unknown key of an axis", "\"side\"", "\"sides\"", "axes[0].sides: unknown key");
    row("unknown key of plan", "\"seed\"", "\"sead\"", "plan.sead: unknown key");
    row("unknown key of repeats", "\"max\": 30", "\"maximum\": 30",
        "plan.repeats.maximum: unknown key");
    row("unknown key of confidence", "\"level\"", "\"levl\"", "plan.confidence.levl: unknown key");
    row("duplicate key", "\"seed\": 1", "\"seed\": 1, \"seed\": 2",
        "plan.seed: this key is there twice");
    row("duplicate key deep", "\"side\": \"sender\"", "\"side\": \"sender\", \"knob\": \"mss\"",
        "axes[1].knob: this key is there twice");
    row("duplicate key escaped", "\"seed\": 1", "\"seed\": 1, \"s\\u0065ed\": 2",
        "plan.seed: this key is there twice");
    row("no sender", "\"sender\":   {", "\"receiver2\": {", "hosts.receiver2: unknown key");
    row("ssh and local", "\"ssh\": \"host1\"", "\"ssh\": \"host1\", \"local\": true",
        "hosts.sender: needs either");
    row("neither ssh nor local", "\"ssh\": \"host1\", ", "", "hosts.sender: needs either");
    row("local false", "\"ssh\": \"host1\"", "\"local\": false", "hosts.sender: needs either");
    row("empty ssh", "\"host1\"", "\"\"", "hosts.sender.ssh: must not be empty");
    row("option as host", "\"host1\"", "\"-oProxyCommand=x\"", "hosts.sender.ssh: ");
    row("blank in host", "\"host1\"", "\"host 1\"", "hosts.sender.ssh: ");
    row("same host", "\"host2\"", "\"host1\"",
        "hosts.receiver.ssh: \"host1\" is the sender's host");
    row("same host, other user", "\"host2\"", "\"root@host1\"", "hosts.receiver.ssh: ");
    row("same host as URL", "\"host2\"", "\"ssh://HOST1:22/\"", "hosts.receiver.ssh: ");
    row("no address", "\"address\": \"10.77.0.1\", ", "", "hosts.sender.address: missing");
    row("no interface", ", \"interface\": \"test0\" },\n             \"receiver\"",
        " },\n             \"receiver\"", "hosts.sender.interface: missing");
    row("name as address", "10.77.0.1", "host1", "hosts.sender.address: \"host1\" is no IPv4");
    row("address with NUL", "10.77.0.1", "10.77.0.1\\u0000x", "hosts.sender.address: ");
    row("other family", "10.77.0.1", "fd00::1", "hosts.receiver.address: ");
    row("interface too long", "\"test0\"", "\"abcdefghijklmnop\"", "hosts.sender.interface: ");
    row("interface as path", "\"test0\"", "\"../x\"", "hosts.sender.interface: ");
    row("unknown test", "tcp_stream", "tcp_streem",
        "test.kind: there is no test \"tcp_streem\"; known: tcp_stream or tcp_rr. Did you mean");
    row("backend", "builtin", "iperf3",
        "test.backend: there is no backend \"iperf3\"; known: builtin");
    row("no seconds", "\"seconds\": 2", "\"seconds\": 0", "test.seconds: must be more than 0");
    row("negative seconds", "\"seconds\": 2", "\"seconds\": -1", "test.seconds: ");
    row("endless", "\"seconds\": 2", "\"seconds\": 86401", "test.seconds: ");
    row("negative warm-up", "\"warmup_seconds\": 0.2", "\"warmup_seconds\": -0.2",
        "test.warmup_seconds: must be 0 or more");
    row("bad option", "\"seconds\": 2", "\"seconds\": 2, \"window\": \"big\"",
        "test.window: window cannot be \"big\": it takes a size");
    row("option of another test", "\"seconds\": 2", "\"seconds\": 2, \"burst\": 4",
        "test.burst: burst means nothing to a tcp_stream test; it belongs to tcp_rr");
    row("host knob as option", "\"seconds\": 2", "\"seconds\": 2, \"link:mtu\": 1500",
        "test.link:mtu: unknown key");
    row("option and axis", "\"seconds\": 2", "\"seconds\": 2, \"window\": \"1M\"",
        "axes[0].knob: window is a fixed option");
    row("unknown knob", "\"knob\": \"window\"", "\"knob\": \"windw\"",
        "axes[0].knob: There is no knob \"windw\". Did you mean \"window\"?");
    row("knob of another test", "\"knob\": \"window\"", "\"knob\": \"request_size\"",
        "axes[0].knob: request_size means nothing to a tcp_stream test");
    row("no values", "[16384, 65536, 1048576]", "[]", "axes[1].values: empty");
    row("values missing", ", \"values\": [16384, 65536, 1048576]", "", "axes[1].values: missing");
    row("bad value", "\"64K\"", "\"64Q\"", "axes[0].values[1]: window cannot be \"64Q\"");
    row("value twice", "\"64K\"", "32768", "axes[0].values[1]: \"32768\" is value 0 already");
    row("fraction", "\"64K\"", "1.5", "axes[0].values[1]: must be a whole number");
    row("beyond 2^63", "\"64K\"", "9223372036854775808", "axes[0].values[1]: window cannot be");
    row("beyond 2^64", "\"64K\"", "18446744073709551616", "axes[0].values[1]: must be a whole");
    row("null value", "\"64K\"", "null", "axes[0].values[1]: must be a number, a string");
    row("list as value", "\"64K\"", "[1]", "axes[0].values[1]: must be a number, a string");
    row("side", "\"sender\", \"values\"", "\"left\", \"values\"",
        "axes[1].side: \"left\" is no side");
    row("empty side", "\"sender\", \"values\"", "\"\", \"values\"", "axes[1].side: ");
    row("side of a whole test", "\"window\", \"side\": \"both\", \"values\": [\"32K\"",
        "\"streams\", \"side\": \"sender\", \"values\": [1",
        "axes[0].side: streams belongs to the whole test");
    row("one knob on two axes", "sysctl:net.ipv4.tcp_limit_output_bytes\", \"side\"",
        "window\", \"side\"", "axes[1].knob: axes[0] moves window on this side already");
    row("exclusion without axis", "{ \"window\": \"32K\"", "{ \"mss\": \"32K\"",
        "exclude[0].mss: no axis has this knob");
    row("exclusion of no value", "{ \"window\": \"32K\"", "{ \"window\": \"33K\"",
        "exclude[0].window: \"33K\" is no value");
    row("empty exclusion",
        "{ \"window\": \"32K\", \"sysctl:net.ipv4.tcp_limit_output_bytes\": 1048576 }", "{}",
        "exclude[0]: empty");
    row("nothing left",
        "{ \"window\": \"32K\", \"sysctl:net.ipv4.tcp_limit_output_bytes\": 1048576 }",
        "{ \"window\": \"32K\" }, { \"window\": \"64K\" }, { \"window\": \"256K\" }, { \"window\": "
        "\"auto\" }",
        "exclude: leaves no cell");
    row("no repeats", "\"min\": 5", "\"min\": 0", "plan.repeats.min: ");
    row("too many repeats", "\"max\": 30", "\"max\": 1001", "plan.repeats.max: ");
    row("fewest above most", "\"min\": 5", "\"min\": 31",
        "plan.repeats: max 30 is less than min 31");
    row("fewest missing", "\"min\": 5, ", "", "plan.repeats.min: missing");
    row("repeats as text", "{ \"min\": 5, \"max\": 30 }", "\"5\"", "plan.repeats: must be a whole");
    row("half a repeat", "{ \"min\": 5, \"max\": 30 }", "2.5", "plan.repeats: must be a whole");
    row("confidence of a fixed number", "{ \"min\": 5, \"max\": 30 }", "5", "plan.confidence: ");
    row("certain", "0.95", "1", "plan.confidence.level: ");
    row("percent as level", "0.95", "95", "plan.confidence.level: ");
    row("no width", "2.5", "0", "plan.confidence.half_width_percent: ");
    row("order", "\"blocks\"", "\"random\"", "plan.order: \"random\" is no order");
    row("negative seed", "\"seed\": 1", "\"seed\": -1", "plan.seed: must be a whole number from 0");
    row("fraction as seed", "\"seed\": 1", "\"seed\": 1.5", "plan.seed: ");
    row("negative pause", "\"seed\": 1", "\"pause_seconds\": -1", "plan.pause_seconds: ");
    row("negative retries", "\"seed\": 1", "\"retries\": -1", "plan.retries: ");
    row("one machine, two values",
        "\"ssh\": \"host1\", \"address\": \"10.77.0.1\", \"interface\": \"test0\" },\n"
        "             \"receiver\": { \"ssh\": \"host2\", \"address\": \"10.77.0.2\"",
        "\"local\": true, \"address\": \"10.77.0.1\", \"interface\": \"test0\" },\n"
        "             \"receiver\": { \"local\": true, \"address\": \"10.77.0.2\"",
        "axes[2].knob: axes[1] moves sysctl:net.ipv4.tcp_limit_output_bytes already, and both");
}

void TestExperimentFile::refuses() {
    QFETCH(QByteArray, from);
    QFETCH(QByteArray, to);
    QFETCH(QString, said);
    QByteArray text = replaced(from, to);
    QVERIFY2(!text.isEmpty(), "the row replaces nothing");
    if (to.contains("\"local\": true, \"address\": \"10.77.0.1\""))
        text.replace("1048576] } ]", "1048576] }, { \"knob\": "
                                     "\"sysctl:net.ipv4.tcp_limit_output_bytes\", \"side\": "
                                     "\"receiver\", \"values\": [1] } ]");
    const auto experiment = parseExperiment(text);
    QVERIFY(!experiment);
    QCOMPARE(experiment.error().code, Error::Code::BadInput);
    QVERIFY2(experiment.error().text().startsWith(said), qPrintable(experiment.error().text()));
}

namespace {

/// Each value of the document, by the steps to it.
using Path = QList<std::variant<QString, int>>;

void collect(const QJsonValue& value, const Path& path, QList<Path>& paths) {
    paths << path;
    if (value.isObject()) {
        const QJsonObject object = value.toObject();
        for (auto it = object.begin(); it != object.end(); ++it)
            collect(it.value(), path + Path{it.key()}, paths);
    }
    for (int i = 0; value.isArray() && i < value.toArray().size(); ++i)
        collect(value.toArray()[i], path + Path{i}, paths);
}

QJsonValue with(const QJsonValue& value, const Path& path, const QJsonValue& replacement) {
    if (path.isEmpty())
        return replacement;
    const Path rest = path.mid(1);
    if (const auto* key = std::get_if<QString>(&path[0])) {
        QJsonObject object = value.toObject();
        object[*key] = with(object[*key], rest, replacement);
        return object;
    }
    QJsonArray array = value.toArray();
    const int index = std::get<int>(path[0]);
    array[index] = with(array[index], rest, replacement);
    return array;
}

QString pathText(const Path& path) {
    QString text;
    for (const auto& step : path) {
        if (const auto* key = std::get_if<QString>(&step))
            text += (text.isEmpty() ? "" : ".") + *key;
        else
            text += QStringLiteral("[%1]").arg(std::get<int>(step));
    }
    return text;
}

} // namespace

/// Null, and what is of another type, at every place of the document: refused with its path.
void TestExperimentFile::refusesWrongTypesEverywhere() {
    const QJsonValue root = QJsonDocument::fromJson(example()).object();
    QList<Path> paths;
    collect(root, {}, paths);
    QVERIFY(paths.size() > 30);
    const QJsonValue wrong[] = {QJsonValue::Null, QJsonArray{QJsonArray{}},
                                QJsonObject{{"x", QJsonObject{}}}};
    for (const Path& path : paths.mid(1)) {
        for (const QJsonValue& value : wrong) {
            const QJsonValue changed = with(root, path, value);
            const auto experiment = parseExperiment(QJsonDocument(changed.toObject()).toJson());
            QVERIFY2(!experiment, qPrintable(pathText(path)));
            QVERIFY2(experiment.error().message.startsWith(pathText(path)),
                     qPrintable(pathText(path) + " -> " + experiment.error().message));
        }
    }
}

void TestExperimentFile::refusesEveryTruncation() {
    const QByteArray text = example().trimmed();
    for (qsizetype length = 0; length < text.size(); ++length) {
        const auto experiment = parseExperiment(text.left(length));
        QVERIFY2(!experiment, qPrintable(QString::number(length)));
        QCOMPARE(experiment.error().code, Error::Code::BadInput);
        if (length > 0)
            QVERIFY2(experiment.error().message.startsWith(QLatin1String("line ")),
                     qPrintable(experiment.error().message));
    }
}

/// Any byte may be damaged: an answer comes, and a refusal has its reason.
void TestExperimentFile::survivesEveryByte() {
    const QByteArray text = example();
    for (qsizetype at = 0; at < text.size(); ++at) {
        for (const char byte : {'\0', '"', '{', '\xff', '9', '\n'}) {
            QByteArray damaged = text;
            damaged[at] = byte;
            const auto experiment = parseExperiment(damaged);
            if (!experiment)
                QVERIFY(!experiment.error().message.isEmpty());
            else
                QVERIFY(parseExperiment(writeExperiment(*experiment)).has_value());
        }
    }
}

void TestExperimentFile::refusesHostileText_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("said");
    QTest::newRow("empty") << QByteArray() << "The file is empty";
    QTest::newRow("blank") << QByteArray(" \n\t") << "The file is empty";
    QTest::newRow("BOM alone") << QByteArray("\xEF\xBB\xBF") << "line 1";
    QTest::newRow("UTF-16") << QByteArray("\xFF\xFE{\0}\0", 6) << "line 1, column";
    QTest::newRow("deep arrays") << QByteArray(1000000, '[') << "nested too deeply";
    QTest::newRow("deep objects") << QByteArray("{\"a\":").repeated(100000) << "nested too deeply";
    QTest::newRow("array") << QByteArray("[]") << "the document: must be an object";
    QTest::newRow("number") << QByteArray("1") << "the document: must be an object";
    QTest::newRow("null") << QByteArray("null") << "the document: must be an object";
    QTest::newRow("empty object") << QByteArray("{}") << "format: missing";
    QTest::newRow("NaN") << replaced(": 0.2", ": " + QByteArray("NaN")) << "line 4, column";
    QTest::newRow("infinity") << replaced(": 0.2", ": " + QByteArray("Infinity"))
                              << "line 4, column";
    QTest::newRow("huge number") << replaced(": 0.2", ": " + QByteArray("1e999")) << "1e999";
    QTest::newRow("long number") << replaced(": 0.2", ": " + QByteArray(100000, '9')) << "overflow";
    QTest::newRow("comment") << replaced("\"test\"", "/* x */ \"test\"") << "line 4, column 3";
    QTest::newRow("comma at the end")
        << replaced("\"seed\": 1", "\"seed\": 1,") << "line 9, column";
    QTest::newRow("two documents") << example() + example() << "line 10, column 1";
    QTest::newRow("text after NUL")
        << example() + QByteArray("\0{", 2) << "line 10, column 1: a NUL";
    QTest::newRow("broken UTF-8") << replaced("Window on", "Window \xC3\x28") << "line 1, column";
    QTest::newRow("lone surrogate") << replaced("Window on", "\\ud800") << "line 1, column";
    QTest::newRow("single quotes") << QByteArray("{'format': 1}") << "line 1, column 2";
    QTest::newRow("too large") << example() + QByteArray(5 << 20, ' ') << "Too large";
    QTest::newRow("many unknown keys")
        << replaced("\"seed\": 1", "\"" + QByteArray(100000, 'k') + "\": 1") << "unknown key";
}

void TestExperimentFile::refusesHostileText() {
    QFETCH(QByteArray, text);
    QFETCH(QString, said);
    const auto experiment = parseExperiment(text);
    QVERIFY(!experiment);
    QCOMPARE(experiment.error().code, Error::Code::BadInput);
    QVERIFY2(experiment.error().text().contains(said), qPrintable(experiment.error().text()));
    QVERIFY(experiment.error().text().size() < 600);
}

void TestExperimentFile::refusesWrongFiles() {
    QTemporaryDir folder;
    const auto said = [](const QString& path) {
        const auto experiment = readExperimentFile(path);
        return experiment ? QStringLiteral("read") : experiment.error().text();
    };
    QCOMPARE(said(folder.filePath("absent.json")),
             folder.filePath("absent.json") + ": there is no such file.");
    QCOMPARE(said(folder.path()), folder.path() + ": is no regular file.");
    QVERIFY(said(QString()).contains("no such file"));
    // Opening a pipe that nobody writes to would wait for ever.
    const QString pipe = folder.filePath("pipe");
    QCOMPARE(mkfifo(pipe.toUtf8().constData(), 0600), 0);
    QCOMPARE(said(pipe), pipe + ": is no regular file.");
    QVERIFY(said("/dev/zero").contains("no regular file"));
    // A file that fails on read, for root too.
    if (QFile::exists("/proc/self/mem"))
        QVERIFY(said("/proc/self/mem") != QStringLiteral("read"));

    const QString path = folder.filePath("experiment.json");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(example());
    file.close();
    QCOMPARE(said(path), QStringLiteral("read"));
    if (geteuid() != 0) {
        QVERIFY(file.setPermissions(QFileDevice::Permissions{}));
        QVERIFY(said(path).startsWith(path + ": cannot be read"));
    }
    QVERIFY(file.setPermissions(QFileDevice::ReadOwner | QFileDevice::WriteOwner));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("{\n\"a");
    file.close();
    QVERIFY(said(path).startsWith(path + ": line 2, column "));
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
    QVERIFY(
        checkExperiment(experiment).error().text().startsWith("test.link:mtu: is no test knob"));
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
