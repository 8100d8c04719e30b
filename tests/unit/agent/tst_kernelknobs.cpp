// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/error.h"
#include "agents/agent/kernel/features.h"
#include "agents/agent/kernel/knobs.h"
#include "tests/unit/agent/kernelnamespace.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <cerrno>
#include <cstring>

using namespace knobscope;
using namespace knobscope::agent;
using test::witness;

namespace {

/// What went wrong, or an empty text.
template<typename Call>
QString errorOf(Call call) {
    try {
        call();
    } catch (const AgentError& error) {
        return error.code() == protocol::errorcode::kKnob ? QString::fromStdString(error.what())
                                                          : QStringLiteral("wrong code");
    }
    return {};
}

QString readError(const char* name, const char* interface) {
    return errorOf([&] { (void)readKnob({name, interface}); });
}

QString writeError(const QByteArray& name, const QByteArray& value, const QByteArray& interface) {
    return errorOf([&] {
        writeKnob({name.toStdString(), interface.toStdString(), value.toStdString()});
    });
}

QByteArray readValue(const char* name) {
    return QByteArray::fromStdString(readKnob({name, "kv0"}));
}

QJsonObject ipLink() {
    const QByteArray json =
        witness(QStringLiteral("ip"), {QStringLiteral("-j"), QStringLiteral("link"),
                                       QStringLiteral("show"), QStringLiteral("kv0")});
    return QJsonDocument::fromJson(json).array().at(0).toObject();
}

/// "on", "off", with " [fixed]", by the names of ethtool -k.
QMap<QByteArray, QByteArray> ethtoolFeatures() {
    QMap<QByteArray, QByteArray> features;
    const QList<QByteArray> lines =
        witness(QStringLiteral("ethtool"), {QStringLiteral("-k"), QStringLiteral("kv0")})
            .split('\n');
    for (const QByteArray& line : lines)
        if (const auto colon = line.indexOf(':'); colon > 0)
            features[line.left(colon).trimmed()] = line.mid(colon + 1).trimmed();
    return features;
}

Features group(std::initializer_list<Feature> features) {
    return features;
}

} // namespace

/// Real knobs of a real veth in a network namespace of this process; ip and ethtool are witnesses.
class TestKernelKnobs : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void sysctlPaths_data();
    void sysctlPaths();
    void sysctlValues_data();
    void sysctlValues();
    void sysctlErrors_data();
    void sysctlErrors();
    void mtu();
    void txqueuelen();
    void linkErrors_data();
    void linkErrors();
    void featuresAsEthtoolShowsThem();
    void featureNetlinkAndIoctlAgree();
    void featureSwitches_data();
    void featureSwitches();
    void featureByIoctl();
    void groupIsPutBackExactly();
    void featureErrors_data();
    void featureErrors();
    void featureValues_data();
    void featureValues();
    void featureChanges_data();
    void featureChanges();
    void sameValues_data();
    void sameValues();
    void ranks();
    void unknownKnobs_data();
    void unknownKnobs();
};

void TestKernelKnobs::initTestCase() {
    const QByteArray out =
        witness(QStringLiteral("ip"),
                {QStringLiteral("link"), QStringLiteral("add"), QStringLiteral("name"),
                 QStringLiteral("kv0"), QStringLiteral("type"), QStringLiteral("veth"),
                 QStringLiteral("peer"), QStringLiteral("name"), QStringLiteral("kv1")});
    Q_UNUSED(out)
    QCOMPARE(ipLink()[QLatin1String("ifname")].toString(), QStringLiteral("kv0"));
}

