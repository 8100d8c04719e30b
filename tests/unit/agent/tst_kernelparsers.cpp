// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/counters.h"
#include "agents/agent/kernel/cpu.h"
#include "agents/agent/kernel/environment.h"
#include "agents/agent/kernel/ethtool.h"
#include "agents/agent/kernel/netlink.h"
#include "agents/agent/kernel/rtlink.h"
#include "agents/agent/kernel/textfile.h"

#include <QTest>

#include <linux/netlink.h>

using namespace knobscope::agent;

Q_DECLARE_METATYPE(Counters)

/// The kernel's texts and messages, as they are, as they were, and as they should not be.
class TestKernelParsers : public QObject {
    Q_OBJECT

private slots:
    void snmp_data();
    void snmp();
    void snmp6();
    void softnet_data();
    void softnet();
    void interrupts_data();
    void interrupts();
    void hugeLines();
    void cpu_data();
    void cpu();
    void cpuUse_data();
    void cpuUse();
    void osName_data();
    void osName();
    void listLength_data();
    void listLength();
    void fields();
    void numbers_data();
    void numbers();
    void duplicateCounterNames();
    void linkStatisticsOfAnyLength();
    void attributes();
    void brokenAttributes_data();
    void brokenAttributes();
};

void TestKernelParsers::snmp_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<Counters>("expected");
    QTest::newRow("snmp") << QByteArray("Ip: Forwarding InReceives\nIp: 2 12\n"
                                        "Tcp: RtoMin MaxConn OutSegs\nTcp: 200 -1 99\n")
                          << Counters{{"IpForwarding", 2},
                                      {"IpInReceives", 12},
                                      {"TcpRtoMin", 200},
                                      {"TcpOutSegs", 99}};
    QTest::newRow("netstat") << QByteArray("TcpExt: ListenOverflows\nTcpExt: 3\n"
                                           "IpExt: InOctets\nIpExt: 18446744073709551615\n")
                             << Counters{{"TcpExtListenOverflows", 3},
                                         {"IpExtInOctets", 18446744073709551615ULL}};
    QTest::newRow("empty") << QByteArray() << Counters{};
    QTest::newRow("fewer values") << QByteArray("Tcp: A B C\nTcp: 1 2\n")
                                  << Counters{{"TcpA", 1}, {"TcpB", 2}};
    QTest::newRow("fewer names") << QByteArray("Tcp: A\nTcp: 1 2 3\n") << Counters{{"TcpA", 1}};
    QTest::newRow("cut before the values") << QByteArray("Tcp: A B\n") << Counters{};
    QTest::newRow("cut within a line") << QByteArray("Tcp: A B\nTcp: 1") << Counters{{"TcpA", 1}};
    QTest::newRow("names without values, then another")
        << QByteArray("Tcp: A\nUdp: B\nUdp: 4\n") << Counters{{"UdpB", 4}};
    QTest::newRow("too large, not a number, hexadecimal")
        << QByteArray("Tcp: A B C D\nTcp: 18446744073709551616 x 0x10 5\n")
        << Counters{{"TcpD", 5}};
    QTest::newRow("no colon, blank lines") << QByteArray("\n\nTcp A\n:\n") << Counters{};
    QTest::newRow("NUL inside") << QByteArray("Tcp: A\0B\nTcp: 1\0\n", 17) << Counters{};
}

void TestKernelParsers::snmp() {
    QFETCH(QByteArray, text);
    QFETCH(Counters, expected);
    QCOMPARE(parseSnmp({text.data(), static_cast<std::size_t>(text.size())}), expected);
}

void TestKernelParsers::snmp6() {
    const Counters expected{{"Ip6InReceives", 7}, {"Icmp6OutType133", 2}};
    QCOMPARE(parseSnmp6("Ip6InReceives                   \t7\nIcmp6OutType133 2\nbad\nbad -1\n"
                        "a b c\n\n"),
             expected);
    QCOMPARE(parseSnmp6(""), Counters{});
}

