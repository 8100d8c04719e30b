// SPDX-License-Identifier: GPL-3.0-or-later
#include "agentprocess.h"
#include "knobfixture.h"

#include <QFile>
#include <QTest>

#include <csignal>

#include <unistd.h>

using knobscope::Json;
namespace protocol = knobscope::protocol;
namespace method = protocol::method;

/// What a host's agent that was killed whole has left behind, and the files it is known by.
class TestAgentRecovery : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void init();
    void cleanup();
    void restoresAfterTheGuardiansDeath();
    void recoversByCommand();
    void flagsWhatOthersChangedMeanwhile();
    void toleratesATornJournal();
    void dropsJournalsOfOtherBoots();
    void leavesOtherNetworksAlone();
    void waitsForAnInterfaceThatIsGone();
    void refusesAnOpenFolder();

private:
    KnobValues m_before;
};

void TestAgentRecovery::initTestCase() {
    if (::geteuid() != 0 || !enterOwnNetwork())
        QSKIP("needs root: it sets knobs in a network namespace of its own");
    m_before = KnobValues::now();
    QVERIFY(m_before.limit.toInt() > 0);
    QVERIFY(m_before.mtu.toInt() > 0);
}

void TestAgentRecovery::init() {
    QCOMPARE(journalsHere(), QStringList());
}

void TestAgentRecovery::cleanup() {
    QCOMPARE(KnobValues::now().text(), m_before.text());
    QCOMPARE(journalsHere(), QStringList());
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

void TestAgentRecovery::restoresAfterTheGuardiansDeath() {
    leaveBehind(listOf(setting(kLimitKnob, "65536"), setting("link:mtu", "9000", "lo")));
    COMPARE_TEXT(readSysctl(kLimit), "65536");
    QCOMPARE(journalsHere().size(), 1);
    AgentProcess next;
    const Json recovered = next.hello("next")["recovered"];
    QCOMPARE(recovered.size(), 2U);
    COMPARE_TEXT(recovered[0]["name"], kLimitKnob);
    COMPARE_TEXT(recovered[0]["original"], m_before.limit.toStdString());
    COMPARE_TEXT(recovered[0]["found"], "65536");
    for (const Json& report : recovered) {
        COMPARE_TEXT(report["restored"], true);
        COMPARE_TEXT(report["changed_by_other"], false);
    }
    COMPARE_TEXT(readSysctl(kLimit), m_before.limit);
    AgentProcess third;
    COMPARE_TEXT(third.hello("third")["recovered"], Json::array());
}

void TestAgentRecovery::recoversByCommand() {
    leaveBehind(listOf(setting(kLimitKnob, "65536")));
    QProcess recover;
    recover.start(QStringLiteral(AGENT_PROGRAM), {"--recover"});
    QVERIFY(recover.waitForFinished());
    QCOMPARE(recover.exitCode(), 0);
    const QByteArray said = recover.readAllStandardOutput();
    QVERIFY2(
        said.contains("restored: " + QByteArray(kLimitKnob) + " is " + m_before.limit + " again"),
        said.constData());
}

void TestAgentRecovery::flagsWhatOthersChangedMeanwhile() {
    leaveBehind(listOf(setting(kLimitKnob, "65536"), setting(kCorkingKnob, "0")));
    QVERIFY(writeSysctl(kLimit, "77777"));
    AgentProcess next;
    const Json recovered = next.hello("next")["recovered"];
    for (const Json& report : recovered) {
        COMPARE_TEXT(report["changed_by_other"], report["name"] == kLimitKnob);
        COMPARE_TEXT(report["restored"], true);
    }
}

void TestAgentRecovery::toleratesATornJournal() {
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

void TestAgentRecovery::dropsJournalsOfOtherBoots() {
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
    QVERIFY(writeSysctl(kLimit, m_before.limit));
}

void TestAgentRecovery::leavesOtherNetworksAlone() {
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

void TestAgentRecovery::waitsForAnInterfaceThatIsGone() {
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
        AgentProcess agent; // it may have been renamed: neither forgotten nor said to be back
        const Json reports = agent.hello("meanwhile")["recovered"];
        QCOMPARE(reports.size(), 1U);
        COMPARE_TEXT(reports[0]["restored"], false);
        COMPARE_TEXT(reports[0]["interface_gone"], true);
        COMPARE_TEXT(reports[0]["interface"], "gone0");
        COMPARE_TEXT(reports[0]["original"], "1500");
        agent.call(method::kQuit);
        QCOMPARE(agent.waitForEnd(), 0); // no run fails because of it
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

void TestAgentRecovery::refusesAnOpenFolder() {
    // /tmp and /run of the test's own, so that nobody else's journals are touched.
    const QByteArray script =
        "mount -t tmpfs none /run && cp \"$1\" /run/agent && mount -t tmpfs none /tmp && "
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

QTEST_GUILESS_MAIN(TestAgentRecovery)
#include "tst_agentrecovery.moc"
