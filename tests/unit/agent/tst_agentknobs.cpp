// SPDX-License-Identifier: GPL-3.0-or-later
#include "agentprocess.h"
#include "knobfixture.h"

#include <QFile>
#include <QRegularExpression>
#include <QTest>

#include <csignal>

#include <unistd.h>

using knobscope::Json;
namespace protocol = knobscope::protocol;
namespace method = protocol::method;
namespace errorcode = protocol::errorcode;

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
    void takesAnotherLease();
    void renewsTheLeaseByAnyRequest();
    void flagsWhatOthersChanged();
    void refusesAnotherRunWhileBusy();
    void holdsTheHostWithoutKnobs_data();
    void holdsTheHostWithoutKnobs();
    void sharesKnobsWithinARun();

private:
    KnobValues m_before;
};

void TestAgentKnobs::initTestCase() {
    if (::geteuid() != 0 || !enterOwnNetwork())
        QSKIP("needs root: it sets knobs in a network namespace of its own");
    m_before = KnobValues::now();
    QVERIFY(m_before.limit.toInt() > 0);
    QVERIFY(m_before.mtu.toInt() > 0);
}

void TestAgentKnobs::init() {
    QCOMPARE(journalsHere(), QStringList());
}

void TestAgentKnobs::cleanup() {
    QCOMPARE(KnobValues::now().text(), m_before.text());
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
    COMPARE_TEXT(outcomes[0]["original"], m_before.limit.toStdString());
    COMPARE_TEXT(outcomes[2]["original"], m_before.mtu.toStdString());
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
    COMPARE_TEXT(readSysctl(kLimit), m_before.limit);
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
        COMPARE_TEXT(outcome["original"], m_before.limit.toStdString());
    }
    // Back to the original by hand, then on: still the same original.
    agent.call(method::kKnobApply, listOf(setting(kLimitKnob, m_before.limit.constData())));
    agent.call(method::kKnobApply, listOf(setting(kLimitKnob, "4096")));
    const Json reports = agent.call(method::kQuit)["result"];
    QCOMPARE(reports.size(), 1U);
    COMPARE_TEXT(reports[0]["original"], m_before.limit.toStdString());
    COMPARE_TEXT(reports[0]["found"], "4096");
}

void TestAgentKnobs::leavesWhatIsSoAlready() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    const Json outcome = agent.call(
        method::kKnobApply, listOf(setting(kLimitKnob, m_before.limit.constData())))["result"][0];
    COMPARE_TEXT(outcome["status"], "unchanged");
    COMPARE_TEXT(outcome["accepted"], m_before.limit.toStdString());
    COMPARE_TEXT(outcome["original"], m_before.limit.toStdString());
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
    COMPARE_TEXT(outcomes[1]["accepted"], m_before.mtu.toStdString()); // the host's own
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
    COMPARE_TEXT(readSysctl(kLimit), m_before.limit);
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
    COMPARE_TEXT(record["original"], m_before.limit.toStdString());
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

void TestAgentKnobs::takesAnotherLease() {
    AgentProcess agent;
    QVERIFY(agent.hello("guarded", 60).is_object());
    agent.call(method::kKnobApply, listOf(setting(kLimitKnob, "65536")));
    QVERIFY(agent.call(method::kHostClaim, {{"lease_seconds", 0.1}}).contains("error"));
    QVERIFY(agent.call(method::kHostClaim, {{"lease_seconds", 4000}}).contains("error"));
    QVERIFY(agent.call(method::kHostClaim, {{"lease_seconds", 1}}).contains("result"));
    QVERIFY(agent.call(method::kHostClaim, {{"hold", true}}).contains("result")); // leaves it
    ::kill(static_cast<pid_t>(agent.worker()), SIGSTOP);
    QCOMPARE(agent.waitForEnd(5000), 1);
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

void TestAgentKnobs::flagsWhatOthersChanged() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    agent.call(method::kKnobApply,
               listOf(setting(kLimitKnob, "65536"), setting(kCorkingKnob, "0")));
    QVERIFY(writeSysctl(kLimit, "77777"));
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
    COMPARE_TEXT(readSysctl(kCorking), m_before.corking);
    // It may still look.
    COMPARE_TEXT(
        second.call(method::kKnobRead, listOf(setting(kLimitKnob, "")))["result"][0]["value"],
        "65536");
    first.call(method::kKnobRestore);
    COMPARE_TEXT(
        second.call(method::kKnobApply, listOf(setting(kCorkingKnob, "0")))["result"][0]["status"],
        "applied");
}

void TestAgentKnobs::holdsTheHostWithoutKnobs_data() {
    QTest::addColumn<QString>("ending");
    QTest::newRow("restore") << "restore";
    QTest::newRow("quit") << "quit";
    QTest::newRow("closed link") << "close";
    QTest::newRow("killed") << "kill";
}

/// What a run measures would be disturbed by another one, whether either sets knobs or not.
void TestAgentKnobs::holdsTheHostWithoutKnobs() {
    QFETCH(QString, ending);
    AgentProcess first;
    AgentProcess second;
    AgentProcess partner;
    QVERIFY(first.hello("one name", 30, "first").is_object());
    QVERIFY(second.hello("one name", 30, "second").is_object());
    QVERIFY(partner.hello("one name", 30, "first").is_object());
    const Json ask{{"hold", false}};
    const auto codeOf = [](const Json& answer) {
        return answer.contains("error") ? answer["error"]["code"].get<int>() : 0;
    };
    QCOMPARE(codeOf(second.call(method::kHostClaim, ask)), 0);
    QCOMPARE(codeOf(first.call(method::kHostClaim)), 0);
    QCOMPARE(codeOf(second.call(method::kHostClaim, ask)), errorcode::kBusy);
    QCOMPARE(codeOf(second.call(method::kHostClaim)), errorcode::kBusy);
    QCOMPARE(codeOf(second.call(method::kKnobApply, listOf(setting(kCorkingKnob, "0")))),
             errorcode::kBusy);
    QCOMPARE(codeOf(partner.call(method::kHostClaim)), 0);
    partner.call(method::kQuit);
    // Knobs that come and go in between do not end the claim.
    first.call(method::kKnobApply, listOf(setting(kCorkingKnob, m_before.corking)));
    QCOMPARE(codeOf(second.call(method::kHostClaim, ask)), errorcode::kBusy);
    if (ending == "restore")
        first.call(method::kKnobRestore);
    else if (ending == "quit")
        first.call(method::kQuit);
    else if (ending == "close")
        first.closeInput();
    else
        ::kill(static_cast<pid_t>(first.guardian()), SIGKILL);
    QTRY_COMPARE(codeOf(second.call(method::kHostClaim)), 0);
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
    COMPARE_TEXT(outcome[0]["original"],
                 m_before.limit.toStdString()); // not what the sender has set
    sender.call(method::kKnobApply, listOf(setting(kCorkingKnob, "0")));
    for (AgentProcess* agent : {&sender, &receiver}) {
        const Json reports = agent->call(method::kQuit)["result"];
        for (const Json& report : reports)
            QVERIFY2(report["restored"] == true, report.dump().c_str());
    }
}

QTEST_GUILESS_MAIN(TestAgentKnobs)
#include "tst_agentknobs.moc"
