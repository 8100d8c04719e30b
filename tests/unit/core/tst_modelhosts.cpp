// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/experimentfile.h"
#include "core/model/matrix.h"
#include "experimentexample.h"

#include <QTest>

using namespace knobscope;

namespace {

QByteArray host(int number) {
    return QByteArray(R"({ "ssh": "host%", "address": "10.77.0.%", "interface": "test0" })")
        .replace('%', QByteArray::number(number));
}

QByteArray local(const char* interface = "lo") {
    return QByteArray(R"({ "local": true, "address": "127.0.0.1", "interface": "%" })")
        .replace('%', interface);
}

QByteArray list(const QByteArrayList& hosts) {
    return '[' + hosts.join(", ") + ']';
}

/// The example with these sides.
QByteArray withSides(const QByteArray& sender, const QByteArray& receiver) {
    return example()
        .replace("\"sender\":   " + host(1), "\"sender\": " + sender)
        .replace("\"receiver\": " + host(2), "\"receiver\": " + receiver);
}

Experiment experimentOf(const QByteArray& sender, const QByteArray& receiver) {
    const auto experiment = parseExperiment(withSides(sender, receiver));
    if (!experiment)
        qFatal("%s", qPrintable(experiment.error().text()));
    return *experiment;
}

QByteArray hosts(int first, int count) {
    QByteArrayList all;
    for (int i = 0; i < count; ++i)
        all << host(first + i);
    return count == 1 ? all.first() : list(all);
}

QStringList names(const QList<HostRef>& refs) {
    QStringList all;
    for (const HostRef ref : refs)
        all << hostName(ref);
    return all;
}

} // namespace

/// Sides with several hosts: how they are written, counted, named and told their settings.
class TestModelHosts : public QObject {
    Q_OBJECT
private slots:
    void pairsUp_data();
    void pairsUp();
    void comesBackAsItWas_data();
    void comesBackAsItWas();
    void oneInAListIsOne();
    void refuses_data();
    void refuses();
    void checksWhatIsNoFile();
    void givesSettingsToEveryHost_data();
    void givesSettingsToEveryHost();
    void labelsEveryHostOnce();
};

void TestModelHosts::pairsUp_data() {
    QTest::addColumn<int>("senders");
    QTest::addColumn<int>("receivers");
    QTest::addColumn<QStringList>("ends"); // of the instances
    QTest::newRow("1 to 1") << 1 << 1 << QStringList{"sender-receiver"};
    QTest::newRow("3 to 1") << 3 << 1
                            << QStringList{"sender 1-receiver", "sender 2-receiver",
                                           "sender 3-receiver"};
    QTest::newRow("1 to 2") << 1 << 2 << QStringList{"sender-receiver 1", "sender-receiver 2"};
    QTest::newRow("2 to 2") << 2 << 2 << QStringList{"sender 1-receiver 1", "sender 2-receiver 2"};
    QTest::newRow("16 to 1") << 16 << 1 << QStringList();
}

void TestModelHosts::pairsUp() {
    QFETCH(int, senders);
    QFETCH(int, receivers);
    QFETCH(QStringList, ends);
    const Experiment experiment = experimentOf(hosts(1, senders), hosts(51, receivers));
    QCOMPARE(experiment.instances(), std::max(senders, receivers));
    QCOMPARE(experiment.hosts(Side::Sender).size(), senders);
    QCOMPARE(experiment.hostCount(Side::Receiver), receivers);
    QCOMPARE(experiment.hostRefs().size(), senders + receivers);
    QStringList found;
    for (int i = 0; i < experiment.instances(); ++i)
        found << hostName(experiment.endOf(i, Side::Sender)) + u'-' +
                     hostName(experiment.endOf(i, Side::Receiver));
    if (!ends.isEmpty())
        QCOMPARE(found, ends);
    int taken = 0;
    for (const HostRef ref : experiment.hostRefs(Side::Sender)) {
        QCOMPARE(experiment.host(ref).ssh, QStringLiteral("host%1").arg(std::max(ref.number, 1)));
        taken += static_cast<int>(experiment.instancesOf(ref).size());
    }
    QCOMPARE(taken, experiment.instances());
    QCOMPARE(experiment.instancesOf({}).size(), experiment.instances());
    QCOMPARE(experiment.instancesOf(Side::Receiver).size(), experiment.instances());
}

void TestModelHosts::comesBackAsItWas_data() {
    QTest::addColumn<QByteArray>("sender");
    QTest::addColumn<QByteArray>("receiver");
    QTest::newRow("several senders") << hosts(1, 3) << hosts(9, 1);
    QTest::newRow("several receivers") << hosts(1, 1) << hosts(9, 4);
    QTest::newRow("both") << hosts(1, 2) << hosts(9, 2);
    QTest::newRow("this computer") << list({local(), local(), local()}) << local();
    QTest::newRow("one of them this computer") << list({host(1), local()}) << host(2);
    QTest::newRow("pairs of their own networks")
        << list({host(1), R"({ "ssh": "a", "address": "fd00::1", "interface": "x" })"})
        << list({host(2), R"({ "ssh": "b", "address": "fd00::2", "interface": "x" })"});
    QTest::newRow("pairs with the same addresses")
        << list({host(1), R"({ "ssh": "a", "address": "10.77.0.1", "interface": "x" })"})
        << list({host(2), R"({ "ssh": "b", "address": "10.77.0.2", "interface": "x" })"});
    QTest::newRow("addresses with a zone")
        << QByteArray(R"({ "ssh": "a", "address": "fe80::9%x", "interface": "x" })")
        << list({R"({ "ssh": "b", "address": "fe80::1%x", "interface": "x" })",
                 R"({ "ssh": "c", "address": "fe80::1%x", "interface": "x" })"});
}

