// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/ethtoolsettings.h"
#include "agents/agent/kernel/netlink.h"
#include "tests/unit/agent/kernelknobtest.h"

#include <QRegularExpression>
#include <QTest>

#include <cerrno>
#include <cstring>

using namespace knobscope;
using namespace knobscope::agent;
using namespace knobscope::test;

namespace {

/// A line of one of ethtool's tables: "RX:\t\t2" → "2", the last one where there are several.
QByteArray shown(const QString& command, const char* label) {
    QByteArray value;
    for (const QByteArray& line : run(command).split('\n')) {
        if (line.trimmed().startsWith(QByteArray(label) + ':'))
            value = line.mid(line.indexOf(':') + 1).trimmed();
    }
    return value;
}

} // namespace

/// Knobs of devices through ethtool and rtnetlink, on a veth pair and a tap in a network namespace
/// of this process; ip and ethtool are the witnesses.
class TestKnobDevice : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void coalesceOfATap();
    void channelsOfAVeth();
    void linkSizes_data();
    void linkSizes();
    void speedOfATap();
    void speedsCompare_data();
    void speedsCompare();
    void unsupported_data();
    void unsupported();
    void refused_data();
    void refused();
    void ioctlSaysTheSame();
    void answersAreTakenApart();
    void factsHaveTheNamesOfKnobs();
};

void TestKnobDevice::initTestCase() {
    makeVeth();
    (void)run(QStringLiteral("ip tuntap add kt0 mode tap"));
    QCOMPARE(shown(QStringLiteral("ethtool -l kv0"), "RX"), QByteArray("1"));
}

void TestKnobDevice::coalesceOfATap() {
    QCOMPARE(readValue("coalesce:rx-frames", "kt0"), QByteArray("0"));
    QCOMPARE(writeError("coalesce:rx-frames", "16", "kt0"), QString());
    QCOMPARE(readValue("coalesce:rx-frames", "kt0"), QByteArray("16"));
    QCOMPARE(shown(QStringLiteral("ethtool -c kt0"), "rx-frames"), QByteArray("16"));
    // The driver takes no more than it can gather, and says nothing.
    QCOMPARE(writeError("coalesce:rx-frames", "100000", "kt0"), QString());
    QCOMPARE(readValue("coalesce:rx-frames", "kt0"), QByteArray("64"));
    QCOMPARE(writeError("coalesce:rx-frames", "0", "kt0"), QString());
}

void TestKnobDevice::channelsOfAVeth() {
    QCOMPARE(writeError("channels:rx", "2", "kv0"), QString());
    QCOMPARE(readValue("channels:rx"), QByteArray("2"));
    QCOMPARE(shown(QStringLiteral("ethtool -l kv0"), "RX"), QByteArray("2"));
    QCOMPARE(readValue("channels:tx"), QByteArray("1"));
    QCOMPARE(writeError("channels:rx", "1", "kv0"), QString());
    QCOMPARE(shown(QStringLiteral("ethtool -l kv0"), "RX"), QByteArray("1"));
}

void TestKnobDevice::linkSizes_data() {
    QTest::addColumn<QByteArray>("member");
    QTest::addColumn<QByteArray>("value");
    QTest::newRow("GSO") << QByteArray("gso_max_size") << QByteArray("32768");
    QTest::newRow("GRO") << QByteArray("gro_max_size") << QByteArray("16384");
    QTest::newRow("GSO, IPv4") << QByteArray("gso_ipv4_max_size") << QByteArray("40000");
    QTest::newRow("GRO, IPv4") << QByteArray("gro_ipv4_max_size") << QByteArray("30000");
    QTest::newRow("segments") << QByteArray("gso_max_segs") << QByteArray("44");
}

