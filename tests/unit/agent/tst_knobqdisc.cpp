// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/qdiscoptions.h"
#include "agents/agent/kernel/qdiscwire.h"
#include "tests/unit/agent/kernelknobtest.h"

#include <QTest>

#include <cerrno>
#include <cstring>
#include <limits>
#include <linux/rtnetlink.h>

using namespace knobscope;
using namespace knobscope::agent;
using namespace knobscope::test;

namespace {

QByteArray tc(const char* interface = "kt0") {
    return run(QStringLiteral("tc qdisc show dev %1").arg(QLatin1String(interface)));
}

void restore(const char* original, const char* interface = "kt0") {
    KnobHost host;
    restoreKnob(host, {"qdisc:root", interface}, original);
}

std::string parsedText(const char* text) {
    return qdiscText(parseQdisc(text));
}

} // namespace

/// qdisc:root on a tap and a veth in a network namespace of this process; tc is the witness.
class TestKnobQdisc : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void cleanup();
    void defaultIsPutBack();
    void optionsAreTheKernelsDefaultsAgain();
    void tbf();
    void handleIsKept();
    void kindsThatTheKernelLacks();
    void refusesWhatItCouldNotPutBack();
    void texts_data();
    void texts();
    void wrongTexts_data();
    void wrongTexts();
    void compares_data();
    void compares();
    void quantities_data();
    void quantities();
    void survivesTheWire_data();
    void survivesTheWire();
    void answersCutShort();
};

void TestKnobQdisc::initTestCase() {
    makeVeth();
    (void)run(QStringLiteral("ip tuntap add kt0 mode tap"));
    (void)run(QStringLiteral("ip link set kt0 up"));
    QVERIFY(tc().contains("qdisc"));
}

void TestKnobQdisc::cleanup() {
    restore("default");
    QVERIFY2(readValue("qdisc:root", "kt0").startsWith("default"), readValue("qdisc:root", "kt0"));
}

void TestKnobQdisc::defaultIsPutBack() {
    const QByteArray before = tc();
    const QByteArray original = readValue("qdisc:root", "kt0");
    QVERIFY2(original.startsWith("default "), original);
    QCOMPARE(writeError("qdisc:root", "pfifo limit 77", "kt0"), QString());
    QCOMPARE(readValue("qdisc:root", "kt0"), QByteArray("pfifo limit 77"));
    QVERIFY2(tc().contains("limit 77p"), tc());
    restore(original);
    QCOMPARE(tc(), before);
    restore(original);                                             // once more is no error
    QCOMPARE(readValue("qdisc:root"), QByteArray("default noop")); // of a veth that is down
}

void TestKnobQdisc::optionsAreTheKernelsDefaultsAgain() {
    QCOMPARE(writeError("qdisc:root", "pfifo", "kt0"), QString());
    const QByteArray plain = readValue("qdisc:root", "kt0");
    QCOMPARE(writeError("qdisc:root", "pfifo limit 5", "kt0"), QString());
    QVERIFY(!sameKnobValue("qdisc:root", "pfifo", readValue("qdisc:root", "kt0").toStdString()));
    // The kernel would keep the limit if the same kind were only changed.
    QCOMPARE(writeError("qdisc:root", "pfifo", "kt0"), QString());
    QCOMPARE(readValue("qdisc:root", "kt0"), plain);
    QVERIFY(meetsKnobValue("qdisc:root", "pfifo", plain.toStdString()));
}

void TestKnobQdisc::tbf() {
    const char* const asked = "tbf rate 1gbit burst 256k latency 50ms";
    QCOMPARE(writeError("qdisc:root", asked, "kt0"), QString());
    const QByteArray has = readValue("qdisc:root", "kt0");
    QVERIFY2(meetsKnobValue("qdisc:root", asked, has.toStdString()), has);
    QVERIFY2(
        !meetsKnobValue("qdisc:root", "tbf rate 2gbit burst 256k latency 50ms", has.toStdString()),
        has);
    const QByteArray shown = tc();
    QVERIFY2(shown.contains("rate 1Gbit burst") && shown.contains("lat 50ms"), shown);
    // What was read is what can be put back.
    restore("default");
    restore(has);
    QCOMPARE(tc().mid(shown.indexOf("root")), shown.mid(shown.indexOf("root")));
    QCOMPARE(readValue("qdisc:root", "kt0"), has);
    QCOMPARE(writeError("qdisc:root", "tbf rate 100gbit burst 1m limit 2m", "kt0"), QString());
    QVERIFY2(tc().contains("rate 100Gbit"), tc()); // more than 32 bits of bytes
}

