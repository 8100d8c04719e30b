// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/knobs.h"
#include "tests/unit/agent/kernelknobtest.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <cerrno>
#include <cstring>

using namespace knobscope;
using namespace knobscope::agent;
using namespace knobscope::test;

namespace {

QJsonObject ipLink() {
    const QByteArray json =
        witness(QStringLiteral("ip"), {QStringLiteral("-j"), QStringLiteral("link"),
                                       QStringLiteral("show"), QStringLiteral("kv0")});
    return QJsonDocument::fromJson(json).array().at(0).toObject();
}

} // namespace

/// Sysctls and link settings of a network namespace of this process; ip and /proc are witnesses.
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
    void sameValues_data();
    void sameValues();
    void ranks();
    void unknownKnobs_data();
    void unknownKnobs();
};

void TestKernelKnobs::initTestCase() {
    makeVeth();
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
    for (const char* name : {"net.ipv4.ip_forward", "net/ipv4/ip_forward",
                             "net.ipv4.conf.all.forwarding", "net.ipv6.conf.all.forwarding",
                             "net.ipv6.conf.lo.disable_ipv6", "net.ipv6.conf.all.disable_ipv6"})
        QTest::newRow(name) << QByteArray(name) << QByteArray("1")
                            << QByteArray("set it yourself before the run");
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
    // Values of coalescing come after the switch to adaptive, so that it is off when they are set
    // and that they are back when it is on again.
    const char* const order[] = {
        "private:x",   "channels:combined",    "ring:rx",           "link:speed", "link:mtu",
        "feature:tso", "coalesce:adaptive-rx", "coalesce:rx-usecs", "rss:key",    "irq:affinity",
        "rps:cpus",    "qdisc:root",           "cpu:governor",      "sysfs:x",    "command:x",
        "sysctl:a.b"};
    for (std::size_t i = 1; i < std::size(order); ++i)
        QVERIFY2(knobRank(order[i - 1]) < knobRank(order[i]), order[i]);
}

void TestKernelKnobs::unknownKnobs_data() {
    QTest::addColumn<QByteArray>("name");
    for (const char* name : {"", ":", "mtu", "link:", "link:colour", "feature:", "sysctl",
                             "Sysctl:x", "coalesce:", "coalesce:rx", "irq:x", "command:x"})
        QTest::newRow(name) << QByteArray(name);
}

void TestKernelKnobs::unknownKnobs() {
    QFETCH(QByteArray, name);
    QVERIFY(!readError(name.constData(), "kv0").isEmpty());
    QVERIFY(!writeError(name, "1", "kv0").isEmpty());
}

int main(int argc, char** argv) {
    if (!enterOwnNetwork()) {
        std::fprintf(stderr, "no network namespace for the test: %s\n", std::strerror(errno));
        return 1;
    }
    TestKernelKnobs tests;
    return QTest::qExec(&tests, argc, argv);
}
#include "tst_kernelknobs.moc"