void TestKnobDevice::linkSizes() {
    QFETCH(QByteArray, member);
    QFETCH(QByteArray, value);
    const QByteArray knob = "link:" + member;
    if (readError(knob, "kv0").contains(QLatin1String("this kernel does not tell it")))
        QSKIP("a younger kernel has it");
    const QByteArray original = readValue(knob.constData());
    QCOMPARE(writeError(knob, value, "kv0"), QString());
    QCOMPARE(readValue(knob.constData()), value);
    const QByteArray details = run(QStringLiteral("ip -d link show kv0"));
    if (details.contains(member)) // as far as this version of ip shows it
        QVERIFY2(details.contains(member + ' ' + value), details);
    QCOMPARE(writeError(knob, original, "kv0"), QString());
    QCOMPARE(readValue(knob.constData()), original);
}

void TestKnobDevice::speedOfATap() {
    QCOMPARE(readValue("link:speed", "kt0"), QByteArray("10000 full"));
    for (const char* value : {"1000", "100 half", "10000 full"}) {
        QCOMPARE(writeError("link:speed", value, "kt0"), QString());
        const QByteArray now = readValue("link:speed", "kt0");
        QVERIFY2(meetsKnobValue("link:speed", value, now.toStdString()), now);
        QCOMPARE(shown(QStringLiteral("ethtool kt0"), "Speed"),
                 QByteArray(value).split(' ').first() + "Mb/s");
    }
    QCOMPARE(shown(QStringLiteral("ethtool kt0"), "Duplex"), QByteArray("Full"));
    QVERIFY(canPutBack("link:speed", "auto (1000baseT/Full)"));
    QVERIFY(!canPutBack("link:speed", "fixed, but the link is down"));
    for (const char* value : {"", "fast", "half", "-1", "1000 both", "auto half", "1 2", "(x)"})
        QVERIFY2(writeError("link:speed", value, "kt0").contains(QLatin1String("takes auto")),
                 value);
}

void TestKnobDevice::speedsCompare_data() {
    QTest::addColumn<QByteArray>("asked");
    QTest::addColumn<QByteArray>("has");
    QTest::addColumn<bool>("same");
    QTest::addColumn<bool>("met");
    const auto row = [](const char* asked, const char* has, bool same, bool met) {
        QTest::addRow("%s, %s", asked, has) << QByteArray(asked) << QByteArray(has) << same << met;
    };
    row("1000", "1000 full", true, true);
    row("1000", "1000 half", false, false);
    row("auto", "auto", true, true);
    row("auto", "1000 full", false, false);
    row("auto", "auto (100baseT/Full)", false, false);
    row("auto (a b)", "auto (b a)", true, true);
    row("auto 1000", "auto (1000baseT/Full 1000baseKX/Full)", false, true);
    row("auto 1000", "auto (1000baseT/Full 100baseT/Full)", false, false);
    row("auto 100 half", "auto (100baseT/Half)", false, true);
    row("auto 100 half", "auto (100baseT/Half 100baseT/Full)", false, false);
}

void TestKnobDevice::speedsCompare() {
    QFETCH(QByteArray, asked);
    QFETCH(QByteArray, has);
    QTEST(sameKnobValue("link:speed", asked.toStdString(), has.toStdString()), "same");
    QTEST(meetsKnobValue("link:speed", asked.toStdString(), has.toStdString()), "met");
}

void TestKnobDevice::unsupported_data() {
    QTest::addColumn<QByteArray>("knob");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<QByteArray>("interface");
    QTest::addColumn<QByteArray>("driver");
    for (const auto& [knob, value] : {std::pair{"coalesce:rx-usecs", "30"},
                                      {"coalesce:adaptive-rx", "on"},
                                      {"ring:rx", "256"},
                                      {"ring:tcp-data-split", "on"},
                                      {"pause:rx", "on"},
                                      {"eee:enabled", "on"},
                                      {"fec:mode", "rs"},
                                      {"rss:table", "equal 2"},
                                      {"rss:key", "01:02"},
                                      {"private:legacy-rx", "on"},
                                      {"channels:combined", "1"}})
        QTest::newRow(knob) << QByteArray(knob) << QByteArray(value) << QByteArray("kv0")
                            << QByteArray("veth");
    for (const auto& [knob, value] : {std::pair{"coalesce:rx-usecs", "30"},
                                      {"coalesce:tx-frames", "4"},
                                      {"coalesce:cqe-mode-rx", "on"},
                                      {"channels:rx", "1"}})
        QTest::addRow("%s of a tap", knob)
            << QByteArray(knob) << QByteArray(value) << QByteArray("kt0") << QByteArray("tun");
}

