// SPDX-License-Identifier: GPL-3.0-or-later
#include "agentprocess.h"

#include <QDir>
#include <QFile>
#include <QRegularExpression>
#include <QTest>

#include <csignal>

#include <unistd.h>

using knobscope::Json;
namespace protocol = knobscope::protocol;
namespace method = protocol::method;
namespace errorcode = protocol::errorcode;

namespace {

constexpr const char* kLimit = "net/ipv4/tcp_limit_output_bytes";
constexpr const char* kCorking = "net/ipv4/tcp_autocorking";
constexpr const char* kLimitKnob = "sysctl:net.ipv4.tcp_limit_output_bytes";
constexpr const char* kCorkingKnob = "sysctl:net.ipv4.tcp_autocorking";

Json setting(const char* name, const char* value, const char* interface = "") {
    return {{"name", name}, {"interface", interface}, {"value", value}};
}

template<typename... Settings>
Json listOf(const Settings&... settings) {
    Json list = Json::array();
    (list.push_back(settings), ...);
    return list;
}

void writeSysctl(const char* path, const QByteArray& value) {
    QFile file(QLatin1String("/proc/sys/") + QLatin1String(path));
    QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Unbuffered));
    QVERIFY(file.write(value) > 0);
}

QByteArray loopbackMtu() {
    QProcess ip; // /sys belongs to the namespace it was mounted in; ip asks the kernel
    ip.start("ip", {"-o", "link", "show", "lo"});
    ip.waitForFinished();
    return QRegularExpression("mtu (\\d+)")
        .match(QString::fromUtf8(ip.readAll()))
        .captured(1)
        .toLatin1();
}

} // namespace

/// Knobs of a network namespace of the test's own: set, refused, and put back whatever dies.
class TestAgentKnobs : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void init();
    void cleanup();
    void appliesAndRestores();
    void keepsTheFirstOriginal();
    void leavesWhatIsSoAlready();
    void goesOnAfterARejectedValue();
    void setsNothingThatItCannotRead();
    void refusesZeroBytes();
    void writesTheJournalBeforeTheSet();
    void restores_data();
    void restores();
    void restoresWhenTheWorkerIsStopped();
    void renewsTheLeaseByAnyRequest();
    void restoresAfterTheGuardiansDeath();
    void recoversByCommand();
    void flagsWhatOthersChanged();
    void flagsWhatOthersChangedMeanwhile();
    void toleratesATornJournal();
    void dropsJournalsOfOtherBoots();
    void leavesOtherNetworksAlone();
    void refusesAnotherRunWhileBusy();
    void sharesKnobsWithinARun();
    void waitsForAnInterfaceThatIsGone();
    void refusesAnOpenFolder();

private:
    QByteArray m_limit;
    QByteArray m_corking;
    QByteArray m_mtu;
};

void TestAgentKnobs::initTestCase() {
    if (::geteuid() != 0 || !enterOwnNetwork())
        QSKIP("needs root: it sets knobs in a network namespace of its own");
    m_limit = readSysctl(kLimit);
    m_corking = readSysctl(kCorking);
    m_mtu = loopbackMtu();
    QVERIFY(m_limit.toInt() > 0);
    QVERIFY(m_mtu.toInt() > 0);
}

void TestAgentKnobs::init() {
    QCOMPARE(journalsHere(), QStringList());
}

void TestAgentKnobs::cleanup() {
    COMPARE_TEXT(readSysctl(kLimit), m_limit);
    COMPARE_TEXT(readSysctl(kCorking), m_corking);
    COMPARE_TEXT(loopbackMtu(), m_mtu);
    QCOMPARE(journalsHere(), QStringList());
}