void TestKernelKnobs::sysctlPaths_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("path"); // empty: refused
    QTest::newRow("dots") << QByteArray("net.ipv4.tcp_rmem") << QByteArray("net/ipv4/tcp_rmem");
    QTest::newRow("slashes") << QByteArray("net/ipv4/tcp_rmem") << QByteArray("net/ipv4/tcp_rmem");
    QTest::newRow("a dot in an interface's name, dots")
        << QByteArray("net.ipv4.conf.eth0/1.mtu") << QByteArray("net/ipv4/conf/eth0.1/mtu");
    QTest::newRow("a dot in an interface's name, slashes")
        << QByteArray("net/ipv4/conf/eth0.1/mtu") << QByteArray("net/ipv4/conf/eth0.1/mtu");
    for (const char* name :
         {"", "..", "../x", "net/../../etc/passwd", "net.//.//.etc.passwd", "/", "/etc/passwd",
          "net/./x", "net//x", "net..x", "net/", ".net", "net.", "net/ipv4/..", "net./.x"})
        QTest::newRow(qPrintable(QStringLiteral("refused: ") + QLatin1String(name)))
            << QByteArray(name) << QByteArray();
    QTest::newRow("refused: NUL") << QByteArray("net.ipv4\0.x", 11) << QByteArray();
}

void TestKernelKnobs::sysctlPaths() {
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, path);
    const std::string text(name.data(), static_cast<std::size_t>(name.size()));
    if (path.isEmpty()) {
        const QString error = errorOf([&] { (void)sysctlPath(text); });
        QVERIFY2(error.contains(QLatin1String("is not a sysctl name")), qUtf8Printable(error));
    } else {
        QCOMPARE(QByteArray::fromStdString(sysctlPath(text)), "/proc/sys/" + path);
    }
}

void TestKernelKnobs::sysctlValues_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<QByteArray>("now");
    QTest::newRow("three numbers")
        << QByteArray("net.ipv4.tcp_rmem") << QByteArray("4096 65536 4194304")
        << QByteArray("4096 65536 4194304");
    QTest::newRow("tabs") << QByteArray("net/ipv4/tcp_wmem") << QByteArray("4096\t16385\t4194305")
                          << QByteArray("4096 16385 4194305");
    QTest::newRow("one number") << QByteArray("net.ipv4.tcp_limit_output_bytes")
                                << QByteArray("16384") << QByteArray("16384");
    QTest::newRow("a word") << QByteArray("net.ipv4.tcp_congestion_control") << QByteArray("reno")
                            << QByteArray("reno");
    QTest::newRow("a list") << QByteArray("net.ipv4.ip_local_reserved_ports")
                            << QByteArray("8080,9000-9002") << QByteArray("8080,9000-9002");
    QTest::newRow("an empty list")
        << QByteArray("net.ipv4.ip_local_reserved_ports") << QByteArray() << QByteArray();
    QTest::newRow("of an interface")
        << QByteArray("net.ipv4.conf.kv0.rp_filter") << QByteArray("2") << QByteArray("2");
}

void TestKernelKnobs::sysctlValues() {
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, value);
    QFETCH(QByteArray, now);
    const QByteArray knob = "sysctl:" + name;
    QCOMPARE(writeError(knob, value, {}), QString());
    QCOMPARE(readValue(knob.constData()), now);
    QFile file(QString::fromStdString(sysctlPath(name.toStdString())));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll().simplified(), now);
}

void TestKernelKnobs::sysctlErrors_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<QByteArray>("message");
    QTest::newRow("absent") << QByteArray("net.ipv4.no_such") << QByteArray("1")
                            << QByteArray("does not exist");
    QTest::newRow("below a file") << QByteArray("net.ipv4.tcp_rmem.x") << QByteArray("1")
                                  << QByteArray("does not exist");
    QTest::newRow("a folder") << QByteArray("net.ipv4") << QByteArray("1")
                              << QByteArray("is a group");
    QTest::newRow("not a number") << QByteArray("net.ipv4.tcp_sack") << QByteArray("yes")
                                  << QByteArray("the kernel refuses 'yes'");
    QTest::newRow("out of range") << QByteArray("net.ipv4.tcp_adv_win_scale") << QByteArray("99")
                                  << QByteArray("the kernel refuses '99'");
    QTest::newRow("unknown algorithm") << QByteArray("net.ipv4.tcp_congestion_control")
                                       << QByteArray("swift") << QByteArray("the kernel refuses");
    QTest::newRow("read only") << QByteArray("net.ipv4.tcp_available_congestion_control")
                               << QByteArray("reno") << QByteArray("cannot be written here");
    QTest::newRow("two lines") << QByteArray("net.ipv4.tcp_sack") << QByteArray("1\n0")
                               << QByteArray("one line");
    QTest::newRow("too long") << QByteArray("net.ipv4.ip_local_reserved_ports")
                              << QByteArray("1,").repeated(3000) << QByteArray("too long");
    QTest::newRow("leaves /proc/sys") << QByteArray("net/../../self/oom_score_adj")
                                      << QByteArray("1") << QByteArray("is not a sysctl name");
}