/// Both reading and setting say what cannot be done, to what, and which driver it is.
void TestKnobDevice::unsupported() {
    QFETCH(QByteArray, knob);
    QFETCH(QByteArray, value);
    QFETCH(QByteArray, interface);
    QFETCH(QByteArray, driver);
    const QString read = readError(knob, interface);
    QVERIFY2(read.contains(QString::fromUtf8(knob + " of " + interface +
                                             " is not supported by this interface (driver " +
                                             driver + "): ")),
             qUtf8Printable(read));
    if (!knob.startsWith("channels:combined"))
        QVERIFY(!writeError(knob, value, interface).isEmpty());
}

void TestKnobDevice::refused_data() {
    QTest::addColumn<QByteArray>("knob");
    QTest::addColumn<QByteArray>("interface");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<QByteArray>("words");
    QTest::newRow("the kernel's words, and the most")
        << QByteArray("channels:rx") << QByteArray("kv0") << QByteArray("1000")
        << QByteArray("requested channel count exceeds maximum (Invalid argument); the most is ");
    QTest::newRow("none left") << QByteArray("channels:rx") << QByteArray("kv0") << QByteArray("0")
                               << QByteArray("the kernel refuses '0' for channels:rx of kv0");
    QTest::newRow("no number") << QByteArray("channels:rx") << QByteArray("kv0")
                               << QByteArray("two") << QByteArray("takes a whole number");
    QTest::newRow("negative") << QByteArray("coalesce:rx-frames") << QByteArray("kt0")
                              << QByteArray("-1") << QByteArray("takes a whole number");
    QTest::newRow("beyond 32 bits")
        << QByteArray("coalesce:rx-frames") << QByteArray("kt0") << QByteArray("4294967296")
        << QByteArray("takes a whole number up to 4294967295");
    QTest::newRow("no switch") << QByteArray("coalesce:adaptive-rx") << QByteArray("kt0")
                               << QByteArray("maybe") << QByteArray("takes on or off");
    QTest::newRow("no split") << QByteArray("ring:tcp-data-split") << QByteArray("kv0")
                              << QByteArray("maybe") << QByteArray("takes on, off or auto");
    QTest::newRow("no FEC") << QByteArray("fec:mode") << QByteArray("kv0") << QByteArray("maybe")
                            << QByteArray("takes auto, off, rs");
    QTest::newRow("unknown interface")
        << QByteArray("ring:rx") << QByteArray("nix0") << QByteArray("256")
        << QByteArray("no interface named 'nix0'");
    QTest::newRow("no interface") << QByteArray("ring:rx") << QByteArray() << QByteArray("256")
                                  << QByteArray("needs the name of an interface");
    QTest::newRow("GSO too large")
        << QByteArray("link:gso_max_size") << QByteArray("kv0") << QByteArray("99999999")
        << QByteArray("the kernel refuses gso_max_size");
}

void TestKnobDevice::refused() {
    QFETCH(QByteArray, knob);
    QFETCH(QByteArray, interface);
    QFETCH(QByteArray, value);
    QFETCH(QByteArray, words);
    const QString error = writeError(knob, value, interface);
    QVERIFY2(error.contains(QString::fromUtf8(words)), qUtf8Printable(error));
}

