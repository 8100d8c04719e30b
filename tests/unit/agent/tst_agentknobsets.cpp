// SPDX-License-Identifier: GPL-3.0-or-later
#include "agentprocess.h"
#include "kernelnamespace.h"
#include "knobfixture.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>

#include <unistd.h>

using knobscope::Json;
namespace protocol = knobscope::protocol;
namespace method = protocol::method;

namespace {

QByteArray contentOf(const QString& name) {
    QFile file(name);
    return file.open(QIODevice::ReadOnly) ? file.readAll().trimmed() : QByteArray("(none)");
}

void put(const QString& name, const QByteArray& text) {
    QFile file(name);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text + '\n');
}

QString queueFile(int queue) {
    return QStringLiteral("/sys/class/net/kn0/queues/rx-%1/rps_cpus").arg(queue);
}

int ip(const QString& arguments) {
    return QProcess::execute("ip", arguments.split(u' '));
}

/// The latency that this computer promises, in µs; 2000000000: none.
qint32 latencyNow() {
    QFile file(QStringLiteral("/dev/cpu_dma_latency"));
    qint32 value = -1;
    if (file.open(QIODevice::ReadOnly | QIODevice::Unbuffered))
        file.read(reinterpret_cast<char*>(&value), sizeof value);
    return value;
}

} // namespace

/// Knobs that have to do with one another, knobs of the user's own, and what is said of them: the
/// real agent in a network of the test's own, with a /sys that shows it.
class TestAgentKnobSets : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void init();
    void cleanup();
    void putsBackWhatAnotherKnobResets();
    void leavesCompanionsOutOfReports();
    void triesAgainWhenAnotherKnobWasInTheWay();
    void readsOriginalsBeforeAnyIsSet();
    void tellsIgnoredFromAdjusted();
    void setsTheSameRequestOnce();
    void qdiscGoesBackToTheDefault();
    void commandsArePutBackAfterDeath();
    void commandsFail_data();
    void commandsFail();
    void saysWhatToTypeByHand();
    void latencyEndsWithTheGuardian();

private:
    Json command(const char* name, const char* value, const QString& set = {},
                 const QString& restore = {}) const;
    QString file(const char* name) const { return m_dir.filePath(QLatin1String(name)); }
    QTemporaryDir m_dir;
};

/// A knob that is a file of the test's own.
Json TestAgentKnobSets::command(const char* name, const char* value, const QString& set,
                                const QString& restore) const {
    const QString path = file(name);
    Json result = setting((std::string("command:") + name).c_str(), value);
    result["commands"] = {
        {"get", "cat " + path.toStdString()},
        {"set", (set.isEmpty() ? "echo \"$VALUE\" > " + path : set).toStdString()},
        {"restore", restore.toStdString()},
        {"timeout_seconds", 5}};
    return result;
}

void TestAgentKnobSets::initTestCase() {
    if (::geteuid() != 0 || !enterOwnNetwork() || !knobscope::test::mountOwnSysfs())
        QSKIP("needs root: it sets knobs in a network namespace of its own");
    QCOMPARE(ip("link add kn0 numrxqueues 4 numtxqueues 4 type veth peer name kn1"), 0);
    QCOMPARE(QProcess::execute("ethtool", {"-L", "kn0", "rx", "2", "tx", "2"}), 0);
}

void TestAgentKnobSets::init() {
    QCOMPARE(journalsHere(), QStringList());
    for (const char* name : {"a", "b"})
        put(file(name), "0");
}

void TestAgentKnobSets::cleanup() {
    QCOMPARE(journalsHere(), QStringList());
}

/// Fewer channels take the CPUs of the queues that go with them; more bring empty ones.
void TestAgentKnobSets::putsBackWhatAnotherKnobResets() {
    put(queueFile(0), "1");
    put(queueFile(1), "2");
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    const Json outcome =
        agent.call(method::kKnobApply, listOf(setting("channels:rx", "1", "kn0")))["result"][0];
    QVERIFY2(outcome["status"] == "applied", outcome.dump().c_str());
    QVERIFY(!QFile::exists(queueFile(1)));
    const Json reports = agent.call(method::kKnobRestore)["result"];
    QCOMPARE(contentOf(queueFile(1)), QByteArray("2"));
    QCOMPARE(contentOf(queueFile(0)), QByteArray("1"));
    QCOMPARE(reports.size(), 2U); // the channels, and what had to be put back with them
    for (const Json& report : reports) {
        QVERIFY2(report["restored"] == true, report.dump().c_str());
        COMPARE_TEXT(report["changed_by_other"], false);
    }
    put(queueFile(0), "0");
    put(queueFile(1), "0");
}

