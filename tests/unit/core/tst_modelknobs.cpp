// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/knob.h"
#include "core/model/knobcatalogue.h"
#include "core/model/metrics.h"
#include "core/model/run.h"

#include <QRegularExpression>
#include <QTest>

using namespace knobscope;

class TestModelKnobs : public QObject {
    Q_OBJECT
private slots:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral("."))); }
    void knowsKnobs_data();
    void knowsKnobs();
    void saysWhatIsNear_data();
    void saysWhatIsNear();
    void listsEveryKnobOnce();
    void namesASettingOneWay_data();
    void namesASettingOneWay();
    void namesSidesAndStates();
    void explainsMetrics();
};

void TestModelKnobs::knowsKnobs_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<bool>("host");
    QTest::addColumn<QString>("title");
    QTest::addColumn<QString>("unit");
    QTest::addColumn<bool>("both");
    QTest::addColumn<bool>("sizes");
    QTest::newRow("window") << "window" << false << "Window"
                            << "bytes" << false << true;
    QTest::newRow("burst") << "burst" << false << "Burst"
                           << "transactions" << true << false;
    QTest::newRow("known sysctl") << "sysctl:net.ipv4.tcp_limit_output_bytes" << true
                                  << "tcp_limit_output_bytes"
                                  << "bytes" << false << true;
    QTest::newRow("any sysctl") << "sysctl:net.ipv4.tcp_ecn" << true << "tcp_ecn"
                                << "" << false << false;
    QTest::newRow("deep sysctl") << "sysctl:vm.swappiness" << true << "vm.swappiness"
                                 << "" << false << false;
    QTest::newRow("mtu") << "link:mtu" << true << "MTU"
                         << "bytes" << false << false;
    QTest::newRow("feature") << "feature:tso" << true << "TSO"
                             << "on/off" << false << false;
    QTest::newRow("coalescing") << "coalesce:rx-usecs" << true << "rx-usecs"
                                << "µs" << false << false;
    QTest::newRow("ring") << "ring:rx" << true << "ring rx"
                          << "entries" << false << false;
    QTest::newRow("channels") << "channels:combined" << true << "channels combined"
                              << "channels" << false << false;
    QTest::newRow("GSO size") << "link:gso_max_size" << true << "GSO size"
                              << "bytes" << false << true;
    QTest::newRow("private flag") << "private:Smart AN" << true << "Smart AN"
                                  << "on/off" << false << false;
    QTest::newRow("interrupts") << "irq:affinity" << true << "IRQ affinity"
                                << "" << false << false;
    QTest::newRow("an interrupt") << "irq:28" << true << "IRQ 28"
                                  << "" << false << false;
    QTest::newRow("module") << "module:tcp_cubic/hystart" << true << "tcp_cubic/hystart"
                            << "" << false << false;
    QTest::newRow("file") << "sysfs:kernel/mm/ksm/run" << true << "run"
                          << "" << false << false;
    QTest::newRow("command") << "command:fan" << true << "fan"
                             << "" << false << false;
    QTest::newRow("any feature") << "feature:tx-udp-segmentation" << true << "tx-udp-segmentation"
                                 << "on/off" << false << false;
}

void TestModelKnobs::knowsKnobs() {
    QFETCH(QString, name);
    QFETCH(bool, host);
    QFETCH(QString, title);
    QFETCH(QString, unit);
    QFETCH(bool, both);
    QFETCH(bool, sizes);
    const auto info = knobInfo(name);
    QVERIFY2(info, info ? "" : qPrintable(info.error().text()));
    QCOMPARE(info->name, name);
    QCOMPARE(info->scope == KnobScope::Host, host);
    QCOMPARE(info->title, title);
    QCOMPARE(info->unit, unit);
    QCOMPARE(info->bothSidesOnly, both);
    QCOMPARE(info->sizes, sizes);
    QVERIFY(!info->help.isEmpty());
}