void TestKnobDevice::ioctlSaysTheSame() {
    const auto netlink = readEthtoolGroup("channels", "kv0");
    const auto ioctl = readEthtoolGroupByIoctl("channels", "kv0");
    QVERIFY(ioctl && ioctl->by_ioctl && !netlink.by_ioctl);
    for (const char* knob : {"channels:rx", "channels:tx"})
        QVERIFY(ethtoolSettingText(knob, netlink) == ethtoolSettingText(knob, *ioctl));
    constexpr int kChannelsRx = 6; // as netlink numbers it
    QCOMPARE(writeEthtoolGroupByIoctl("channels", kChannelsRx, "kv0", 2), 0);
    QCOMPARE(readValue("channels:rx"), QByteArray("2"));
    QCOMPARE(writeEthtoolGroupByIoctl("channels", kChannelsRx, "kv0", 1), 0);
    QCOMPARE(writeEthtoolGroupByIoctl("channels", kChannelsRx, "kv0", 1000), EINVAL);
    constexpr int kCoalesceRxFrames = 3;
    QCOMPARE(writeEthtoolGroupByIoctl("coalesce", kCoalesceRxFrames, "kt0", 8), 0);
    QCOMPARE(ethtoolSettingText("coalesce:rx-frames", *readEthtoolGroupByIoctl("coalesce", "kt0")),
             std::string("8"));
    QCOMPARE(readValue("coalesce:rx-frames", "kt0"), QByteArray("8"));
    QCOMPARE(writeEthtoolGroupByIoctl("coalesce", kCoalesceRxFrames, "kt0", 0), 0);
    QVERIFY(!readEthtoolGroupByIoctl("ring", "kv0"));
    QCOMPARE(writeEthtoolGroupByIoctl("ring", 6, "kv0", 128), EOPNOTSUPP);
    QVERIFY(!readEthtoolGroupByIoctl("eee", "kv0")); // there is no ioctl for it here
}

/// An answer of a device that has more than those here, cut short at every place.
void TestKnobDevice::answersAreTakenApart() {
    NetlinkBody body{std::uint32_t{0}};
    body.putU32(2, 4096); // the most of rx
    body.putU32(6, 512);  // rx
    body.putU8(11, 2);    // tcp-data-split
    body.putU8(13, 1);    // tx-push
    body.put(6 + 100, "whatever");
    const std::string bytes = body.bytes().substr(sizeof(std::uint32_t));
    const EthtoolGroupValues values = parseEthtoolGroup(bytes);
    QCOMPARE(ethtoolSettingText("ring:rx", values), std::string("512"));
    QCOMPARE(ethtoolSettingText("ring:tcp-data-split", values), std::string("on"));
    QCOMPARE(ethtoolSettingText("ring:tx-push", values), std::string("on"));
    QVERIFY(!ethtoolSettingText("ring:tx", values));
    for (std::size_t i = 0; i < bytes.size(); ++i)
        (void)parseEthtoolGroup(std::string_view(bytes).substr(0, i));
}

void TestKnobDevice::factsHaveTheNamesOfKnobs() {
    const auto facts = ethtoolFacts("kt0");
    QCOMPARE(facts.at("coalesce.rx-frames"), std::string("0"));
    QVERIFY(!facts.contains("coalesce.rx-usecs"));
    const auto veth = ethtoolFacts("kv0");
    QCOMPARE(veth.at("channels.rx"), std::string("1"));
    QVERIFY(std::stoi(veth.at("channels.rx-max")) > 1);
    QVERIFY(!veth.contains("channels.combined"));
}

int main(int argc, char** argv) {
    if (!enterOwnNetwork()) {
        std::fprintf(stderr, "no network namespace for the test: %s\n", std::strerror(errno));
        return 1;
    }
    TestKnobDevice tests;
    return QTest::qExec(&tests, argc, argv);
}
#include "tst_knobdevice.moc"