void TestKernelParsers::softnet_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<Counters>("expected");
    QTest::newRow("6.x, two CPUs")
        << QByteArray("0000000e 00000001 00000002 00000000 00000000 00000000 00000000 00000000 "
                      "00000000 00000003 00000004 00000005 00000000 00000000 00000000\n"
                      "00000010 00000000 ffffffff 00000000 00000000 00000000 00000000 00000000 "
                      "00000000 00000000 00000000 00000000 00000001 00000000 00000000\n")
        << Counters{{"processed", 30},    {"dropped", 1},      {"time_squeeze", 0x100000001},
                    {"cpu_collision", 0}, {"received_rps", 3}, {"flow_limit_count", 4},
                    {"backlog_len", 5}};
    QTest::newRow("2.6.32 has nine columns")
        << QByteArray("00000001 00000002 00000003 00000000 00000000 00000000 00000000 00000000 "
                      "00000000\n")
        << Counters{{"processed", 1}, {"dropped", 2}, {"time_squeeze", 3}, {"cpu_collision", 0}};
    QTest::newRow("cut short") << QByteArray("00000001 0000")
                               << Counters{{"processed", 1}, {"dropped", 0}};
    QTest::newRow("no numbers") << QByteArray("cpu zz -1\n") << Counters{};
    QTest::newRow("empty") << QByteArray() << Counters{};
}

void TestKernelParsers::softnet() {
    QFETCH(QByteArray, text);
    QFETCH(Counters, expected);
    QCOMPARE(parseSoftnet({text.data(), static_cast<std::size_t>(text.size())}), expected);
}

void TestKernelParsers::interrupts_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<Counters>("expected");
    QTest::newRow("x86")
        << QByteArray("           CPU0       CPU1       \n"
                      " 26:          0          9  IO-APIC   4-edge      ttyS0\n"
                      " 33:          5          1 PCI-MSIX-0000:00:05.0   0-edge      eth0-rx-0\n"
                      "NMI:          2          1   Non-maskable interrupts\n"
                      "ERR:          4\n")
        << Counters{{"26 ttyS0", 9},
                    {"33 eth0-rx-0", 6},
                    {"NMI Non-maskable interrupts", 3},
                    {"ERR", 4}};
    QTest::newRow("arm, shared handlers")
        << QByteArray("      CPU0\n 11:  7     GICv3  27 Level     arch_timer, kvm timer\n"
                      "IPI0:  3       Rescheduling interrupts\n")
        << Counters{{"11 arch_timer, kvm timer", 7}, {"IPI0 Rescheduling interrupts", 3}};
    QTest::newRow("no handler") << QByteArray(" CPU0\n 8: 1 XT-PIC rtc\n")
                                << Counters{{"8 XT-PIC rtc", 1}};
    QTest::newRow("same name twice") << QByteArray(" CPU0\nX: 1 a\nX: 2 a\nX: 3 a\n")
                                     << Counters{{"X a", 1}, {"X a#2", 2}, {"X a#3", 3}};
    QTest::newRow("no header") << QByteArray("26: 1 2 a\n27: 1 b\n") << Counters{};
    QTest::newRow("cut short") << QByteArray(" CPU0 CPU1\n 1: 5") << Counters{{"1", 5}};
    QTest::newRow("no count, no name") << QByteArray(" CPU0\n 1: x\n : 4\n2\n") << Counters{};
    QTest::newRow("empty") << QByteArray() << Counters{};
}

void TestKernelParsers::interrupts() {
    QFETCH(QByteArray, text);
    QFETCH(Counters, expected);
    QCOMPARE(parseInterrupts({text.data(), static_cast<std::size_t>(text.size())}), expected);
}

void TestKernelParsers::hugeLines() {
    std::string header = "Tcp:";
    std::string values = "Tcp:";
    std::string cpus;
    std::string counts = "1:";
    constexpr int kMany = 100000;
    for (int i = 0; i < kMany; ++i) {
        header += " N" + std::to_string(i);
        values += " 1";
        cpus += " CPU" + std::to_string(i);
        counts += " 1";
    }
    QCOMPARE(parseSnmp(header + "\n" + values + "\n").size(), std::size_t{kMany});
    QCOMPARE(parseInterrupts(cpus + "\n" + counts + "  edge  nic\n"),
             (Counters{{"1 nic", std::uint64_t{kMany}}}));
    QVERIFY(parseSoftnet(std::string(1 << 20, 'f')).empty());
    QVERIFY(parseSnmp6(std::string(1 << 20, 'a')).empty());
}

void TestKernelParsers::cpu_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<double>("busy");
    QTest::addColumn<double>("idle");
    QTest::addColumn<int>("cpus");
    QTest::newRow("two CPUs")
        << QByteArray("cpu  100 20 30 400 50 6 7 8 90 1\ncpu0 50 10 15 200 25 3 3 4 45 0\n"
                      "cpu1 50 10 15 200 25 3 4 4 45 1\nintr 5\n")
        << 1.71 << 4.5 << 2;
    QTest::newRow("2.4 has four columns")
        << QByteArray("cpu 100 0 100 200\ncpu0 100 0 100 200\n") << 2.0 << 2.0 << 1;
    QTest::newRow("CPU 1 is offline")
        << QByteArray("cpu 2 0 0 2\ncpu0 1 0 0 1\ncpu2 1 0 0 1\n") << 0.02 << 0.02 << 3;
    QTest::newRow("broken") << QByteArray("cpux 1\ncpu\ncpu99999999999 1 1 1 1\n") << 0.0 << 0.0
                            << 0;
    QTest::newRow("empty") << QByteArray() << 0.0 << 0.0 << 0;
}