void TestAgentKnobSets::leavesCompanionsOutOfReports() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    agent.call(method::kKnobApply, listOf(setting("channels:rx", "3", "kn0")));
    const Json reports = agent.call(method::kKnobRestore)["result"];
    QCOMPARE(reports.size(), 1U);
    COMPARE_TEXT(reports[0]["name"], "channels:rx");
    // Of a request that is refused, nothing is left.
    const Json outcome =
        agent.call(method::kKnobApply, listOf(setting("channels:rx", "99", "kn0")))["result"][0];
    COMPARE_TEXT(outcome["status"], "rejected");
    QCOMPARE(journalsHere(), QStringList());
}

void TestAgentKnobSets::triesAgainWhenAnotherKnobWasInTheWay() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    // "a" is taken only while "b" is 1, as channels are only while the RSS table allows it.
    const QString needsB =
        QStringLiteral("test \"$(cat %1)\" = 1 && echo \"$VALUE\" > %2").arg(file("b"), file("a"));
    const Json outcomes = agent.call(
        method::kKnobApply,
        listOf(command("a", "7", needsB, QStringLiteral("echo \"$VALUE\" > %1").arg(file("a"))),
               command("b", "1")))["result"];
    for (const Json& outcome : outcomes)
        QVERIFY2(outcome["status"] == "applied", outcome.dump().c_str());
    QCOMPARE(contentOf(file("a")), QByteArray("7"));
    const Json reports = agent.call(method::kKnobRestore)["result"];
    QCOMPARE(reports.size(), 2U);
    QCOMPARE(contentOf(file("a")), QByteArray("0"));
    QCOMPARE(contentOf(file("b")), QByteArray("0"));
}

void TestAgentKnobSets::readsOriginalsBeforeAnyIsSet() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    put(file("b"), "5");
    // Setting "a" moves "b", as checksums take TSO with them.
    const QString movesB =
        QStringLiteral("echo \"$VALUE\" > %1; echo 9 > %2").arg(file("a"), file("b"));
    const Json outcomes = agent.call(
        method::kKnobApply, listOf(command("a", "1", movesB), command("b", "6")))["result"];
    COMPARE_TEXT(outcomes[1]["original"], "5");
    COMPARE_TEXT(outcomes[1]["accepted"], "6");
    agent.call(method::kKnobRestore);
    QCOMPARE(contentOf(file("b")), QByteArray("5"));
    put(file("b"), "0");
}

void TestAgentKnobSets::tellsIgnoredFromAdjusted() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    const QString ignores = QStringLiteral("true");
    const QString rounds = QStringLiteral("echo $(( (VALUE + 7) / 8 * 8 )) > %1").arg(file("b"));
    const Json outcomes =
        agent.call(method::kKnobApply,
                   listOf(command("a", "3", ignores), command("b", "3", rounds)))["result"];
    for (const Json& outcome : outcomes)
        COMPARE_TEXT(outcome["status"], "adjusted");
    COMPARE_TEXT(outcomes[0]["accepted"], "0");
    COMPARE_TEXT(outcomes[0]["note"], "the host said yes but has kept the value that it had");
    COMPARE_TEXT(outcomes[1]["accepted"], "8");
    COMPARE_TEXT(outcomes[1]["note"], "");
    const Json reports = agent.call(method::kKnobRestore)["result"];
    QCOMPARE(reports.size(), 1U);
}

/// A ring size that the driver has rounded is not set anew for every sample.
void TestAgentKnobSets::setsTheSameRequestOnce() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    const QString counts = QStringLiteral("echo 8 > %1; echo x >> %2").arg(file("a"), file("b"));
    for (const char* status : {"adjusted", "adjusted", "adjusted"}) {
        const Json outcome =
            agent.call(method::kKnobApply, listOf(command("a", "3", counts)))["result"][0];
        COMPARE_TEXT(outcome["status"], status);
    }
    QCOMPARE(contentOf(file("b")).count('x'), 1);
    put(file("a"), "4"); // somebody else
    agent.call(method::kKnobApply, listOf(command("a", "3", counts)));
    QCOMPARE(contentOf(file("b")).count('x'), 2);
    put(file("a"), "0");
    agent.call(method::kKnobRestore);
}

/// After the MTU and the channels, to which the kernel fits its default.
void TestAgentKnobSets::qdiscGoesBackToTheDefault() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    const Json outcomes = agent.call(
        method::kKnobApply,
        listOf(setting("qdisc:root", "tbf rate 1gbit burst 256k latency 50ms", "kn0"),
               setting("link:mtu", "1400", "kn0"), setting("channels:tx", "1", "kn0")))["result"];
    for (const Json& outcome : outcomes)
        QVERIFY2(outcome["status"] == "applied", outcome.dump().c_str());
    const Json reports = agent.call(method::kQuit)["result"];
    for (const Json& report : reports)
        QVERIFY2(report["restored"] == true, report.dump().c_str());
    COMPARE_TEXT(reports[reports.size() - 1]["name"], "qdisc:root");
    QCOMPARE(agent.waitForEnd(), 0);
}

