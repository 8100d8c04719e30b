// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/experimentfile.h"
#include "experimentexample.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>
#include <unistd.h>

#include <variant>

using namespace knobscope;

/// Wrong, broken and hostile experiment files: each gets one message that names the place.
class TestExperimentErrors : public QObject {
    Q_OBJECT
private slots:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral("."))); }
    void refuses_data();
    void refuses();
    void refusesWrongTypesEverywhere();
    void refusesEveryTruncation();
    void survivesEveryByte();
    void refusesHostileText_data();
    void refusesHostileText();
    void refusesWrongFiles();
};

void TestExperimentErrors::refuses_data() {
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
        "test.kind: there is no test \"tcp_streem\"; known: tcp_stream, tcp_rr, tcp_crr, "
        "udp_stream or udp_rr. Did you mean");
    row("backend", "builtin", "iperf3",
        "test.backend: there is no backend \"iperf3\"; known: builtin");
    row("no seconds", "\"seconds\": 2", "\"seconds\": 0", "test.seconds: must be 0.01 or more");
    row("too short to measure", "\"seconds\": 2", "\"seconds\": 1e-9",
        "test.seconds: must be 0.01 or more");
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
    row("value twice", "\"64K\"", "32768",
        "axes[0].values[1]: \"32768\" is there already: it is the same as value 1, \"32K\"");
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
        "window\", \"side\"",
        "axes[1].knob: an earlier axis, number 1, moves window on this side already");
    row("one knob, two spellings", "\"window\", \"side\": \"both\", \"values\": [\"32K\"",
        "\"sysctl:net/ipv4/tcp_limit_output_bytes\", \"side\": \"both\", \"values\": [\"32K\"",
        "axes[1].knob: an earlier axis, number 1, moves sysctl:net.ipv4.tcp_limit_output_bytes on "
        "this side already");
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
    const auto fan = [&](const char* name, const QByteArray& commands, const char* said) {
        // The second axis becomes a knob of the user's own.
        const QByteArray axis("sysctl:net.ipv4.tcp_limit_output_bytes\", \"side\": \"sender\", "
                              "\"values\": [16384, 65536, 1048576] } ],\n  \"exclude\": [ { "
                              "\"window\": \"32K\", \"sysctl:net.ipv4.tcp_limit_output_bytes\": "
                              "1048576 } ],");
        QTest::newRow(name) << axis << QByteArray("command:fan\", \"values\": [1] } ],") + commands
                            << QString::fromUtf8(said);
    };
    fan("command without lines", "", "axes[1].knob: command:fan has no command lines");
    fan("command of another name", "\"commands\": {\"fa\": {\"get\": \"a\", \"set\": \"b\"}},",
        "axes[1].knob: command:fan has no command lines");
    fan("command that reads nothing", "\"commands\": {\"fan\": {\"set\": \"b\"}},",
        "commands.fan.get: missing");
    fan("blank command", "\"commands\": {\"fan\": {\"get\": \" \", \"set\": \"b\"}},",
        "commands.fan.get: must not be empty");
    fan("long command",
        "\"commands\": {\"fan\": {\"get\": \"a\", \"set\": \"" + QByteArray(5000, 'b') + "\"}},",
        "commands.fan.set: must be at most 4096");
    fan("endless command",
        "\"commands\": {\"fan\": {\"get\": \"a\", \"set\": \"b\", \"timeout_seconds\": 61}},",
        "commands.fan.timeout_seconds: must be from 0.1 to 60");
    fan("unknown key of a command",
        "\"commands\": {\"fan\": {\"get\": \"a\", \"set\": \"b\", \"undo\": \"c\"}},",
        "commands.fan.undo: unknown key");
    fan("name of a command", "\"commands\": {\"a b\": {\"get\": \"a\", \"set\": \"b\"}},",
        "commands.a b: is no name for a knob");
    row("no repeats", "\"min\": 5", "\"min\": 0", "plan.repeats.min: ");
    row("too many repeats", "\"max\": 30", "\"max\": 1001", "plan.repeats.max: ");
    row("fewest above most", "\"min\": 5", "\"min\": 31",
        "plan.repeats: the most, 30, are fewer than the fewest, 31");
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
        "axes[2].knob: an earlier axis, number 2, moves sysctl:net.ipv4.tcp_limit_output_bytes "
        "already, and both");
}

void TestExperimentErrors::refuses() {
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
void TestExperimentErrors::refusesWrongTypesEverywhere() {
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

void TestExperimentErrors::refusesEveryTruncation() {
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
void TestExperimentErrors::survivesEveryByte() {
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

void TestExperimentErrors::refusesHostileText_data() {
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

void TestExperimentErrors::refusesHostileText() {
    QFETCH(QByteArray, text);
    QFETCH(QString, said);
    const auto experiment = parseExperiment(text);
    QVERIFY(!experiment);
    QCOMPARE(experiment.error().code, Error::Code::BadInput);
    QVERIFY2(experiment.error().text().contains(said), qPrintable(experiment.error().text()));
    QVERIFY(experiment.error().text().size() < 600);
}

void TestExperimentErrors::refusesWrongFiles() {
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

QTEST_APPLESS_MAIN(TestExperimentErrors)
#include "tst_experimenterrors.moc"