void TestModelHosts::comesBackAsItWas() {
    QFETCH(QByteArray, sender);
    QFETCH(QByteArray, receiver);
    const auto experiment = parseExperiment(withSides(sender, receiver));
    QVERIFY2(experiment, experiment ? "" : qPrintable(experiment.error().text()));
    const QByteArray written = writeExperiment(*experiment);
    const auto again = parseExperiment(written);
    QVERIFY2(again, again ? "" : qPrintable(again.error().text()));
    QVERIFY(*again == *experiment);
    QCOMPARE(writeExperiment(*again), written);
    QCOMPARE(written.contains("\"sender\": ["), experiment->hostCount(Side::Sender) > 1);
}

void TestModelHosts::oneInAListIsOne() {
    const Experiment experiment = experimentOf(list({host(1)}), host(2));
    QVERIFY(experiment == experimentOf(host(1), host(2)));
    QCOMPARE(names(experiment.hostRefs()), QStringList({"sender", "receiver"}));
}

void TestModelHosts::refuses_data() {
    QTest::addColumn<QByteArray>("sender");
    QTest::addColumn<QByteArray>("receiver");
    QTest::addColumn<QString>("said"); // the message begins with it
    const auto row = [](const char* name, const QByteArray& sender, const QByteArray& receiver,
                        const char* said) {
        QTest::newRow(name) << sender << receiver << QString::fromUtf8(said);
    };
    row("empty list", "[]", host(2), "hosts.sender: empty: give at least one host.");
    row("too many", hosts(1, 17), host(99), "hosts.sender: 17 hosts; at most 16 are possible.");
    row("text", R"("host1")", host(2),
        "hosts.sender: must be an object, or an array of objects, but is a string.");
    row("text in a list", host(1), list({host(2), R"("host3")"}),
        "hosts.receiver[1]: must be an object, but is a string.");
    row("list in a list", host(1), list({list({host(2)})}),
        "hosts.receiver[0]: must be an object, but is an array.");
    row("unknown key", host(1), list({host(2), R"({ "sssh": "x" })"}),
        "hosts.receiver[1].sssh: unknown key.");
    row("duplicate key", host(1), list({host(2), R"({ "ssh": "x", "ssh": "y" })"}),
        "hosts.receiver[1].ssh: this key is there twice");
    row("empty ssh", host(1), list({host(2), R"({ "ssh": "" })"}),
        "hosts.receiver[1].ssh: must not be empty.");
    row("no address", host(1), list({host(2), R"({ "ssh": "host3", "interface": "x" })"}),
        "hosts.receiver[1].address: missing");
    row("no interface", host(1), list({host(2), R"({ "ssh": "host3", "address": "10.0.0.1" })"}),
        "hosts.receiver[1].interface: missing");
    row("name as address", host(1),
        list({R"({ "ssh": "x", "address": "x", "interface": "x" })", host(3)}),
        "hosts.receiver[0].address: \"x\" is no IPv4");
    row("neither ssh nor local", list({host(1), R"({ "address": "10.0.0.1" })"}), host(2),
        "hosts.sender[1]: needs either");
    row("2 and 3", hosts(1, 2), hosts(11, 3), "hosts: 2 senders and 3 receivers do not pair up");
    row("3 and 2", hosts(1, 3), hosts(11, 2), "hosts: 3 senders and 2 receivers do not pair up");
    row("same host twice on a side", list({host(1), host(3), host(1)}), host(2),
        "hosts.sender[2].ssh: \"host1\" is the host of hosts.sender[0] too");
    row("same host on both sides", hosts(1, 2), hosts(2, 2),
        "hosts.receiver[0].ssh: \"host2\" is the host of hosts.sender[1] too");
    row("one among several on the other side", hosts(1, 3), host(3),
        "hosts.receiver.ssh: \"host3\" is the host of hosts.sender[2] too");
    row("this computer twice among others", list({local(), host(1), local()}), host(2),
        "hosts.sender[2].local: this computer is hosts.sender[0] already");
    row("this computer on both sides among others", list({host(1), local()}), local(),
        "hosts.receiver.local: this computer is hosts.sender[1] already");
    row("same address", host(1),
        list({host(2), R"({ "ssh": "x", "address": "10.77.0.2", "interface": "x" })"}),
        "hosts.receiver[1].address: 10.77.0.2 is the address of hosts.receiver[0] too.");
    row("same address, written otherwise",
        R"({ "ssh": "x", "address": "fd00::3", "interface": "x" })",
        list({R"({ "ssh": "y", "address": "fd00::1", "interface": "x" })",
              R"({ "ssh": "z", "address": "fd00:0::1", "interface": "x" })"}),
        "hosts.receiver[1].address: fd00:0::1 is the address of hosts.receiver[0] too.");
    row("a sender of another kind",
        list({host(1), R"({ "ssh": "x", "address": "fd00::1", "interface": "x" })"}), host(2),
        "hosts.sender[1].address: fd00::1 and the receiver's 10.77.0.2 are not of one kind");
    row("a receiver of another kind", host(1),
        list({host(2), R"({ "ssh": "x", "address": "fd00::1", "interface": "x" })"}),
        "hosts.receiver[1].address: fd00::1 and the sender's 10.77.0.1 are not of one kind");
    row("a pair of two kinds", hosts(1, 2),
        list({host(11), R"({ "ssh": "x", "address": "fd00::1", "interface": "x" })"}),
        "hosts.receiver[1].address: fd00::1 and the sender's 10.77.0.2 are not of one kind");
}