void TestKnobQdisc::handleIsKept() {
    (void)run(QStringLiteral("tc qdisc replace dev kt0 root handle 1f: pfifo limit 9"));
    const QByteArray original = readValue("qdisc:root", "kt0");
    QCOMPARE(original, QByteArray("handle 1f: pfifo limit 9"));
    QCOMPARE(writeError("qdisc:root", "bfifo", "kt0"), QString());
    restore(original);
    QVERIFY2(tc().contains("qdisc pfifo 1f: root refcnt 2 limit 9p"), tc());
    QCOMPARE(writeError("qdisc:root", "handle 1f: bfifo limit 3000", "kt0"), QString());
    QCOMPARE(readValue("qdisc:root", "kt0"), QByteArray("handle 1f: bfifo limit 3000"));
}

void TestKnobQdisc::kindsThatTheKernelLacks() {
    int lacking = 0;
    for (const char* kind : {"fq", "fq_codel", "codel", "sfq", "pie"}) {
        const QString error = writeError("qdisc:root", kind, "kt0");
        const QByteArray now = readValue("qdisc:root", "kt0");
        if (error.isEmpty()) {
            QVERIFY2(now.startsWith(QByteArray(kind) + ' '), now);
            restore("default");
            continue;
        }
        ++lacking;
        QVERIFY2(error.contains(
                     QStringLiteral("this kernel has no qdisc %1: ").arg(QLatin1String(kind))),
                 qUtf8Printable(error));
        QVERIFY2(now.startsWith("default "), now);
    }
    if (lacking == 0)
        QSKIP("this kernel has them all");
}

void TestKnobQdisc::refusesWhatItCouldNotPutBack() {
    (void)run(QStringLiteral("tc qdisc replace dev kt0 root handle 1: htb"));
    const QString error = readError("qdisc:root", "kt0");
    QVERIFY2(error.contains(QLatin1String("its root qdisc is htb, which could not be put back")),
             qUtf8Printable(error));
    QVERIFY(!writeError("qdisc:root", "pfifo", "kt0").isEmpty());
    QVERIFY2(tc().contains("qdisc htb 1:"), tc());
    (void)run(QStringLiteral("tc qdisc del dev kt0 root"));
    (void)run(QStringLiteral("tc qdisc replace dev kt0 root handle 1: tbf rate 1mbit burst 10k "
                             "latency 50ms"));
    (void)run(QStringLiteral("tc qdisc replace dev kt0 parent 1:1 handle 2: pfifo limit 3"));
    QVERIFY2(readError("qdisc:root", "kt0").contains(QLatin1String("has others below it")),
             qUtf8Printable(readError("qdisc:root", "kt0")));
    (void)run(QStringLiteral("tc qdisc del dev kt0 root"));
}

void TestKnobQdisc::texts_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("written");
    const auto row = [](const char* text, const char* written) {
        QTest::newRow(text) << QByteArray(text) << QByteArray(written);
    };
    row("default", "default");
    row("default mq", "default mq");
    row("pfifo_fast", "pfifo_fast");
    row("noqueue", "noqueue");
    row("fq limit 100p flow_limit 10 nopacing", "fq limit 100 flow_limit 10 nopacing");
    row("fq maxrate 100mbit quantum 2k", "fq quantum 2048 maxrate 100mbit");
    row("fq horizon 10s horizon_cap refill_delay 40ms",
        "fq refill_delay 40ms horizon 10s horizon_cap");
    row("fq_codel target 5000 interval 100ms ecn", "fq_codel target 5ms interval 100ms ecn");
    row("tbf rate 1Gbit burst 256KB latency 50ms", "tbf rate 1gbit burst 262144 limit 6512144");
    row("tbf limit 3000 burst 1500 rate 8kbps", "tbf rate 64kbit burst 1500 limit 3000");
    row("netem delay 1.5ms 100us loss 0.1% limit 2000",
        "netem limit 2000 delay 1500us 100us loss 0.1%");
    row("netem delay 10ms limit 7", "netem limit 7 delay 10ms");
    row("handle 1f: pfifo limit 3", "handle 1f: pfifo limit 3");
    row(" pfifo  limit\t3 ", "pfifo limit 3");
}