void TestAgentKnobSets::commandsArePutBackAfterDeath() {
    {
        AgentProcess agent;
        QVERIFY(agent.hello("killed").is_object());
        agent.call(
            method::kKnobApply,
            listOf(command("a", "7", {}, QStringLiteral("echo \"$VALUE\" > %1").arg(file("a")))));
        QCOMPARE(contentOf(file("a")), QByteArray("7"));
        ::kill(static_cast<pid_t>(agent.guardian()), SIGKILL);
        QCOMPARE(agent.waitForEnd(), -1);
    }
    AgentProcess next; // knows the command lines from the journal alone
    const Json recovered = next.hello("next")["recovered"];
    QCOMPARE(recovered.size(), 1U);
    COMPARE_TEXT(recovered[0]["name"], "command:a");
    COMPARE_TEXT(recovered[0]["restored"], true);
    QCOMPARE(contentOf(file("a")), QByteArray("0"));
}

void TestAgentKnobSets::commandsFail_data() {
    QTest::addColumn<QString>("get");
    QTest::addColumn<QString>("set");
    QTest::addColumn<QString>("words");
    QTest::newRow("none") << ""
                          << ""
                          << "has no command lines";
    QTest::newRow("get fails") << "echo sorry >&2; exit 4"
                               << "true"
                               << "the command to get command:x ended with status 4: sorry; it was "
                                  "not set";
    QTest::newRow("get says nothing") << "true"
                                      << "true"
                                      << "printed nothing";
    QTest::newRow("set fails") << "echo 0"
                               << "exit 2"
                               << "the command to set command:x ended with status 2";
    QTest::newRow("set takes too long") << "echo 0"
                                        << "sleep 30"
                                        << "was stopped after 1 s";
}

void TestAgentKnobSets::commandsFail() {
    QFETCH(QString, get);
    QFETCH(QString, set);
    QFETCH(QString, words);
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    Json knob = setting("command:x", "1");
    if (!get.isEmpty())
        knob["commands"] = {
            {"get", get.toStdString()}, {"set", set.toStdString()}, {"timeout_seconds", 1}};
    const Json outcome = agent.call(method::kKnobApply, listOf(knob))["result"][0];
    COMPARE_TEXT(outcome["status"], "rejected");
    const QString error = QString::fromStdString(outcome["error"].get<std::string>());
    QVERIFY2(error.contains(words), qPrintable(error));
}

void TestAgentKnobSets::saysWhatToTypeByHand() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    agent.call(method::kKnobApply, listOf(command("a", "7", {}, QStringLiteral("exit 1"))));
    const Json failed = agent.call(method::kKnobRestore)["result"][0];
    COMPARE_TEXT(failed["restored"], false);
    COMPARE_TEXT(failed["command"], "VALUE=0 INTERFACE='' sh -c 'exit 1'");
    put(file("a"), "0"); // by hand
    const Json reports = agent.call(method::kKnobRestore)["result"];
    COMPARE_TEXT(reports[0]["restored"], true);
    COMPARE_TEXT(reports[0]["command"], "");
}

void TestAgentKnobSets::latencyEndsWithTheGuardian() {
    const qint32 before = latencyNow();
    if (before < 1'000'000)
        QSKIP("another program has asked for a latency, or there is no /dev/cpu_dma_latency");
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    const Json outcome =
        agent.call(method::kKnobApply, listOf(setting("cpu:latency", "999999")))["result"][0];
    QVERIFY2(outcome["status"] == "applied", outcome.dump().c_str());
    QCOMPARE(latencyNow(), 999999);
    agent.call(method::kKnobRestore);
    QCOMPARE(latencyNow(), before);
    agent.call(method::kKnobApply, listOf(setting("cpu:latency", "999998")));
    QCOMPARE(latencyNow(), 999998);
    ::kill(static_cast<pid_t>(agent.guardian()), SIGKILL);
    QCOMPARE(agent.waitForEnd(), -1);
    QTRY_COMPARE(latencyNow(), before); // nothing has to be done for it
    AgentProcess next;
    const Json recovered = next.hello("next")["recovered"];
    QCOMPARE(recovered.size(), 1U);
    COMPARE_TEXT(recovered[0]["restored"], true);
    COMPARE_TEXT(recovered[0]["changed_by_other"], false); // it was the kernel
}

QTEST_GUILESS_MAIN(TestAgentKnobSets)
#include "tst_agentknobsets.moc"