void TestAgentKnobs::appliesAndRestores() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    const Json outcomes = agent.call(
        method::kKnobApply, listOf(setting(kLimitKnob, "65536"), setting(kCorkingKnob, "0"),
                                   setting("link:mtu", "9000", "lo")))["result"];
    QCOMPARE(outcomes.size(), 3U);
    for (const Json& outcome : outcomes) {
        QVERIFY2(outcome["status"] == "applied", outcome.dump().c_str());
        COMPARE_TEXT(outcome["accepted"], outcome["requested"]);
        COMPARE_TEXT(outcome["error"], "");
    }
    COMPARE_TEXT(outcomes[0]["original"], m_limit.toStdString());
    COMPARE_TEXT(outcomes[2]["original"], m_mtu.toStdString());
    COMPARE_TEXT(readSysctl(kLimit), "65536");
    COMPARE_TEXT(readSysctl(kCorking), "0");
    COMPARE_TEXT(loopbackMtu(), "9000");
    const Json readings =
        agent.call(method::kKnobRead, listOf(setting(kLimitKnob, ""), setting("link:mtu", "", "lo"),
                                             setting("sysctl:net.no.such", "")))["result"];
    COMPARE_TEXT(readings[0]["value"], "65536");
    COMPARE_TEXT(readings[1]["value"], "9000");
    QVERIFY(readings[2]["value"].is_null());
    QVERIFY(!readings[2]["error"].get<std::string>().empty());

    const Json reports = agent.call(method::kKnobRestore)["result"];
    QCOMPARE(reports.size(), 3U);
    // The order of application is link, then sysctls; that of restoring is the reverse.
    COMPARE_TEXT(reports[2]["name"], "link:mtu");
    COMPARE_TEXT(reports[2]["interface"], "lo");
    for (const Json& report : reports) {
        COMPARE_TEXT(report["restored"], true);
        COMPARE_TEXT(report["changed_by_other"], false);
        COMPARE_TEXT(report["now"], report["original"]);
    }
    COMPARE_TEXT(reports[2]["found"], "9000");
    COMPARE_TEXT(readSysctl(kLimit), m_limit);
    QCOMPARE(journalsHere(), QStringList());
    COMPARE_TEXT(agent.call(method::kKnobRestore)["result"], Json::array());
    COMPARE_TEXT(agent.call(method::kQuit)["result"], Json::array());
    QCOMPARE(agent.waitForEnd(), 0);
}

void TestAgentKnobs::keepsTheFirstOriginal() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    for (const char* value : {"65536", "131072", "262144"}) {
        const Json outcome =
            agent.call(method::kKnobApply, listOf(setting(kLimitKnob, value)))["result"][0];
        COMPARE_TEXT(outcome["status"], "applied");
        COMPARE_TEXT(outcome["original"], m_limit.toStdString());
    }
    // Back to the original by hand, then on: still the same original.
    agent.call(method::kKnobApply, listOf(setting(kLimitKnob, m_limit.constData())));
    agent.call(method::kKnobApply, listOf(setting(kLimitKnob, "4096")));
    const Json reports = agent.call(method::kQuit)["result"];
    QCOMPARE(reports.size(), 1U);
    COMPARE_TEXT(reports[0]["original"], m_limit.toStdString());
    COMPARE_TEXT(reports[0]["found"], "4096");
}

void TestAgentKnobs::leavesWhatIsSoAlready() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    const Json outcome = agent.call(method::kKnobApply,
                                    listOf(setting(kLimitKnob, m_limit.constData())))["result"][0];
    COMPARE_TEXT(outcome["status"], "unchanged");
    COMPARE_TEXT(outcome["accepted"], m_limit.toStdString());
    COMPARE_TEXT(outcome["original"], m_limit.toStdString());
    QCOMPARE(journalsHere(), QStringList());
    COMPARE_TEXT(agent.call(method::kKnobApply, Json::array())["result"], Json::array());
    COMPARE_TEXT(agent.call(method::kQuit)["result"], Json::array());
}

void TestAgentKnobs::goesOnAfterARejectedValue() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    const Json outcomes = agent.call(
        method::kKnobApply,
        listOf(setting(kLimitKnob, "65536"), setting("link:mtu", "-5", "lo"),
               setting("sysctl:net.ipv4.tcp_no_such_thing", "1"),
               setting("sysctl:net.ipv4.tcp_congestion_control", "no_such_control"),
               setting("feature:no-such-feature", "on", "lo"),
               setting("link:mtu", "1400", "nowhere0"), setting(kCorkingKnob, "0")))["result"];
    QCOMPARE(outcomes.size(), 7U);
    for (const std::size_t bad : {1, 2, 3, 4, 5}) {
        QVERIFY2(outcomes[bad]["status"] == "rejected", outcomes[bad].dump().c_str());
        QVERIFY(!outcomes[bad]["error"].get<std::string>().empty());
    }
    COMPARE_TEXT(outcomes[1]["accepted"], m_mtu.toStdString()); // the host's own
    QVERIFY(outcomes[5]["accepted"].is_null());
    COMPARE_TEXT(outcomes[0]["status"], "applied");
    COMPARE_TEXT(outcomes[6]["status"], "applied");
    COMPARE_TEXT(readSysctl(kLimit), "65536");
    QCOMPARE(agent.call(method::kQuit)["result"].size(),
             2U); // of what came nothing, nothing is left
}

