// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/knob.h"
#include "core/model/knobcatalogue.h"
#include "core/model/metrics.h"
#include "core/model/run.h"

#include <QRegularExpression>
#include <QTest>

#include <limits>

using namespace knobscope;

class TestModelKnobs : public QObject {
    Q_OBJECT
private slots:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral("."))); }
    void parsesQuantities_data();
    void parsesQuantities();
    void formatsQuantities_data();
    void formatsQuantities();
    void comparesValues_data();
    void comparesValues();
    void knowsKnobs_data();
    void knowsKnobs();
    void saysWhatIsNear_data();
    void saysWhatIsNear();
    void checksValues_data();
    void checksValues();
    void listsEveryKnobOnce();
    void namesASettingOneWay_data();
    void namesASettingOneWay();
    void namesSidesAndStates();
    void explainsMetrics();
};

void TestModelKnobs::parsesQuantities_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<qint64>("value"); // -1: absent
    QTest::newRow("digits") << "16384" << qint64{16384};
    QTest::newRow("zero") << "0" << qint64{0};
    QTest::newRow("K") << "64K" << qint64{65536};
    QTest::newRow("k") << "64k" << qint64{65536};
    QTest::newRow("fraction") << "1.5M" << qint64{1572864};
    QTest::newRow("G") << "2G" << qint64{2147483648};
    QTest::newRow("trailing zeros") << "1.50K" << qint64{1536};
    QTest::newRow("whole fraction") << "3.0" << qint64{3};
    QTest::newRow("largest") << "9223372036854775807" << std::numeric_limits<qint64>::max();
    QTest::newRow("one too many") << "9223372036854775808" << qint64{-1};
    QTest::newRow("overflow by unit") << "9007199254740993K" << qint64{-1};
    QTest::newRow("many digits") << QString(400, QLatin1Char('9')) << qint64{-1};
    QTest::newRow("many decimals")
        << QStringLiteral("0.") + QString(400, QLatin1Char('0')) << qint64{-1};
    QTest::newRow("no whole number") << "1.5" << qint64{-1};
    QTest::newRow("no whole bytes") << "0.0001K" << qint64{-1};
    QTest::newRow("negative") << "-1" << qint64{-1};
    QTest::newRow("plus") << "+1" << qint64{-1};
    QTest::newRow("empty") << "" << qint64{-1};
    QTest::newRow("unit alone") << "K" << qint64{-1};
    QTest::newRow("point alone") << "." << qint64{-1};
    QTest::newRow("point first") << ".5K" << qint64{-1};
    QTest::newRow("point last") << "5.K" << qint64{-1};
    QTest::newRow("two points") << "1.2.3K" << qint64{-1};
    QTest::newRow("two units") << "1KK" << qint64{-1};
    QTest::newRow("blank inside") << "1 K" << qint64{-1};
    QTest::newRow("exponent") << "1e3" << qint64{-1};
    QTest::newRow("hexadecimal") << "0x10" << qint64{-1};
    QTest::newRow("other digits") << QString::fromUtf8("٣") << qint64{-1};
    QTest::newRow("several numbers") << "4096 131072" << qint64{-1};
    QTest::newRow("word") << "auto" << qint64{-1};
}

void TestModelKnobs::parsesQuantities() {
    QFETCH(QString, text);
    QFETCH(qint64, value);
    const std::optional<qint64> expected = value < 0 ? std::nullopt : std::optional(value);
    QVERIFY(parseQuantity(text) == expected);
}

void TestModelKnobs::formatsQuantities_data() {
    QTest::addColumn<qint64>("value");
    QTest::addColumn<QString>("text");
    QTest::newRow("zero") << qint64{0} << "0";
    QTest::newRow("small") << qint64{1000} << "1000";
    QTest::newRow("K") << qint64{65536} << "64K";
    QTest::newRow("not exact") << qint64{1537} << "1537";
    QTest::newRow("largest unit") << qint64{1} * (1 << 30) << "1G";
    QTest::newRow("M") << qint64{3} * (1 << 20) << "3M";
    QTest::newRow("largest") << std::numeric_limits<qint64>::max() << "9223372036854775807";
    QTest::newRow("negative") << qint64{-1} << "-1";
}

void TestModelKnobs::formatsQuantities() {
    QFETCH(qint64, value);
    QFETCH(QString, text);
    QCOMPARE(formatQuantity(value), text);
    if (value >= 0)
        QVERIFY(parseQuantity(text) == std::optional(value));
}

