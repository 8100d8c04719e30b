// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/error.h"
#include "agents/agent/kernel/carrier.h"
#include "agents/agent/kernel/knobs.h"
#include "agents/agent/kernel/rss.h"
#include "agents/agent/kernel/shell.h"

#include <QDir>
#include <QElapsedTimer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace knobscope;
using namespace knobscope::agent;
using namespace std::chrono_literals;

/// Parts of knobs that need no host: tables, texts, commands by hand, waiting for links.
class TestKnobParts : public QObject {
    Q_OBJECT

private slots:
    void rssTables_data();
    void rssTables();
    void rssKeys();
    void rssCompares_data();
    void rssCompares();
    void byHand_data();
    void byHand();
    void byHandOfYourOwn();
    void linksComeBack();
    void linksStayDown();
    void linksGoDownLater();
    void linksThatWereDown();
    void shellRuns();
    void shellFails_data();
    void shellFails();
    void shellIsNotHeldUp();
};

void TestKnobParts::rssTables_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("table"); // of 8 entries; empty: no such table
    const auto row = [](const char* text, const char* table) {
        QTest::newRow(text) << QByteArray(text) << QByteArray(table);
    };
    row("equal 1", "equal 1");
    row("equal 3", "equal 3");
    row("0 1 2 0 1 2 0 1", "equal 3");
    row("0 0 0 0 0 0 0 0", "equal 1");
    row("weight 7", "equal 1");
    row("weight 1 1", "weight 4 4");
    row("0 0 0 0 1 1 1 1", "weight 4 4");
    row("weight 30 10", "weight 6 2");
    row("weight 0 1", "weight 0 8");
    row("weight 1 0 1", "weight 4 0 4");
    row("weight 5 5 5", "weight 3 3 2"); // as near as 8 entries come to it
    row("3 2 1 0 3 2 1 0", "3 2 1 0 3 2 1 0");
    for (const char* wrong : {"", "equal", "equal 0", "equal x", "equal 1 2", "weight", "weight 0",
                              "weight -1", "0 1", "0 1 2 0 1 2 0 70000", "even 3"})
        row(wrong, "");
}

void TestKnobParts::rssTables() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, table);
    const auto parsed = parseRssTable(text.toStdString(), 8);
    QCOMPARE(parsed.has_value(), !table.isEmpty());
    if (parsed)
        QCOMPARE(QByteArray::fromStdString(rssTableText(*parsed)), table);
}

void TestKnobParts::rssKeys() {
    const std::string bytes("\x00\x6d\xff", 3);
    QCOMPARE(rssKeyText(bytes), std::string("00:6d:ff"));
    QCOMPARE(parseRssKey("00:6D:ff").value(), bytes);
    for (const char* wrong : {"", ":", "0", "00:6", "00:6dd", "xx", "00 6d", "00:6d:ff:z"})
        QVERIFY2(!parseRssKey(wrong), wrong);
}

void TestKnobParts::rssCompares_data() {
    QTest::addColumn<QByteArray>("asked");
    QTest::addColumn<QByteArray>("has");
    QTest::addColumn<bool>("met");
    const auto row = [](const char* asked, const char* has, bool met) {
        QTest::addRow("%s, %s", asked, has) << QByteArray(asked) << QByteArray(has) << met;
    };
    row("equal 4", "equal 4", true);
    row("equal 4", "equal 2", false);
    row("weight 1 1", "weight 4 4", true);
    row("weight 5 5 5", "weight 43 43 42", true);
    row("weight 2 1", "weight 4 4", false);
    row("equal 1", "weight 8", true);
    row("weight 1 1", "0 0 1 1", true);
    row("weight 1 1", "0 1 1 1", false);
    row("default", "equal 8", true);
    row("default", "0 0 1 1", false);
    row("6D:5a", "6d:5a", true);
    row("6d:5a", "6d:5b", false);
    row("toeplitz", "xor", false);
}

void TestKnobParts::rssCompares() {
    QFETCH(QByteArray, asked);
    QFETCH(QByteArray, has);
    QTEST(meetsKnobValue("rss:table", asked.toStdString(), has.toStdString()), "met");
}