void TestModelHosts::refuses() {
    QFETCH(QByteArray, sender);
    QFETCH(QByteArray, receiver);
    QFETCH(QString, said);
    const auto experiment = parseExperiment(withSides(sender, receiver));
    QVERIFY(!experiment);
    QCOMPARE(experiment.error().code, Error::Code::BadInput);
    QVERIFY2(experiment.error().text().startsWith(said), qPrintable(experiment.error().text()));
}

/// What the window makes is held to the same.
void TestModelHosts::checksWhatIsNoFile() {
    Experiment experiment = experimentOf(hosts(1, 1), hosts(50, 1));
    QVERIFY(checkExperiment(experiment));
    experiment.moreSenders = QList<HostSpec>(16, experiment.sender);
    QVERIFY(checkExperiment(experiment).error().text().startsWith("hosts.sender: 17 hosts"));
    experiment.moreSenders = {experiment.receiver};
    QVERIFY(checkExperiment(experiment)
                .error()
                .text()
                .startsWith("hosts.receiver.ssh: \"host50\" is the host of hosts.sender[1] too"));
}

void TestModelHosts::givesSettingsToEveryHost_data() {
    QTest::addColumn<QByteArray>("sender");
    QTest::addColumn<QByteArray>("receiver");
    QTest::addColumn<QString>("knob");
    QTest::addColumn<int>("side");
    QTest::addColumn<QString>("hosts");
    const int both = static_cast<int>(Side::Both);
    const int sender = static_cast<int>(Side::Sender);
    const int receiver = static_cast<int>(Side::Receiver);
    const QString limit = QStringLiteral("sysctl:net.ipv4.tcp_limit_output_bytes");
    const QString mtu = QStringLiteral("link:mtu");
    QTest::newRow("senders") << hosts(1, 3) << host(9) << limit << sender
                             << "sender 1, sender 2, sender 3";
    QTest::newRow("the receiver of many")
        << hosts(1, 3) << host(9) << limit << receiver << "receiver";
    QTest::newRow("both") << hosts(1, 2) << hosts(8, 2) << mtu << both
                          << "sender 1, sender 2, receiver 1, receiver 2";
    QTest::newRow("a sysctl of one machine")
        << list({local(), local()}) << local() << limit << both << "sender 1";
    QTest::newRow("a sysctl of one machine, receiver")
        << list({local(), local()}) << local() << limit << receiver << "sender 1";
    QTest::newRow("CPUs of one machine") << list({local("a"), local("b")}) << local("c")
                                         << QStringLiteral("cpu:governor") << both << "sender 1";
    QTest::newRow("interfaces of one machine")
        << list({local(), local("a"), local("a")}) << local("b") << mtu << both
        << "sender 1, sender 2, receiver";
}

void TestModelHosts::givesSettingsToEveryHost() {
    QFETCH(QByteArray, sender);
    QFETCH(QByteArray, receiver);
    QFETCH(QString, knob);
    QFETCH(int, side);
    QFETCH(QString, hosts);
    Experiment experiment = experimentOf(sender, receiver);
    experiment.exclude.clear();
    experiment.axes = {Axis{knob, static_cast<Side>(side), {KnobValue(qint64{1500})}}};
    QStringList found;
    for (const HostSetting& setting : hostSettings(experiment, expandMatrix(experiment)[0]))
        found << hostName(setting.host);
    QCOMPARE(found.join(QStringLiteral(", ")), hosts);
}

void TestModelHosts::labelsEveryHostOnce() {
    QCOMPARE(experimentOf(hosts(1, 3), host(9)).sideLabel(Side::Sender),
             QStringLiteral("host1, host2, host3"));
    QCOMPARE(experimentOf(hosts(1, 3), host(9)).sideLabel(Side::Receiver), QStringLiteral("host9"));
    QCOMPARE(experimentOf(list({local(), local()}), local()).sideLabel(Side::Sender),
             QStringLiteral("this computer"));
}

QTEST_APPLESS_MAIN(TestModelHosts)
#include "tst_modelhosts.moc"
