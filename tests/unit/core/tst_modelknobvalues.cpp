// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/knob.h"

#include <QRegularExpression>
#include <QTest>

#include <limits>

using namespace knobscope;

/// Values of knobs: how they are written, compared, and what each knob takes.
class TestModelKnobValues : public QObject {
    Q_OBJECT
private slots:
    void init() { QTest::failOnWarning(QRegularExpression(QStringLiteral("."))); }
    void parsesQuantities_data();
    void parsesQuantities();
    void formatsQuantities_data();
    void formatsQuantities();
    void comparesValues_data();
    void comparesValues();
    void checksValues_data();
    void checksValues();
};

void TestModelKnobValues::parsesQuantities_data() {
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

void TestModelKnobValues::parsesQuantities() {
    QFETCH(QString, text);
    QFETCH(qint64, value);
    const std::optional<qint64> expected = value < 0 ? std::nullopt : std::optional(value);
    QVERIFY(parseQuantity(text) == expected);
}

void TestModelKnobValues::formatsQuantities_data() {
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

void TestModelKnobValues::formatsQuantities() {
    QFETCH(qint64, value);
    QFETCH(QString, text);
    QCOMPARE(formatQuantity(value), text);
    if (value >= 0)
        QVERIFY(parseQuantity(text) == std::optional(value));
}

void TestModelKnobValues::comparesValues_data() {
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

void TestModelKnobValues::comparesValues() {
    QFETCH(QString, one);
    QFETCH(QString, other);
    QFETCH(bool, equal);
    QCOMPARE(KnobValue(one) == KnobValue(other), equal);
    QCOMPARE(KnobValue(other) == KnobValue(one), equal);
}

void TestModelKnobValues::checksValues_data() {
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
    QTest::newRow("interrupt delay") << "coalesce:rx-usecs"
                                     << "0"
                                     << "";
    QTest::newRow("no interrupt delay") << "coalesce:rx-usecs"
                                        << "on"
                                        << "from 0 to";
    QTest::newRow("adaptive") << "coalesce:adaptive-rx"
                              << "off"
                              << "";
    QTest::newRow("data split") << "ring:tcp-data-split"
                                << "auto"
                                << "";
    QTest::newRow("speed") << "link:speed"
                           << "auto 1000"
                           << "";
    QTest::newRow("fixed speed") << "link:speed"
                                 << "100 half"
                                 << "";
    QTest::newRow("no speed") << "link:speed"
                              << "fast"
                              << "it takes auto, auto 1000";
    QTest::newRow("CPUs") << "irq:affinity"
                          << "0-3,8"
                          << "";
    QTest::newRow("CPUs of each") << "rps:cpus"
                                  << "0 1 none 2-3"
                                  << "";
    QTest::newRow("no CPUs") << "irq:affinity"
                             << "none"
                             << "a list of CPUs such as 0-3,8";
    QTest::newRow("a mask") << "rps:cpus"
                            << "ff"
                            << "a list of CPUs such as 0-3,8";
    QTest::newRow("table") << "rss:table"
                           << "weight 3 1"
                           << "";
    QTest::newRow("no table") << "rss:table"
                              << "equal 0"
                              << "default, equal 4";
    QTest::newRow("key") << "rss:key"
                         << "6d:5a"
                         << "";
    QTest::newRow("qdisc") << "qdisc:root"
                           << "tbf rate 1gbit burst 256k latency 50ms"
                           << "";
    QTest::newRow("no qdisc") << "qdisc:root"
                              << "fq; reboot"
                              << "a kind with options";
    QTest::newRow("latency") << "cpu:latency"
                             << "none"
                             << "";
    QTest::newRow("FEC") << "fec:mode"
                         << "maybe"
                         << "auto, off, rs, baser or llrs";
    QTest::newRow("no feature value") << "feature:gro"
                                      << "yes"
                                      << "on or off";
}

void TestModelKnobValues::checksValues() {
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

QTEST_APPLESS_MAIN(TestModelKnobValues)
#include "tst_modelknobvalues.moc"