void TestKnobQdisc::texts() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, written);
    QCOMPARE(QByteArray::fromStdString(parsedText(text)), written);
    QCOMPARE(QByteArray::fromStdString(parsedText(written)), written);
}

void TestKnobQdisc::wrongTexts_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("words");
    const auto row = [](const char* text, const char* words) {
        QTest::newRow(text) << QByteArray(text) << QByteArray(words);
    };
    row("", "takes default");
    row("htb", "takes default, pfifo, bfifo");
    row("no_such", "not 'no_such'");
    row("pfifo limit", "limit takes a whole number");
    row("pfifo limit many", "not 'many'");
    row("pfifo limit -1", "not '-1'");
    row("pfifo burst 3", "has no option 'burst' here; it has limit");
    row("pfifo_fast limit 3", "has no option 'limit' here; it has none");
    row("fq quantum 3x", "a size such as 256k");
    row("fq maxrate fast", "a rate such as 100mbit");
    row("codel target 5m", "a time such as 50ms");
    row("netem loss 200%", "a share such as 0.1%");
    row("tbf rate 1mbit", "needs rate, burst");
    row("tbf rate 0 burst 1k limit 1k", "needs rate, burst");
    row("handle 1 pfifo", "handle is a hexadecimal number");
    row("handle ffff: pfifo", "handle is a hexadecimal number");
    row("handle 1:", "takes default");
}

void TestKnobQdisc::wrongTexts() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, words);
    const QString error = errorOf([&] { (void)parseQdisc(text.toStdString()); });
    QVERIFY2(error.contains(QString::fromUtf8(words)), qUtf8Printable(error));
}

void TestKnobQdisc::compares_data() {
    QTest::addColumn<QByteArray>("asked");
    QTest::addColumn<QByteArray>("has");
    QTest::addColumn<bool>("same");
    QTest::addColumn<bool>("met");
    const auto row = [](const char* asked, const char* has, bool same, bool met) {
        QTest::addRow("%s, %s", asked, has) << QByteArray(asked) << QByteArray(has) << same << met;
    };
    row("default", "default fq_codel", true, true);
    row("default", "pfifo_fast", false, false);
    row("fq", "fq limit 10000 pacing", false, true);
    row("fq limit 10000", "fq limit 10000 pacing", false, true);
    row("fq limit 9999", "fq limit 10000", false, false);
    row("fq", "fq_codel limit 1", false, false);
    row("codel target 5ms", "codel target 4999us", true, true);
    row("codel target 5ms", "codel target 6ms", false, false);
    row("tbf rate 1gbit burst 256k latency 50ms", "tbf rate 1gbit burst 262136 limit 6512144", true,
        true);
    row("tbf rate 1gbit burst 256k latency 50ms", "tbf rate 1gbit burst 131072 limit 6512144",
        false, false);
    row("pfifo limit 3", "handle 1: pfifo limit 3", false, true);
    row("handle 1: pfifo limit 3", "pfifo limit 3", false, false);
    row("nonsense", "nonsense", true, true);
}

void TestKnobQdisc::compares() {
    QFETCH(QByteArray, asked);
    QFETCH(QByteArray, has);
    QTEST(sameKnobValue("qdisc:root", asked.toStdString(), has.toStdString()), "same");
    QTEST(meetsKnobValue("qdisc:root", asked.toStdString(), has.toStdString()), "met");
}