void TestAgentKnobs::setsNothingThatItCannotRead() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    // Write only: there would be no value to put back.
    const Json outcome = agent.call(
        method::kKnobApply, listOf(setting("sysctl:net.ipv4.route.flush", "1")))["result"][0];
    COMPARE_TEXT(outcome["status"], "rejected");
    QVERIFY(outcome["original"].is_null());
    QCOMPARE(journalsHere(), QStringList());
}

void TestAgentKnobs::refusesZeroBytes() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    Json knob = setting(kLimitKnob, "65536");
    knob["name"] = std::string(kLimitKnob) + std::string("\0x", 2);
    COMPARE_TEXT(agent.call(method::kKnobApply, listOf(knob))["result"][0]["status"], "rejected");
    knob = setting(kLimitKnob, "");
    knob["value"] = std::string("65536\0", 6);
    COMPARE_TEXT(agent.call(method::kKnobApply, listOf(knob))["result"][0]["status"], "rejected");
    COMPARE_TEXT(readSysctl(kLimit), m_limit);
}

void TestAgentKnobs::writesTheJournalBeforeTheSet() {
    AgentProcess agent;
    QVERIFY(agent.hello("the night run").is_object());
    agent.call(method::kKnobApply, listOf(setting(kLimitKnob, "65536")));
    const QStringList journals = journalsHere();
    QCOMPARE(journals.size(), 1);
    const QFileInfo info(journals.first());
    QCOMPARE(info.permissions() &
                 (QFile::ReadGroup | QFile::ReadOther | QFile::WriteGroup | QFile::WriteOther),
             QFile::Permissions());
    QCOMPARE(QFileInfo(info.path()).permissions() & (QFile::ReadGroup | QFile::ReadOther),
             QFile::Permissions());
    QFile file(journals.first());
    QVERIFY(file.open(QIODevice::ReadOnly));
    const Json header = Json::parse(file.readLine().toStdString());
    COMPARE_TEXT(header["run"], "the night run");
    QCOMPARE(header["pid"].get<qint64>(), agent.guardian());
    const Json record = Json::parse(file.readLine().toStdString());
    COMPARE_TEXT(record["set"], kLimitKnob);
    COMPARE_TEXT(record["original"], m_limit.toStdString());
    COMPARE_TEXT(record["value"], "65536");
}

void TestAgentKnobs::restores_data() {
    QTest::addColumn<QString>("how");
    QTest::addColumn<int>("status");
    QTest::newRow("end of input") << "eof" << 0;
    QTest::newRow("quit") << "quit" << 0;
    QTest::newRow("guardian SIGTERM") << "term" << 0;
    QTest::newRow("guardian SIGINT") << "int" << 0;
    QTest::newRow("worker killed") << "kill" << 1;
    QTest::newRow("worker SIGTERM") << "workerterm" << 1;
    QTest::newRow("hang-up, then end of input") << "hup" << 0;
}

void TestAgentKnobs::restores() {
    QFETCH(QString, how);
    QFETCH(int, status);
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    agent.call(method::kKnobApply,
               listOf(setting(kLimitKnob, "65536"), setting("link:mtu", "9000", "lo")));
    COMPARE_TEXT(readSysctl(kLimit), "65536");
    if (how == "eof")
        agent.closeInput();
    else if (how == "quit")
        agent.request(method::kQuit);
    else if (how == "term")
        ::kill(static_cast<pid_t>(agent.guardian()), SIGTERM);
    else if (how == "int")
        ::kill(static_cast<pid_t>(agent.guardian()), SIGINT);
    else if (how == "kill")
        ::kill(static_cast<pid_t>(agent.worker()), SIGKILL);
    else if (how == "workerterm")
        ::kill(static_cast<pid_t>(agent.worker()), SIGTERM);
    if (how == "hup") {
        ::kill(static_cast<pid_t>(agent.guardian()), SIGHUP);
        QVERIFY(agent.call(method::kPing).contains("result"));
        agent.closeInput();
    }
    QCOMPARE(agent.waitForEnd(), status);
    QVERIFY(!isAlive(agent.worker()));
}