void TestKernelKnobs::sysctlErrors() {
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, value);
    QFETCH(QByteArray, message);
    const QString error = writeError("sysctl:" + name, value, {});
    QVERIFY2(error.contains(QString::fromUtf8(message)), qUtf8Printable(error));
}

void TestKernelKnobs::mtu() {
    QCOMPARE(writeError("link:mtu", "9000", "kv0"), QString());
    QCOMPARE(readValue("link:mtu"), QByteArray("9000"));
    QCOMPARE(ipLink()[QLatin1String("mtu")].toInt(), 9000);
    QCOMPARE(writeError("link:mtu", " 1500 ", "kv0"), QString());
    QCOMPARE(ipLink()[QLatin1String("mtu")].toInt(), 1500);
}

void TestKernelKnobs::txqueuelen() {
    QCOMPARE(writeError("link:txqueuelen", "321", "kv0"), QString());
    QCOMPARE(readValue("link:txqueuelen"), QByteArray("321"));
    QCOMPARE(ipLink()[QLatin1String("txqlen")].toInt(), 321);
}

void TestKernelKnobs::linkErrors_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("interface");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<QByteArray>("message");
    const QByteArray mtu("link:mtu");
    QTest::newRow("the kernel's own words") << mtu << QByteArray("kv0") << QByteArray("70000")
                                            << QByteArray("mtu greater than device maximum");
    QTest::newRow("too small") << mtu << QByteArray("kv0") << QByteArray("1")
                               << QByteArray("mtu less than device minimum");
    QTest::newRow("negative") << mtu << QByteArray("kv0") << QByteArray("-1")
                              << QByteArray("whole number");
    QTest::newRow("beyond 32 bits")
        << mtu << QByteArray("kv0") << QByteArray("4294968796") << QByteArray("whole number");
    QTest::newRow("a word") << QByteArray("link:txqueuelen") << QByteArray("kv0")
                            << QByteArray("long") << QByteArray("whole number");
    QTest::newRow("no interface") << mtu << QByteArray() << QByteArray("1500")
                                  << QByteArray("needs the name of an interface");
    QTest::newRow("unknown interface") << mtu << QByteArray("nix0") << QByteArray("1500")
                                       << QByteArray("no interface named 'nix0'");
    QTest::newRow("interface name too long") << mtu << QByteArray(100, 'x') << QByteArray("1500")
                                             << QByteArray("no interface named 'xxx");
}

void TestKernelKnobs::linkErrors() {
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, interface);
    QFETCH(QByteArray, value);
    QFETCH(QByteArray, message);
    const int before = ipLink()[QLatin1String("mtu")].toInt();
    const QString error = writeError(name, value, interface);
    QVERIFY2(error.contains(QString::fromUtf8(message)), qUtf8Printable(error));
    QCOMPARE(ipLink()[QLatin1String("mtu")].toInt(), before);
}

void TestKernelKnobs::featuresAsEthtoolShowsThem() {
    const QMap<QByteArray, QByteArray> shown = ethtoolFeatures();
    QVERIFY(shown.size() > 20);
    const Features all = readFeatures("kv0");
    int compared = 0;
    for (auto it = shown.begin(); it != shown.end(); ++it) {
        const Features features = featuresOf(all, it.key().toStdString());
        if (features.empty())
            continue; // a headline, or a feature that this kernel no longer has
        QByteArray value = QByteArray::fromStdString(featureValue(features)).split(' ').first();
        if (isFixed(features))
            value += " [fixed]";
        QVERIFY2(it.value() == value,
                 it.key() + ": ethtool has '" + it.value() + "', not '" + value + "'");
        ++compared;
    }
    QVERIFY2(compared >= 50, QByteArray::number(compared));
}