void TestKnobParts::byHand_data() {
    QTest::addColumn<QByteArray>("knob");
    QTest::addColumn<QByteArray>("value");
    QTest::addColumn<QByteArray>("command");
    const auto row = [](const char* knob, const char* value, const char* command) {
        QTest::addRow("%s %s", knob, value)
            << QByteArray(knob) << QByteArray(value) << QByteArray(command);
    };
    row("sysctl:net.ipv4.tcp_rmem", "4096 131072 6291456",
        "sysctl -w 'net.ipv4.tcp_rmem=4096 131072 6291456'");
    row("link:mtu", "1500", "ip link set dev eth0 mtu 1500");
    row("link:gso_max_size", "65536", "ip link set dev eth0 gso_max_size 65536");
    row("link:speed", "auto", "ethtool -s eth0 autoneg on");
    row("link:speed", "auto 1000", "ethtool -s eth0 autoneg on speed 1000");
    row("link:speed", "100 half", "ethtool -s eth0 autoneg off speed 100 duplex half");
    row("link:speed", "auto (1000baseT/Full 100baseT/Full)",
        "ethtool -s eth0 autoneg on advertise 1000baseT/Full on 100baseT/Full on");
    row("feature:tso", "on", "ethtool -K eth0 tso on");
    row("feature:tso", "on (tx-tcp-segmentation)",
        "ethtool -K eth0 tso off tx-tcp-segmentation on");
    row("private:Smart AN", "off", "ethtool --set-priv-flags eth0 'Smart AN' off");
    row("coalesce:rx-usecs", "3", "ethtool -C eth0 rx-usecs 3");
    row("ring:rx", "256", "ethtool -G eth0 rx 256");
    row("channels:combined", "8", "ethtool -L eth0 combined 8");
    row("pause:autoneg", "on", "ethtool -A eth0 autoneg on");
    row("eee:enabled", "off", "ethtool --set-eee eth0 eee off");
    row("fec:mode", "rs", "ethtool --set-fec eth0 encoding rs");
    row("rss:table", "equal 4", "ethtool -X eth0 equal 4");
    row("rss:table", "0 0 2 0", "ethtool -X eth0 weight 3 0 1");
    row("rss:key", "6d:5a", "ethtool -X eth0 hkey 6d:5a");
    row("rss:hfunc", "xor", "ethtool -X eth0 hfunc xor");
    row("qdisc:root", "default mq", "tc qdisc del dev eth0 root");
    row("qdisc:root", "handle 1: fq limit 100",
        "tc qdisc replace dev eth0 root handle 1: fq limit 100");
    row("napi:defer_hard_irqs", "0", "echo 0 > /sys/class/net/eth0/napi_defer_hard_irqs");
    row("napi:gro_flush_timeout", "0", "echo 0 > /sys/class/net/eth0/gro_flush_timeout");
    row("napi:threaded", "off", "echo 0 > /sys/class/net/eth0/threaded");
    row("rps:cpus", "0-3",
        "for f in /sys/class/net/eth0/queues/rx-*/rps_cpus; do echo f > $f; done");
    row("xps:cpus", "0 none",
        "echo 1 > /sys/class/net/eth0/queues/tx-0/xps_cpus; "
        "echo 0 > /sys/class/net/eth0/queues/tx-1/xps_cpus");
    row("irq:28", "0-1", "echo 0-1 > /proc/irq/28/smp_affinity_list");
    row("cpu:governor", "powersave",
        "for f in /sys/devices/system/cpu/cpufreq/policy*/scaling_governor; do echo powersave > "
        "$f; done");
    row("cpu:turbo", "on", "echo 1 > /sys/devices/system/cpu/cpufreq/boost");
    row("cpu:latency", "none", "");
    row("module:tcp-cubic/hystart", "1", "echo 1 > /sys/module/tcp_cubic/parameters/hystart");
    row("sysfs:kernel/mm/ksm/run", "a b", "echo 'a b' > /sys/kernel/mm/ksm/run");
    row("nonsense", "1", "");
}

void TestKnobParts::byHand() {
    QFETCH(QByteArray, knob);
    QFETCH(QByteArray, value);
    QTemporaryDir nowhere; // so that this computer's own /sys says nothing
    KnobHost host;
    host.sys = host.proc = nowhere.path().toStdString();
    QTEST(QByteArray::fromStdString(
              knobCommand(host, {knob.toStdString(), "eth0"}, value.toStdString())),
          "command");
}

void TestKnobParts::byHandOfYourOwn() {
    KnobHost host;
    protocol::KnobTarget knob{"command:fan", "eth0",
                              protocol::KnobCommands{"get", "set it", "", 1}};
    QCOMPARE(knobCommand(host, knob, "it's"),
             std::string(R"(VALUE='it'\''s' INTERFACE=eth0 sh -c 'set it')"));
    knob.commands->restore = "back";
    QCOMPARE(knobCommand(host, knob, "1"), std::string("VALUE=1 INTERFACE=eth0 sh -c back"));
    knob.commands.reset();
    QCOMPARE(knobCommand(host, knob, "1"), std::string());
}