void TestKnobQdisc::quantities_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<qulonglong>("rate"); // the most: no such quantity
    QTest::addColumn<qulonglong>("size");
    QTest::addColumn<qulonglong>("time");
    constexpr qulonglong kNone = std::numeric_limits<qulonglong>::max();
    const auto row = [](const char* text, qulonglong rate, qulonglong size, qulonglong time) {
        QTest::newRow(text) << QByteArray(text) << rate << size << time;
    };
    row("100", 100, 100, 100'000);
    row("0", 0, 0, 0);
    row("1.5mbit", 1'500'000, kNone, kNone);
    row("2kbps", 16'000, kNone, kNone);
    row("1.5k", kNone, 1536, kNone);
    row("1M", kNone, 1'048'576, kNone);
    row("2s", kNone, kNone, 2'000'000'000);
    row("3US", kNone, kNone, 3000);
    for (const char* text : {"", "k", ".", ".5s", "1..5s", "1.s", "-1s", "+1s", "1 s", "1e3s",
                             "99999999999999999999s", "18446744073709551616", "1.0000000001s"})
        row(text, kNone, kNone, kNone);
}

void TestKnobQdisc::quantities() {
    QFETCH(QByteArray, text);
    constexpr auto kNone = std::numeric_limits<std::uint64_t>::max();
    QTEST(qulonglong{parseRate(text.toStdString()).value_or(kNone)}, "rate");
    QTEST(qulonglong{parseSize(text.toStdString()).value_or(kNone)}, "size");
    QTEST(qulonglong{parseTime(text.toStdString()).value_or(kNone)}, "time");
}

void TestKnobQdisc::survivesTheWire_data() {
    QTest::addColumn<QByteArray>("text");
    for (const char* text :
         {"pfifo limit 1000", "bfifo limit 3000", "pfifo_fast", "noqueue", "mq",
          "fq limit 10000 flow_limit 100 buckets 1024 orphan_mask 1023 quantum 3028 "
          "initial_quantum 15140 pacing maxrate 100mbit low_rate_threshold 550kbit refill_delay "
          "40ms timer_slack 10us horizon 10s horizon_drop",
          "fq_codel limit 10240 flows 1024 quantum 1514 memory_limit 33554432 drop_batch 64 ecn",
          "pie limit 1000 target 15ms tupdate 15ms alpha 2 beta 20 noecn nobytemode",
          "sfq limit 127 quantum 1514 divisor 1024 flows 127 perturb 10",
          "netem limit 1000 delay 10ms 1ms loss 1%", "netem limit 1000"})
        QTest::newRow(text) << QByteArray(text);
}

/// The kernel tells an option with the attribute that sets it.
void TestKnobQdisc::survivesTheWire() {
    QFETCH(QByteArray, text);
    NetlinkBody body{std::uint32_t{0}};
    putQdisc(body, parseQdisc(text.toStdString()));
    const std::string bytes = body.bytes().substr(sizeof(std::uint32_t));
    QCOMPARE(QByteArray::fromStdString(qdiscText(qdiscFrom(NetlinkAttributes(bytes)))), text);
}

void TestKnobQdisc::answersCutShort() {
    for (const char* text : {"tbf rate 1gbit burst 256k latency 50ms", "netem delay 10ms",
                             "sfq perturb 10", "pfifo limit 3", "fq limit 3"}) {
        NetlinkBody body{std::uint32_t{0}};
        putQdisc(body, parseQdisc(text));
        const std::string bytes = body.bytes().substr(sizeof(std::uint32_t));
        for (std::size_t i = 0; i <= bytes.size(); ++i)
            (void)errorOf(
                [&] { (void)qdiscFrom(NetlinkAttributes(std::string_view(bytes).substr(0, i))); });
    }
}

int main(int argc, char** argv) {
    if (!enterOwnNetwork()) {
        std::fprintf(stderr, "no network namespace for the test: %s\n", std::strerror(errno));
        return 1;
    }
    TestKnobQdisc tests;
    return QTest::qExec(&tests, argc, argv);
}
#include "tst_knobqdisc.moc"
