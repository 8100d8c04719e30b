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
    void checksHostKnobs_data();
    void checksHostKnobs();
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
    const auto row = [](const char* name, const char* knob, const char* value, const char* said) {
        QTest::newRow(name) << knob << value << said;
    };
    row("size", "window", "64K", "");
    row("auto", "window", "auto", "");
    row("no size", "window", "64Q", "a size such as 64K, from 1 to 1G, or auto");
    row("zero window", "window", "0", "from 1 to 1G");
    row("window too large", "window", "2G", "from 1 to 1G");
    row("no auto", "message_size", "auto", "a size such as 64K");
    row("switch", "nodelay", "on", "");
    row("no switch", "nodelay", "1", "on or off");
    row("cpu", "cpu", "0", "");
    row("any cpu", "cpu", "any", "");
    row("no cpu", "cpu", "-1", "from 0 to 8191, or any");
    row("burst", "burst", "16", "");
    row("burst of 0", "burst", "0", "from 1 to");
    row("mss", "mss", "1448", "");
    row("mss too small", "mss", "87", "from 88 to 32767");
    row("congestion control", "congestion_control", "cubic", "");
    row("long name", "congestion_control", "abcdefghijklmnop", "up to 15 letters");
    row("direction", "direction", "from_receiver", "");
    row("no direction", "direction", "up", "to_receiver, from_receiver or both");
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

void TestModelKnobValues::checksHostKnobs_data() {
    QTest::addColumn<QString>("knob");
    QTest::addColumn<QString>("value");
    QTest::addColumn<QString>("said"); // empty: taken
    const auto row = [](const char* name, const char* knob, const char* value, const char* said) {
        QTest::newRow(name) << knob << value << said;
    };
    row("sysctl triple", "sysctl:net.ipv4.tcp_rmem", "4096 131072 6291456", "");
    row("negative sysctl", "sysctl:net.ipv4.tcp_notsent_lowat", "-1", "");
    row("empty sysctl", "sysctl:net.ipv4.tcp_rmem", "", "printable text");
    row("control character", "sysctl:net.ipv4.tcp_rmem", "1\x01", "printable text");
    row("mtu", "link:mtu", "9000", "");
    row("mtu too small", "link:mtu", "575", "from 576 to");
    row("queue", "link:txqueuelen", "0", "");
    row("feature", "feature:gro", "off", "");
    row("interrupt delay", "coalesce:rx-usecs", "0", "");
    row("no interrupt delay", "coalesce:rx-usecs", "on", "from 0 to");
    row("adaptive", "coalesce:adaptive-rx", "off", "");
    row("data split", "ring:tcp-data-split", "auto", "");
    row("speed", "link:speed", "auto 1000", "");
    row("fixed speed", "link:speed", "100 half", "");
    row("no speed", "link:speed", "fast", "it takes auto, auto 1000");
    row("CPUs", "irq:affinity", "0-3,8", "");
    row("CPUs of each", "rps:cpus", "0 1 none 2-3", "");
    row("no CPUs", "irq:affinity", "none", "a list of CPUs such as 0-3,8");
    row("a mask", "rps:cpus", "ff", "a list of CPUs such as 0-3,8");
    row("table", "rss:table", "weight 3 1", "");
    row("no table", "rss:table", "equal 0", "default, equal 4");
    row("key", "rss:key", "6d:5a", "");
    row("qdisc", "qdisc:root", "tbf rate 1gbit burst 256k latency 50ms", "");
    row("no qdisc", "qdisc:root", "fq; reboot", "a kind with options");
    row("latency", "cpu:latency", "none", "");
    row("FEC", "fec:mode", "maybe", "auto, off, rs, baser or llrs");
    row("no feature value", "feature:gro", "yes", "on or off");
}

void TestModelKnobValues::checksHostKnobs() {
    checksValues();
}

QTEST_APPLESS_MAIN(TestModelKnobValues)
#include "tst_modelknobvalues.moc"