void TestKnobParts::linksComeBack() {
    int looks = 0;
    CarrierWatch watch([&](const std::string&) { // up, then down three times
        ++looks;
        return Carrier{looks == 1 || looks > 4, 7};
    });
    watch.before("eth0", LinkEffect::Reset);
    watch.before("eth0", LinkEffect::Reset);
    QCOMPARE(looks, 1);
    QVERIFY(!watch.isSettled());
    QVERIFY(watch.wait(10s).empty());
    QCOMPARE(looks, 5);
    QVERIFY(watch.isSettled());
    QVERIFY(watch.wait(10s).empty()); // forgotten
    QCOMPARE(looks, 5);
}

void TestKnobParts::linksStayDown() {
    bool up = true;
    CarrierWatch watch([&](const std::string& interface) -> std::optional<Carrier> {
        if (interface == "gone0" && !up)
            return std::nullopt;
        return Carrier{up, 7};
    });
    for (const char* interface : {"eth0", "eth1", "gone0"})
        watch.before(interface, LinkEffect::Reset);
    up = false;
    QElapsedTimer time;
    time.start();
    QCOMPARE(watch.wait(200ms), (std::vector<std::string>{"eth0", "eth1"}));
    QVERIFY2(time.elapsed() >= 200 && time.elapsed() < 2000,
             qPrintable(QString::number(time.elapsed()))); // altogether
}

/// PHYs are asked now and then: the link is still up just after it was told to negotiate.
void TestKnobParts::linksGoDownLater() {
    int looks = 0;
    CarrierWatch watch([&](const std::string&) {
        ++looks;
        return Carrier{looks < 5 || looks > 8, looks < 5 ? 7U : looks > 8 ? 9U : 8U};
    });
    watch.before("eth0", LinkEffect::Negotiation);
    QVERIFY(watch.wait(10s).empty());
    QCOMPARE(looks, 9);
}

void TestKnobParts::linksThatWereDown() {
    int looks = 0;
    CarrierWatch watch([&](const std::string&) {
        ++looks;
        return Carrier{false, 7};
    });
    watch.before("eth0", LinkEffect::Reset);
    watch.before("lo", LinkEffect::None);
    QVERIFY(watch.wait(10s).empty());
    QCOMPARE(looks, 1);
}

void TestKnobParts::shellRuns() {
    const ShellResult result = runShell("read x; echo \"$VALUE|$INTERFACE|$x\"; echo oh >&2",
                                        {{"VALUE", "a 'b' $c"}, {"INTERFACE", "eth0"}}, 10s);
    QCOMPARE(result.output, std::string("a 'b' $c|eth0|\n"));
    QCOMPARE(result.errors, std::string("oh\n"));
    QCOMPARE(result.failure, std::string());
    // As many bytes as there may be, and no more.
    QCOMPARE(runShell("yes | head -c 1000000", {}, 10s).output.size(), std::size_t{65536});
}

void TestKnobParts::shellFails_data() {
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<QByteArray>("failure");
    QTest::newRow("status") << QByteArray("exit 3") << QByteArray("ended with status 3");
    QTest::newRow("no such program")
        << QByteArray("no-such-program") << QByteArray("ended with status 127");
    QTest::newRow("syntax") << QByteArray("if") << QByteArray("ended with status 2");
    QTest::newRow("signal") << QByteArray("kill -9 $$") << QByteArray("was ended by signal 9");
    QTest::newRow("time") << QByteArray("sleep 60 & sleep 60; echo")
                          << QByteArray("was stopped after 0 s");
}

void TestKnobParts::shellFails() {
    QFETCH(QByteArray, line);
    QElapsedTimer time;
    time.start();
    QTEST(QByteArray::fromStdString(runShell(line.toStdString(), {}, 700ms).failure), "failure");
    QVERIFY(time.elapsed() < 5000);
}

void TestKnobParts::shellIsNotHeldUp() {
    QElapsedTimer time;
    time.start();
    // What goes on in the background keeps the pipe.
    const ShellResult result = runShell("sleep 5 & echo done", {}, 10s);
    QCOMPARE(result.output, std::string("done\n"));
    QVERIFY2(time.elapsed() < 3000, qPrintable(QString::number(time.elapsed())));
}

QTEST_APPLESS_MAIN(TestKnobParts)
#include "tst_knobparts.moc"