void TestKernelKnobs::featureNetlinkAndIoctlAgree() {
    const Features netlink = readFeatures("kv0");
    const Features ioctl = readFeaturesByIoctl("kv0");
    QCOMPARE(netlink.size(), ioctl.size());
    for (std::size_t i = 0; i < netlink.size(); ++i) {
        QCOMPARE(netlink[i].name, ioctl[i].name);
        QCOMPARE(netlink[i].changeable, ioctl[i].changeable);
        QCOMPARE(netlink[i].active, ioctl[i].active);
        QCOMPARE(netlink[i].wanted, ioctl[i].wanted);
    }
}

void TestKernelKnobs::featureSwitches_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("shownAs");
    for (const auto& [name, shown] : {std::pair{"tso", "tcp-segmentation-offload"},
                                      {"gso", "generic-segmentation-offload"},
                                      {"gro", "generic-receive-offload"},
                                      {"tx", "tx-checksumming"},
                                      {"rx", "rx-checksumming"},
                                      {"sg", "scatter-gather"},
                                      {"txvlan", "tx-vlan-offload"},
                                      {"rxvlan", "rx-vlan-offload"},
                                      {"generic-receive-offload", "generic-receive-offload"},
                                      {"tx-tcp6-segmentation", "tx-tcp6-segmentation"},
                                      {"rx-gro-list", "rx-gro-list"}})
        QTest::newRow(name) << QByteArray(name) << QByteArray(shown);
}

void TestKernelKnobs::featureSwitches() {
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, shownAs);
    const QByteArray knob = "feature:" + name;
    const QByteArray original = readValue(knob.constData());
    for (const char* value : {"off", "on", "off"}) {
        QCOMPARE(writeError(knob, value, "kv0"), QString());
        QCOMPARE(readValue(knob.constData()), QByteArray(value));
        QCOMPARE(ethtoolFeatures()[shownAs], QByteArray(value));
    }
    QCOMPARE(writeError(knob, original, "kv0"), QString());
    QCOMPARE(readValue(knob.constData()), original);
}

void TestKernelKnobs::featureByIoctl() {
    writeFeaturesByIoctl("kv0", {{"tx-tcp6-segmentation", false}, {"rx-gro", true}});
    QCOMPARE(ethtoolFeatures()["tx-tcp6-segmentation"], QByteArray("off"));
    QCOMPARE(ethtoolFeatures()["generic-receive-offload"], QByteArray("on"));
    writeFeaturesByIoctl("kv0", {{"tx-tcp6-segmentation", true}, {"rx-gro", false}});
    QCOMPARE(ethtoolFeatures()["tx-tcp6-segmentation"], QByteArray("on"));
    QVERIFY(!errorOf([] { writeFeaturesByIoctl("nix0", {{"rx-gro", true}}); }).isEmpty());
    QVERIFY(!errorOf([] { (void)readFeaturesByIoctl("nix0"); }).isEmpty());
}

void TestKernelKnobs::groupIsPutBackExactly() {
    QCOMPARE(writeError("feature:tx-tcp6-segmentation", "off", "kv0"), QString());
    const QMap<QByteArray, QByteArray> before = ethtoolFeatures();
    const QByteArray original = readValue("feature:tso");
    QVERIFY2(original.startsWith("on (") && original.contains("tx-tcp-segmentation"), original);
    QVERIFY(!original.contains("tx-tcp6-segmentation"));
    QCOMPARE(writeError("feature:tso", "off", "kv0"), QString());
    QCOMPARE(readValue("feature:tso"), QByteArray("off"));
    QCOMPARE(writeError("feature:tso", original, "kv0"), QString());
    QCOMPARE(ethtoolFeatures(), before);
    QCOMPARE(writeError("feature:tso", "on", "kv0"), QString());
    QCOMPARE(readValue("feature:tso"), QByteArray("on"));
}