void TestModelKnobs::saysWhatIsNear_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("said");
    QTest::newRow("letter missing") << "windw"
                                    << "Did you mean \"window\"?";
    QTest::newRow("case") << "Window"
                          << "Did you mean \"window\"?";
    QTest::newRow("letters swapped") << "brust"
                                     << "Did you mean \"burst\"?";
    QTest::newRow("dash") << "message-size"
                          << "Did you mean \"message_size\"?";
    QTest::newRow("no family") << "net.ipv4.tcp_rmem"
                               << "\"sysctl:net.ipv4.tcp_rmem\"";
    QTest::newRow("last part") << "tcp_rmem"
                               << "\"sysctl:net.ipv4.tcp_rmem\"";
    QTest::newRow("far from all") << "zzzzzzzzzz"
                                  << "sysctl:NAME";
    QTest::newRow("empty") << ""
                           << "sysctl:NAME";
    QTest::newRow("family alone") << "sysctl:"
                                  << "sysctl:net.ipv4.tcp_rmem";
    QTest::newRow("leaves /proc/sys") << "sysctl:../../etc/passwd"
                                      << "not a well-formed";
    QTest::newRow("absolute") << "sysctl:/etc/passwd"
                              << "not a well-formed";
    QTest::newRow("dots") << "sysctl:net..ipv4"
                          << "not a well-formed";
    QTest::newRow("line break") << "sysctl:net.ipv4.tcp_rmem\n"
                                << "not a well-formed";
    QTest::newRow("feature with blank") << "feature:t so"
                                        << "not a well-formed";
    QTest::newRow("coalescing misspelt") << "coalesce:rx-usec"
                                         << "Did you mean \"coalesce:rx-usecs\"?";
    QTest::newRow("coalescing without family") << "rx-usecs"
                                               << "\"coalesce:rx-usecs\"";
    QTest::newRow("members of a family") << "ring:colour"
                                         << "There are ring:rx, ring:tx";
    QTest::newRow("interrupt") << "irq:affinty"
                               << "Did you mean \"irq:affinity\"?";
    QTest::newRow("leaves /sys") << "sysfs:../etc/passwd"
                                 << "Write it like sysfs:class/net/eth0/tx_queue_len";
    QTest::newRow("leaves /sys inside") << "sysfs:class/../../etc/passwd"
                                        << "not a well-formed";
    QTest::newRow("module without parameter") << "module:tcp_cubic"
                                              << "Write it like module:tcp_cubic/hystart";
    QTest::newRow("module that leaves its folder") << "module:../x"
                                                   << "not a well-formed";
    QTest::newRow("command with blank") << "command:a b"
                                        << "not a well-formed";
    QTest::newRow("very long") << QString(100000, QLatin1Char('w')) << "There is no knob";
}

void TestModelKnobs::saysWhatIsNear() {
    QFETCH(QString, name);
    QFETCH(QString, said);
    const auto info = knobInfo(name);
    QVERIFY(!info);
    QCOMPARE(info.error().code, Error::Code::BadInput);
    QVERIFY2(info.error().text().contains(said), qPrintable(info.error().text()));
    QVERIFY(info.error().text().size() < 1000);
}

void TestModelKnobs::listsEveryKnobOnce() {
    const QStringList names = knownKnobNames();
    QCOMPARE(names.first(), QStringLiteral("window"));
    QCOMPARE(QSet<QString>(names.begin(), names.end()).size(), names.size());
    bool hostSeen = false;
    for (const QString& name : names) {
        const auto info = knobInfo(name);
        QVERIFY2(info, qPrintable(name));
        QVERIFY2(!info->title.isEmpty() && !info->help.isEmpty(), qPrintable(name));
        hostSeen = hostSeen || info->scope == KnobScope::Host;
        QCOMPARE(info->scope == KnobScope::Host, hostSeen); // test knobs come first
    }
}