void TestAgentKnobs::restoresWhenTheWorkerIsStopped() {
    AgentProcess agent;
    QVERIFY(agent.hello("stopped", 1).is_object());
    agent.call(method::kKnobApply, listOf(setting(kLimitKnob, "65536")));
    ::kill(static_cast<pid_t>(agent.worker()), SIGSTOP);
    QElapsedTimer time;
    time.start();
    for (int i = 0; i < 3; ++i)
        agent.request(method::kPing); // what the worker does not read renews nothing
    QCOMPARE(agent.waitForEnd(5000), 1);
    QVERIFY2(time.elapsed() < 3000, qPrintable(QString::number(time.elapsed())));
    QVERIFY(!isAlive(agent.worker()));
}

void TestAgentKnobs::renewsTheLeaseByAnyRequest() {
    AgentProcess agent;
    QVERIFY(agent.hello("renewed", 1).is_object());
    agent.call(method::kKnobApply, listOf(setting(kLimitKnob, "65536")));
    QElapsedTimer time;
    time.start();
    const char* const requests[] = {method::kPing, method::kSnapshot, method::kKnobRead};
    for (int i = 0; time.elapsed() < 2500; ++i) {
        const char* name = requests[i % 3];
        QVERIFY(agent.call(name, name == method::kKnobRead ? Json::array() : Json::object())
                    .contains("result"));
        QTest::qWait(100);
    }
    COMPARE_TEXT(readSysctl(kLimit), "65536");
    time.restart();
    QCOMPARE(agent.waitForEnd(5000), 1); // no request, no lease
    QVERIFY2(time.elapsed() > 500 && time.elapsed() < 3000,
             qPrintable(QString::number(time.elapsed())));
}

namespace {

/// Leaves knobs set and a journal behind, as when a host's agent is killed whole.
void leaveBehind(const Json& settings) {
    AgentProcess agent;
    QVERIFY(agent.hello("killed").is_object());
    agent.call(method::kKnobApply, settings);
    ::kill(static_cast<pid_t>(agent.guardian()), SIGKILL);
    QCOMPARE(agent.waitForEnd(), -1);
    QTRY_VERIFY(!isAlive(agent.worker())); // it goes with its guardian
}

} // namespace

void TestAgentKnobs::restoresAfterTheGuardiansDeath() {
    leaveBehind(listOf(setting(kLimitKnob, "65536"), setting("link:mtu", "9000", "lo")));
    COMPARE_TEXT(readSysctl(kLimit), "65536");
    QCOMPARE(journalsHere().size(), 1);
    AgentProcess next;
    const Json recovered = next.hello("next")["recovered"];
    QCOMPARE(recovered.size(), 2U);
    COMPARE_TEXT(recovered[0]["name"], kLimitKnob);
    COMPARE_TEXT(recovered[0]["original"], m_limit.toStdString());
    COMPARE_TEXT(recovered[0]["found"], "65536");
    for (const Json& report : recovered) {
        COMPARE_TEXT(report["restored"], true);
        COMPARE_TEXT(report["changed_by_other"], false);
    }
    COMPARE_TEXT(readSysctl(kLimit), m_limit);
    AgentProcess third;
    COMPARE_TEXT(third.hello("third")["recovered"], Json::array());
}

void TestAgentKnobs::recoversByCommand() {
    leaveBehind(listOf(setting(kLimitKnob, "65536")));
    QProcess recover;
    recover.start(QStringLiteral(AGENT_PROGRAM), {"--recover"});
    QVERIFY(recover.waitForFinished());
    QCOMPARE(recover.exitCode(), 0);
    const QByteArray said = recover.readAllStandardOutput();
    QVERIFY2(said.contains("restored: " + QByteArray(kLimitKnob) + " is " + m_limit + " again"),
             said.constData());
}

