// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/features.h"
#include "tests/unit/agent/kernelknobtest.h"

#include <QMap>
#include <QTest>

#include <cerrno>
#include <cstring>

using namespace knobscope;
using namespace knobscope::agent;
using namespace knobscope::test;

namespace {

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

/// Offloads of a real veth in a network namespace of this process; ethtool is the witness.
class TestKernelFeatures : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
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
};

void TestKernelFeatures::initTestCase() {
    makeVeth();
    QVERIFY(!ethtoolFeatures().isEmpty());
}

void TestKernelFeatures::featuresAsEthtoolShowsThem() {
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

void TestKernelFeatures::featureNetlinkAndIoctlAgree() {
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

void TestKernelFeatures::featureSwitches_data() {
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

void TestKernelFeatures::featureSwitches() {
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

void TestKernelFeatures::featureByIoctl() {
    writeFeaturesByIoctl("kv0", {{"tx-tcp6-segmentation", false}, {"rx-gro", true}});
    QCOMPARE(ethtoolFeatures()["tx-tcp6-segmentation"], QByteArray("off"));
    QCOMPARE(ethtoolFeatures()["generic-receive-offload"], QByteArray("on"));
    writeFeaturesByIoctl("kv0", {{"tx-tcp6-segmentation", true}, {"rx-gro", false}});
    QCOMPARE(ethtoolFeatures()["tx-tcp6-segmentation"], QByteArray("on"));
    QVERIFY(!errorOf([] { writeFeaturesByIoctl("nix0", {{"rx-gro", true}}); }).isEmpty());
    QVERIFY(!errorOf([] { (void)readFeaturesByIoctl("nix0"); }).isEmpty());
}

void TestKernelFeatures::groupIsPutBackExactly() {
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

void TestKernelFeatures::featureErrors_data() {
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

void TestKernelFeatures::featureErrors() {
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, interface);
    QFETCH(QByteArray, value);
    QFETCH(QByteArray, message);
    const QString error = writeError(name, value, interface);
    QCOMPARE(error.isEmpty(), message.isEmpty());
    QVERIFY2(error.contains(QString::fromUtf8(message)), qUtf8Printable(error));
}

void TestKernelFeatures::featureValues_data() {
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

void TestKernelFeatures::featureValues() {
    QFETCH(QByteArray, expected);
    QFETCH(int, number);
    const Features groups[] = {
        group({{"a", true, true, true}, {"b", true, true, true}}),
        group({{"a", true, true, true}, {"b", false, false, false}}),
        group({{"a", true, true, true}, {"b", true, false, false}}),
        group({{"a", false, false, true}, {"b", false, false, false}}),
        group({{"a", true, false, false}}),
        group({{"a", true, true, false}}),
    };
    QCOMPARE(QByteArray::fromStdString(featureValue(groups[number])), expected);
    QTEST(isFixed(groups[number]), "fixed");
}

void TestKernelFeatures::featureChanges_data() {
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

void TestKernelFeatures::featureChanges() {
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

int main(int argc, char** argv) {
    if (!enterOwnNetwork()) {
        std::fprintf(stderr, "no network namespace for the test: %s\n", std::strerror(errno));
        return 1;
    }
    TestKernelFeatures tests;
    return QTest::qExec(&tests, argc, argv);
}
#include "tst_kernelfeatures.moc"