void TestKernelKnobs::featureErrors_data() {
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("interface");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<QByteArray>("message");
    const QByteArray kv0("kv0");
    QTest::newRow("fixed") << QByteArray("feature:lro") << kv0 << QByteArray("on")
                           << QByteArray("is fixed on this device");
    QTest::newRow("fixed, by the kernel's name")
        << QByteArray("feature:rx-lro") << kv0 << QByteArray("on")
        << QByteArray("is fixed on this device");
    QTest::newRow("fixed, as it is already")
        << QByteArray("feature:lro") << kv0 << QByteArray("off") << QByteArray();
    QTest::newRow("not a switch") << QByteArray("feature:gro") << kv0 << QByteArray("maybe")
                                  << QByteArray("takes on or off");
    QTest::newRow("unknown part") << QByteArray("feature:tso") << kv0 << QByteArray("on (rx-gro)")
                                  << QByteArray("has no part named 'rx-gro'");
    QTest::newRow("unknown feature") << QByteArray("feature:warp") << kv0 << QByteArray("on")
                                     << QByteArray("has no feature named 'warp'");
    QTest::newRow("a pattern is no name") << QByteArray("feature:tx-*") << kv0 << QByteArray("on")
                                          << QByteArray("has no feature named");
    QTest::newRow("no interface") << QByteArray("feature:tso") << QByteArray() << QByteArray("on")
                                  << QByteArray("needs the name of an interface");
    QTest::newRow("unknown interface")
        << QByteArray("feature:tso") << QByteArray("nix0") << QByteArray("on")
        << QByteArray("no interface named 'nix0'");
}

void TestKernelKnobs::featureErrors() {
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, interface);
    QFETCH(QByteArray, value);
    QFETCH(QByteArray, message);
    const QString error = writeError(name, value, interface);
    QCOMPARE(error.isEmpty(), message.isEmpty());
    QVERIFY2(error.contains(QString::fromUtf8(message)), qUtf8Printable(error));
}

void TestKernelKnobs::featureValues_data() {
    QTest::addColumn<QByteArray>("expected");
    QTest::addColumn<bool>("fixed");
    QTest::addColumn<int>("number");
    QTest::newRow("all on") << QByteArray("on") << false << 0;
    QTest::newRow("one fixed off does not count") << QByteArray("on") << false << 1;
    QTest::newRow("mixed") << QByteArray("on (a)") << false << 2;
    QTest::newRow("fixed on") << QByteArray("on") << true << 3;
    QTest::newRow("off") << QByteArray("off") << false << 4;
    QTest::newRow("wanted is not active") << QByteArray("off") << false << 5;
}

void TestKernelKnobs::featureValues() {
    QFETCH(int, number);
    const Features groups[] = {
        group({{"a", true, true, true}, {"b", true, true, true}}),
        group({{"a", true, true, true}, {"b", false, false, false}}),
        group({{"a", true, true, true}, {"b", true, false, false}}),
        group({{"a", false, false, true}, {"b", false, false, false}}),
        group({{"a", true, false, false}}),
        group({{"a", true, true, false}}),
    };
    QCOMPARE(QByteArray::fromStdString(featureValue(groups[number])),
             *static_cast<const QByteArray*>(QTest::qData("expected", qMetaTypeId<QByteArray>())));
    QTEST(isFixed(groups[number]), "fixed");
}

void TestKernelKnobs::featureChanges_data() {
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<QByteArray>("expected");
    QTest::newRow("on") << QByteArray("on") << QByteArray("a+b+");
    QTest::newRow("1") << QByteArray("1") << QByteArray("a+b+");
    QTest::newRow("OFF") << QByteArray(" OFF ") << QByteArray("a-b-");
    QTest::newRow("list") << QByteArray("on (b)") << QByteArray("a-b+");
    QTest::newRow("empty list") << QByteArray("on ()") << QByteArray("a-b-");
    QTest::newRow("empty") << QByteArray() << QByteArray("refused");
    QTest::newRow("list with a fixed one that is off")
        << QByteArray("on (f)") << QByteArray("refused");
    QTest::newRow("broken list") << QByteArray("on (a") << QByteArray("refused");
}