void TestKernelParsers::cpu() {
    QFETCH(QByteArray, text);
    QFETCH(double, busy);
    QFETCH(double, idle);
    QFETCH(int, cpus);
    const CpuReading reading = parseCpu({text.data(), static_cast<std::size_t>(text.size())}, 100);
    QCOMPARE(reading.all.busy(), busy);
    QCOMPARE(reading.all.idle, idle);
    QCOMPARE(static_cast<int>(reading.each.size()), cpus);
}

void TestKernelParsers::cpuUse_data() {
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<QByteArray>("after");
    QTest::addColumn<double>("user");
    QTest::addColumn<double>("idle");
    QTest::addColumn<int>("cpus");
    QTest::addColumn<double>("busiest");
    QTest::newRow("one busy, one idle")
        << QByteArray("cpu 100 0 0 100\ncpu0 50 0 0 50\ncpu1 50 0 0 50\n")
        << QByteArray("cpu 190 0 0 210\ncpu0 140 0 0 60\ncpu1 50 0 0 150\n") << 0.9 << 1.1 << 2
        << 90.0;
    QTest::newRow("idle time steps back")
        << QByteArray("cpu 100 0 0 100\ncpu0 100 0 0 100\n")
        << QByteArray("cpu 150 0 0 99\ncpu0 150 0 0 99\n") << 0.5 << 0.0 << 1 << 100.0;
    QTest::newRow("a CPU came online in between")
        << QByteArray("cpu 10 0 0 10\ncpu0 10 0 0 10\n")
        << QByteArray("cpu 530 0 0 30\ncpu0 20 0 0 20\ncpu1 510 0 0 10\n") << 5.2 << 0.2 << 2
        << 50.0;
    QTest::newRow("nothing passed")
        << QByteArray("cpu 1 0 0 1\ncpu0 1 0 0 1\n") << QByteArray("cpu 1 0 0 1\ncpu0 1 0 0 1\n")
        << 0.0 << 0.0 << 1 << 0.0;
    QTest::newRow("unreadable") << QByteArray() << QByteArray() << 0.0 << 0.0 << 0 << 0.0;
}

void TestKernelParsers::cpuUse() {
    QFETCH(QByteArray, before);
    QFETCH(QByteArray, after);
    const auto use = knobscope::agent::cpuUse(parseCpu(before.toStdString(), 100),
                                              parseCpu(after.toStdString(), 100));
    QTEST(use.user_s, "user");
    QTEST(use.idle_s, "idle");
    QTEST(use.cpus, "cpus");
    QTEST(use.busiest_cpu_percent, "busiest");
}

void TestKernelParsers::osName_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("expected");
    QTest::newRow("double quotes")
        << QByteArray("NAME=\"x\"\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n")
        << QByteArray("Debian GNU/Linux 12");
    QTest::newRow("single quotes") << QByteArray("PRETTY_NAME='A B'") << QByteArray("A B");
    QTest::newRow("bare") << QByteArray("PRETTY_NAME=Alpine\r\n") << QByteArray("Alpine");
    QTest::newRow("a single quote only") << QByteArray("PRETTY_NAME=\"\n") << QByteArray("\"");
    QTest::newRow("empty value") << QByteArray("PRETTY_NAME=\"\"\n") << QByteArray();
    QTest::newRow("absent") << QByteArray("NAME=x\n") << QByteArray();
}

void TestKernelParsers::osName() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, expected);
    const auto name = parseOsName(text.toStdString());
    QCOMPARE(name.has_value(), !expected.isEmpty());
    QCOMPARE(QByteArray::fromStdString(name.value_or("")), expected);
}

void TestKernelParsers::listLength_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<int>("expected"); // 0: none
    QTest::newRow("one") << QByteArray("0") << 1;
    QTest::newRow("ranges") << QByteArray("0-3,8,10-11\n") << 7;
    QTest::newRow("empty") << QByteArray(" \n") << 0;
    QTest::newRow("backwards") << QByteArray("3-1") << 0;
    QTest::newRow("no end") << QByteArray("0-") << 0;
    QTest::newRow("huge") << QByteArray("0-18446744073709551615") << 0;
    QTest::newRow("words") << QByteArray("all") << 0;
}