void TestModelKnobs::namesASettingOneWay_data() {
    QTest::addColumn<QString>("spelt");
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("same"); // another name that moves it, "" for none
    QTest::newRow("slashes") << "sysctl:net/ipv4/tcp_sack"
                             << "sysctl:net.ipv4.tcp_sack"
                             << "";
    QTest::newRow("below /sys") << "sysfs:/sys/kernel/mm/ksm/run"
                                << "sysfs:kernel/mm/ksm/run"
                                << "";
    QTest::newRow("module with dashes") << "module:tcp-cubic/a-b"
                                        << "module:tcp_cubic/a-b"
                                        << "";
    QTest::newRow("dots") << "sysctl:net.ipv4.tcp_sack"
                          << "sysctl:net.ipv4.tcp_sack"
                          << "";
    QTest::newRow("VLAN, slashes") << "sysctl:net/ipv4/conf/eth0.1/mtu"
                                   << "sysctl:net.ipv4.conf.eth0/1.mtu"
                                   << "";
    QTest::newRow("VLAN, dots") << "sysctl:net.ipv4.conf.eth0/1.mtu"
                                << "sysctl:net.ipv4.conf.eth0/1.mtu"
                                << "";
    QTest::newRow("tso") << "feature:tcp-segmentation-offload"
                         << "feature:tso"
                         << "feature:tx-tcp6-segmentation";
    QTest::newRow("gro") << "feature:generic-receive-offload"
                         << "feature:gro"
                         << "feature:rx-gro";
    QTest::newRow("tx") << "feature:tx"
                        << "feature:tx"
                        << "feature:tx-checksum-ipv4";
    QTest::newRow("sg") << "feature:sg"
                        << "feature:sg"
                        << "feature:tx-scatter-gather-fraglist";
    QTest::newRow("no knob") << "windwo"
                             << "windwo"
                             << "";
}

void TestModelKnobs::namesASettingOneWay() {
    QFETCH(QString, spelt);
    QFETCH(QString, name);
    QFETCH(QString, same);
    QCOMPARE(canonicalKnobName(spelt), name);
    QCOMPARE(canonicalKnobName(name), name);
    if (const auto knob = knobInfo(spelt))
        QCOMPARE(knob->name, name);
    QVERIFY(sameSetting(name, name));
    QVERIFY(!sameSetting(name, QStringLiteral("feature:rx-gro-hw")));
    if (!same.isEmpty()) {
        QVERIFY(sameSetting(name, same));
        QVERIFY(sameSetting(same, name));
    }
}

void TestModelKnobs::namesSidesAndStates() {
    for (const Side side : {Side::Sender, Side::Receiver, Side::Both, Side::Whole})
        QVERIFY(sideFromName(sideName(side)) == std::optional(side));
    QVERIFY(!sideFromName(QStringLiteral("Sender")));
    for (const RunState state :
         {RunState::Running, RunState::Finished, RunState::Failed, RunState::Cancelled})
        QVERIFY(runStateFromName(runStateName(state)) == std::optional(state));
    QVERIFY(!runStateFromName(QString()));
}

void TestModelKnobs::explainsMetrics() {
    QSet<QString> names;
    for (const MetricInfo& info : knownMetrics()) {
        QVERIFY2(!names.contains(info.name), qPrintable(info.name));
        names << info.name;
        QVERIFY2(info.help.endsWith(QLatin1Char('.')), qPrintable(info.name));
    }
    QVERIFY(names.contains(mainMetric(QStringLiteral("tcp_stream"))));
    QVERIFY(names.contains(mainMetric(QStringLiteral("tcp_rr"))));
    QCOMPARE(metricInfo(QStringLiteral("throughput_mbit_s")).unit, QStringLiteral("Mbit/s"));
    QCOMPARE(metricInfo(QStringLiteral("tcpi_new_field")).title, QStringLiteral("New field"));
    QVERIFY(metricInfo(QStringLiteral("tcpi_new_field")).perSide);
    QCOMPARE(metricInfo(QString()).title, QString());
}

QTEST_APPLESS_MAIN(TestModelKnobs)
#include "tst_modelknobs.moc"