void TestModelKnobs::comparesValues_data() {
    QTest::addColumn<QString>("one");
    QTest::addColumn<QString>("other");
    QTest::addColumn<bool>("equal");
    QTest::newRow("case of unit") << "64k"
                                  << "64K" << true;
    QTest::newRow("number and size") << "65536"
                                     << "64K" << true;
    QTest::newRow("other number") << "65536"
                                  << "65K" << false;
    QTest::newRow("word") << "auto"
                          << "auto" << true;
    QTest::newRow("case of word") << "auto"
                                  << "Auto" << false;
    QTest::newRow("number and word") << "0"
                                     << "auto" << false;
    QTest::newRow("tabs of the kernel") << "4096\t131072\t6291456"
                                        << "4096 131072 6291456" << true;
    QTest::newRow("negative") << "-1"
                              << "-1" << true;
    QTest::newRow("sign") << "-1"
                          << "1" << false;
}

void TestModelKnobs::comparesValues() {
    QFETCH(QString, one);
    QFETCH(QString, other);
    QFETCH(bool, equal);
    QCOMPARE(KnobValue(one) == KnobValue(other), equal);
    QCOMPARE(KnobValue(other) == KnobValue(one), equal);
}

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

void TestModelKnobs::checksValues_data() {
    QTest::addColumn<QString>("knob");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("said"); // empty: taken
    QTest::newRow("size") << "window"
                          << "64K"
                          << "";
    QTest::newRow("auto") << "window"
                          << "auto"
                          << "";
    QTest::newRow("no size") << "window"
                             << "64Q"
                             << "a size such as 64K, from 1 to 1G, or auto";
    QTest::newRow("zero window") << "window"
                                 << "0"
                                 << "from 1 to 1G";
    QTest::newRow("window too large") << "window"
                                      << "2G"
                                      << "from 1 to 1G";
    QTest::newRow("no auto") << "message_size"
                             << "auto"
                             << "a size such as 64K";
    QTest::newRow("switch") << "nodelay"
                            << "on"
                            << "";
    QTest::newRow("no switch") << "nodelay"
                               << "1"
                               << "on or off";
    QTest::newRow("cpu") << "cpu"
                         << "0"
                         << "";
    QTest::newRow("any cpu") << "cpu"
                             << "any"
                             << "";
    QTest::newRow("no cpu") << "cpu"
                            << "-1"
                            << "from 0 to 8191, or any";
    QTest::newRow("burst") << "burst"
                           << "16"
                           << "";
    QTest::newRow("burst of 0") << "burst"
                                << "0"
                                << "from 1 to";
    QTest::newRow("mss") << "mss"
                         << "1448"
                         << "";
    QTest::newRow("mss too small") << "mss"
                                   << "87"
                                   << "from 88 to 32767";
    QTest::newRow("congestion control") << "congestion_control"
                                        << "cubic"
                                        << "";
    QTest::newRow("long name") << "congestion_control"
                               << "abcdefghijklmnop"
                               << "up to 15 letters";
    QTest::newRow("direction") << "direction"
                               << "from_receiver"
                               << "";
    QTest::newRow("no direction") << "direction"
                                  << "up"
                                  << "to_receiver, from_receiver or both";
    QTest::newRow("sysctl triple") << "sysctl:net.ipv4.tcp_rmem"
                                   << "4096 131072 6291456"
                                   << "";
    QTest::newRow("negative sysctl") << "sysctl:net.ipv4.tcp_notsent_lowat"
                                     << "-1"
                                     << "";
    QTest::newRow("empty sysctl") << "sysctl:net.ipv4.tcp_rmem"
                                  << ""
                                  << "printable text";
    QTest::newRow("control character") << "sysctl:net.ipv4.tcp_rmem"
                                       << "1\x01"
                                       << "printable text";
    QTest::newRow("mtu") << "link:mtu"
                         << "9000"
                         << "";
    QTest::newRow("mtu too small") << "link:mtu"
                                   << "575"
                                   << "from 576 to";
    QTest::newRow("queue") << "link:txqueuelen"
                           << "0"
                           << "";
    QTest::newRow("feature") << "feature:gro"
                             << "off"
                             << "";
    QTest::newRow("no feature value") << "feature:gro"
                                      << "yes"
                                      << "on or off";
}

void TestModelKnobs::checksValues() {
    QFETCH(QString, knob);
    QFETCH(QString, value);
    QFETCH(QString, said);
    const auto info = knobInfo(knob);
    QVERIFY(info);
    const auto checked = checkKnobValue(*info, KnobValue(value));
    QCOMPARE(checked.has_value(), said.isEmpty());
    if (!checked)
        QVERIFY2(checked.error().text().contains(said), qPrintable(checked.error().text()));
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