void TestKernelKnobs::featureChanges() {
    QFETCH(QByteArray, value);
    QFETCH(QByteArray, expected);
    const Features features =
        group({{"a", true, false, false}, {"b", true, true, true}, {"f", false, false, false}});
    QByteArray changes;
    const QString error = errorOf([&] {
        for (const auto& [name, on] :
             agent::featureChanges(features, value.toStdString(), "feature x of y"))
            changes += QByteArray::fromStdString(name) + (on ? "+" : "-");
    });
    QCOMPARE(error.isEmpty() ? changes : QByteArray("refused"), expected);
}

void TestKernelKnobs::sameValues_data() {
    QTest::addColumn<QByteArray>("knob");
    QTest::addColumn<QByteArray>("a");
    QTest::addColumn<QByteArray>("b");
    QTest::addColumn<bool>("same");
    const QByteArray sysctl("sysctl:net.ipv4.tcp_rmem");
    QTest::newRow("white space") << sysctl << QByteArray("4096\t131072")
                                 << QByteArray(" 4096 131072\n") << true;
    QTest::newRow("leading zero") << sysctl << QByteArray("010") << QByteArray("10") << true;
    QTest::newRow("other number") << sysctl << QByteArray("1 2") << QByteArray("1 3") << false;
    QTest::newRow("prefix") << sysctl << QByteArray("1 2") << QByteArray("1 2 3") << false;
    QTest::newRow("words") << sysctl << QByteArray("reno") << QByteArray("cubic") << false;
    QTest::newRow("1 is no switch in a sysctl")
        << sysctl << QByteArray("on") << QByteArray("1") << false;
    QTest::newRow("empty") << sysctl << QByteArray() << QByteArray("\n") << true;
    const QByteArray feature("feature:tso");
    QTest::newRow("switch") << feature << QByteArray("on") << QByteArray("1") << true;
    QTest::newRow("other switch") << feature << QByteArray("false") << QByteArray("on") << false;
    QTest::newRow("part of a group")
        << feature << QByteArray("on (a)") << QByteArray("on") << false;
    QTest::newRow("MTU") << QByteArray("link:mtu") << QByteArray("1500") << QByteArray(" 1500")
                         << true;
}

void TestKernelKnobs::sameValues() {
    QFETCH(QByteArray, knob);
    QFETCH(QByteArray, a);
    QFETCH(QByteArray, b);
    QTEST(sameKnobValue(knob.toStdString(), a.toStdString(), b.toStdString()), "same");
}

void TestKernelKnobs::ranks() {
    const char* const order[] = {"channels:combined", "ring:rx",           "link:mtu",
                                 "feature:tso",       "coalesce:rx-usecs", "rss:key",
                                 "irq:affinity",      "sysctl:net.core.x"};
    for (std::size_t i = 1; i < std::size(order); ++i)
        QVERIFY2(knobRank(order[i - 1]) < knobRank(order[i]), order[i]);
}

void TestKernelKnobs::unknownKnobs_data() {
    QTest::addColumn<QByteArray>("name");
    for (const char* name : {"", ":", "mtu", "link:", "link:speed", "feature:", "sysctl",
                             "Sysctl:x", "coalesce:rx-usecs", "command:x"})
        QTest::newRow(name) << QByteArray(name);
}

void TestKernelKnobs::unknownKnobs() {
    QFETCH(QByteArray, name);
    QVERIFY(!readError(name.constData(), "kv0").isEmpty());
    QVERIFY(!writeError(name, "1", "kv0").isEmpty());
}

int main(int argc, char** argv) {
    if (!test::enterOwnNetwork()) {
        std::fprintf(stderr, "no network namespace for the test: %s\n", std::strerror(errno));
        return 1;
    }
    TestKernelKnobs tests;
    return QTest::qExec(&tests, argc, argv);
}
#include "tst_kernelknobs.moc"