void TestAgentKnobs::flagsWhatOthersChanged() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    agent.call(method::kKnobApply,
               listOf(setting(kLimitKnob, "65536"), setting(kCorkingKnob, "0")));
    writeSysctl(kLimit, "77777");
    const Json reports = agent.call(method::kKnobRestore)["result"];
    QCOMPARE(reports.size(), 2U);
    for (const Json& report : reports) {
        const bool other = report["name"] == kLimitKnob;
        COMPARE_TEXT(report["changed_by_other"], other);
        COMPARE_TEXT(report["restored"], true);
        if (other)
            COMPARE_TEXT(report["found"], "77777");
    }
}

void TestAgentKnobs::flagsWhatOthersChangedMeanwhile() {
    leaveBehind(listOf(setting(kLimitKnob, "65536"), setting(kCorkingKnob, "0")));
    writeSysctl(kLimit, "77777");
    AgentProcess next;
    for (const Json& report : next.hello("next")["recovered"]) {
        COMPARE_TEXT(report["changed_by_other"], report["name"] == kLimitKnob);
        COMPARE_TEXT(report["restored"], true);
    }
}

void TestAgentKnobs::toleratesATornJournal() {
    leaveBehind(listOf(setting(kLimitKnob, "65536")));
    QFile journal(journalsHere().first());
    QVERIFY(journal.open(QIODevice::WriteOnly | QIODevice::Append));
    journal.write("\x00\xff garbage\n{\"set\":\"sysctl:net.ipv4.tcp_autocorking\",\"inter");
    journal.close();
    AgentProcess next;
    const Json recovered = next.hello("next")["recovered"];
    QCOMPARE(recovered.size(), 1U);
    COMPARE_TEXT(recovered[0]["name"], kLimitKnob);
    COMPARE_TEXT(recovered[0]["restored"], true);
}

void TestAgentKnobs::dropsJournalsOfOtherBoots() {
    leaveBehind(listOf(setting(kLimitKnob, "65536")));
    QFile journal(journalsHere().first());
    QVERIFY(journal.open(QIODevice::ReadWrite));
    QByteArray content = journal.readAll();
    content.replace(readSysctl("kernel/random/boot_id"), "00000000-0000-0000-0000-000000000000");
    journal.resize(0);
    journal.seek(0);
    journal.write(content);
    journal.close();
    AgentProcess next;
    COMPARE_TEXT(next.hello("next")["recovered"], Json::array());
    QCOMPARE(journalsHere(), QStringList());
    COMPARE_TEXT(readSysctl(kLimit), "65536"); // a reboot would have undone it
    writeSysctl(kLimit, m_limit);
}

void TestAgentKnobs::leavesOtherNetworksAlone() {
    leaveBehind(listOf(setting(kLimitKnob, "65536")));
    const QString journal = journalsHere().first();
    {
        QProcess other; // in a namespace of its own
        other.start("unshare", {"-n", QStringLiteral(AGENT_PROGRAM), "--recover"});
        QVERIFY(other.waitForFinished());
        QCOMPARE(other.exitCode(), 0);
        QVERIFY(!other.readAllStandardOutput().contains(kLimitKnob));
    }
    QVERIFY(QFile::exists(journal));
    AgentProcess next;
    QCOMPARE(next.hello("next")["recovered"].size(), 1U);
}

void TestAgentKnobs::refusesAnotherRunWhileBusy() {
    AgentProcess first;
    AgentProcess second;
    QVERIFY(first.hello("first run").is_object());
    QVERIFY(second.hello("second run").is_object());
    first.call(method::kKnobApply, listOf(setting(kLimitKnob, "65536")));
    const Json refused = second.call(method::kKnobApply, listOf(setting(kCorkingKnob, "0")));
    QCOMPARE(refused["error"]["code"].get<int>(), errorcode::kBusy);
    const QString words = QString::fromStdString(refused["error"]["message"].get<std::string>());
    QVERIFY2(words.contains("first run"), qPrintable(words));
    QVERIFY2(words.contains(QString::number(first.guardian())), qPrintable(words));
    QVERIFY2(words.contains(QRegularExpression("since \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d")),
             qPrintable(words));
    COMPARE_TEXT(readSysctl(kCorking), m_corking);
    // It may still look.
    COMPARE_TEXT(
        second.call(method::kKnobRead, listOf(setting(kLimitKnob, "")))["result"][0]["value"],
        "65536");
    first.call(method::kKnobRestore);
    COMPARE_TEXT(
        second.call(method::kKnobApply, listOf(setting(kCorkingKnob, "0")))["result"][0]["status"],
        "applied");
}