void TestKernelParsers::listLength() {
    QFETCH(QByteArray, text);
    QFETCH(int, expected);
    QCOMPARE(static_cast<int>(parseListLength(text.toStdString()).value_or(0)), expected);
}

void TestKernelParsers::fields() {
    const char* const text =
        "processor\t: 0\nmodel name\t:  Some   CPU @ 2 GHz\nempty :\nMemTotal:  "
        "      24 kB\nno colon\n";
    QCOMPARE(parseField(text, "model name").value_or(""), std::string("Some CPU @ 2 GHz"));
    QCOMPARE(parseField(text, "MemTotal").value_or(""), std::string("24 kB"));
    QVERIFY(!parseField(text, "empty"));
    QVERIFY(!parseField(text, "model"));
    QVERIFY(!parseField("", "model"));
}

void TestKernelParsers::numbers_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<bool>("isNumber");
    QTest::newRow("zero") << QByteArray("0") << true;
    QTest::newRow("largest") << QByteArray("18446744073709551615") << true;
    for (const char* text :
         {"", "-1", "+1", " 1", "1 ", "1x", "0x1", "1.0", "18446744073709551616"})
        QTest::newRow(text) << QByteArray(text) << false;
}

void TestKernelParsers::numbers() {
    QFETCH(QByteArray, text);
    QTEST(toNumber(text.toStdString()).has_value(), "isNumber");
}

void TestKernelParsers::duplicateCounterNames() {
    const Counters expected{{"a", 1}, {"a#2", 2}, {"b", 3}, {"a#3", 4}};
    QCOMPARE(namedCounters({"a", "a", "b", "", "a", "beyond the values"}, {1, 2, 3, 9, 4}),
             expected);
    QVERIFY(namedCounters({}, {1}).empty());
}

void TestKernelParsers::linkStatisticsOfAnyLength() {
    std::string bytes(std::size_t{8} * 23 + 3, '\0'); // as before rx_nohandler, and a broken tail
    bytes[0] = 5;
    const Counters counters = parseLinkStatistics(bytes);
    QCOMPARE(counters.size(), std::size_t{23});
    QCOMPARE(counters.at("rx_packets"), std::uint64_t{5});
    QVERIFY(!counters.contains("rx_nohandler"));
    QVERIFY(parseLinkStatistics(std::string(1000, '\1')).contains("rx_otherhost_dropped"));
    QVERIFY(parseLinkStatistics("").empty());
}

void TestKernelParsers::attributes() {
    NetlinkBody body(std::uint32_t{0});
    body.putU32(1, 77);
    body.putText(2, "odd");
    const std::size_t nest = body.beginNest(3);
    body.putFlag(4);
    body.putText(5, "inner");
    body.endNest(nest);
    const NetlinkAttributes attributes(std::string_view(body.bytes()).substr(4));
    QCOMPARE(attributes.all().size(), std::size_t{3});
    QCOMPARE(attributes.number(1).value_or(0), std::uint64_t{77});
    QCOMPARE(attributes.text(2).value_or(""), std::string("odd"));
    QVERIFY(attributes.nest(3).has(4));
    QCOMPARE(attributes.nest(3).text(5).value_or(""), std::string("inner"));
    QVERIFY(!attributes.number(2 + 100));
    QVERIFY(!attributes.number(3)); // no number has that many bytes
    QVERIFY(!attributes.nest(9).has(1));
}

void TestKernelParsers::brokenAttributes_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<int>("good");
    const QByteArray whole("\x08\x00\x01\x00\x07\x00\x00\x00", 8);
    QTest::newRow("empty") << QByteArray() << 0;
    QTest::newRow("header cut") << whole.left(3) << 0;
    QTest::newRow("value cut") << whole.left(7) << 0;
    QTest::newRow("length zero: no endless loop") << QByteArray(64, '\0') << 0;
    QTest::newRow("length below the header") << QByteArray("\x03\x00\x01\x00", 4) << 0;
    QTest::newRow("length beyond the end") << whole + QByteArray("\xff\xff\x01\x00", 4) << 1;
    QTest::newRow("no padding at the end") << whole + QByteArray("\x05\x00\x02\x00x", 5) << 2;
    QTest::newRow("garbage") << QByteArray(1001, '\xff') << 0;
}

void TestKernelParsers::brokenAttributes() {
    QFETCH(QByteArray, bytes);
    QFETCH(int, good);
    const NetlinkAttributes attributes({bytes.data(), static_cast<std::size_t>(bytes.size())});
    QCOMPARE(static_cast<int>(attributes.all().size()), good);
}

QTEST_APPLESS_MAIN(TestKernelParsers)
#include "tst_kernelparsers.moc"