void TestAgentKnobs::sharesKnobsWithinARun() {
    AgentProcess sender;
    AgentProcess receiver;
    QVERIFY(sender.hello("one run").is_object());
    QVERIFY(receiver.hello("one run").is_object());
    sender.call(method::kKnobApply, listOf(setting(kLimitKnob, "65536")));
    const Json outcome =
        receiver.call(method::kKnobApply,
                      listOf(setting(kLimitKnob, "131072"), setting(kCorkingKnob, "0")))["result"];
    COMPARE_TEXT(outcome[0]["status"], "applied");
    COMPARE_TEXT(outcome[0]["original"], m_limit.toStdString()); // not what the sender has set
    sender.call(method::kKnobApply, listOf(setting(kCorkingKnob, "0")));
    for (AgentProcess* agent : {&sender, &receiver}) {
        for (const Json& report : agent->call(method::kQuit)["result"])
            QVERIFY2(report["restored"] == true, report.dump().c_str());
    }
}

void TestAgentKnobs::waitsForAnInterfaceThatIsGone() {
    const auto ip = [](const QStringList& arguments) { return QProcess::execute("ip", arguments); };
    const QStringList add{"link", "add", "gone0", "type", "veth", "peer", "name", "gone1"};
    QCOMPARE(ip(add), 0);
    {
        AgentProcess agent;
        QVERIFY(agent.hello().is_object());
        agent.call(method::kKnobApply,
                   listOf(setting("link:mtu", "1400", "gone0"), setting(kLimitKnob, "65536")));
        QCOMPARE(ip({"link", "del", "gone0"}), 0);
        const Json reports = agent.call(method::kQuit)["result"];
        QCOMPARE(reports.size(), 2U);
        for (const Json& report : reports) {
            const bool gone = report["name"] == "link:mtu";
            COMPARE_TEXT(report["restored"], !gone); // one failure does not stop the rest
            COMPARE_TEXT(report["error"].get<std::string>().empty(), !gone);
        }
        QCOMPARE(agent.waitForEnd(), 4);
    }
    QCOMPARE(journalsHere().size(), 1);
    {
        AgentProcess agent; // nothing to set while it is away
        COMPARE_TEXT(agent.hello("meanwhile")["recovered"], Json::array());
    }
    QCOMPARE(ip(add), 0);
    QCOMPARE(ip({"link", "set", "gone0", "mtu", "1400"}), 0);
    AgentProcess agent;
    const Json recovered = agent.hello("back")["recovered"];
    QCOMPARE(recovered.size(), 1U);
    COMPARE_TEXT(recovered[0]["restored"], true);
    COMPARE_TEXT(recovered[0]["now"], "1500");
    QCOMPARE(ip({"link", "del", "gone0"}), 0);
}

void TestAgentKnobs::refusesAnOpenFolder() {
    // /tmp and /run of the test's own, so that nobody else's journals are touched.
    const QByteArray script =
        "mount -t tmpfs none /run && mount -t tmpfs none /tmp && cp \"$1\" /run/agent && "
        "mkdir -m 0777 /run/knobscope && ln -s /etc /tmp/knobscope-0 && exec /run/agent";
    QProcess agent;
    agent.start("unshare", {"-m", "sh", "-c", script, "sh", QStringLiteral(AGENT_PROGRAM)});
    agent.write("{\"id\":1,\"method\":\"hello\"}\n{\"id\":2,\"method\":\"knob.apply\",\"params\":"
                "[{\"name\":\"sysctl:net.ipv4.tcp_autocorking\",\"value\":\"0\"}]}\n");
    agent.closeWriteChannel();
    QVERIFY(agent.waitForFinished());
    const QByteArray said = agent.readAllStandardOutput();
    QVERIFY2(said.contains("no place for the journal"), said.constData());
    QVERIFY2(said.contains("/run/knobscope must have mode 0700"), said.constData());
    QVERIFY2(said.contains("/tmp/knobscope-0"), said.constData());
    QCOMPARE(agent.exitCode(), 0);
}

QTEST_GUILESS_MAIN(TestAgentKnobs)
#include "tst_agentknobs.moc"
