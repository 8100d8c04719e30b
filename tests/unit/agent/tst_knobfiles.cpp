// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/cpulist.h"
#include "agents/agent/kernel/rtlink.h"
#include "tests/unit/agent/kernelknobtest.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <cerrno>
#include <cstring>
#include <unistd.h>

using namespace knobscope;
using namespace knobscope::agent;
using namespace knobscope::test;

namespace {

bool g_ownSysfs = false; ///< /sys shows the test's network

/// A made-up /sys, /proc and /dev.
class Tree {
public:
    Tree() {
        m_host.sys = path("sys");
        m_host.proc = path("proc");
        m_host.dev = path("dev");
        for (const char* folder : {"sys", "proc", "dev"})
            QDir(m_dir.path()).mkpath(QLatin1String(folder));
        // As the kernel numbers it: another number is an interface of another network.
        put("sys/class/net/kv0/ifindex", QByteArray::number(readLink("kv0").index));
    }
    void put(const QByteArray& file, const QByteArray& text) {
        const QString name = m_dir.filePath(QString::fromUtf8(file));
        QDir().mkpath(QFileInfo(name).path());
        QFile out(name);
        QVERIFY(out.open(QIODevice::WriteOnly));
        out.write(text + '\n');
    }
    QByteArray get(const QByteArray& file) const {
        QFile in(m_dir.filePath(QString::fromUtf8(file)));
        return in.open(QIODevice::ReadOnly) ? in.readAll().trimmed() : QByteArray("(none)");
    }
    void link(const QByteArray& file, const QByteArray& target) {
        const QString name = m_dir.filePath(QString::fromUtf8(file));
        QDir().mkpath(QFileInfo(name).path());
        QCOMPARE(::symlink(target.constData(), qPrintable(name)), 0);
    }
    [[nodiscard]] std::string path(const char* file) const {
        return m_dir.filePath(QLatin1String(file)).toStdString();
    }
    QByteArray read(const char* knob) {
        return QByteArray::fromStdString(readKnob(m_host, {knob, "kv0"}));
    }
    QString readError(const char* knob) {
        return errorOf([&] { (void)readKnob(m_host, {knob, "kv0"}); });
    }
    QString write(const char* knob, const char* value) {
        return errorOf([&] { writeKnob(m_host, {knob, "kv0"}, value); });
    }
    KnobHost& host() { return m_host; }

private:
    QTemporaryDir m_dir;
    KnobHost m_host;
};

} // namespace

/// Knobs that are files below /sys, /proc and /dev: in made-up trees, and where the kernel lets a
/// network namespace have its own, real ones.
class TestKnobFiles : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { makeVeth(); }
    void cpuLists_data();
    void cpuLists();
    void sharedValues();
    void queues();
    void realQueues();
    void realNapi();
    void interrupts();
    void interruptsOfOtherDevices();
    void governors();
    void turbo();
    void latency();
    void modules();
    void sysfsFiles();
    void sysfsKeepsToItself_data();
    void sysfsKeepsToItself();
    void otherNetworks();
};

void TestKnobFiles::cpuLists_data() {
    QTest::addColumn<QByteArray>("list");
    QTest::addColumn<QByteArray>("normal"); // empty: no list
    QTest::addColumn<QByteArray>("mask");
    const auto row = [](const char* list, const char* normal, const char* mask) {
        QTest::newRow(list) << QByteArray(list) << QByteArray(normal) << QByteArray(mask);
    };
    row("0", "0", "1");
    row("0-3,8", "0-3,8", "10f");
    row("8,0,1,2-3", "0-3,8", "10f");
    row("none", "none", "0");
    row("31-32", "31-32", "1,80000000");
    row("64", "64", "1,00000000,00000000");
    row("3-1", "", "");
    row("-1", "", "");
    row("1-", "", "");
    row("a", "", "");
    row("0-999999999", "", "");
    row("70000", "", "");
}

void TestKnobFiles::cpuLists() {
    QFETCH(QByteArray, list);
    QFETCH(QByteArray, normal);
    QFETCH(QByteArray, mask);
    const auto cpus = parseCpuList(list.toStdString());
    QCOMPARE(cpus.has_value(), !normal.isEmpty());
    if (!cpus)
        return;
    QCOMPARE(QByteArray::fromStdString(cpuListText(*cpus)), normal);
    QCOMPARE(QByteArray::fromStdString(cpuMaskText(*cpus)), mask);
    QVERIFY(parseCpuMask(mask.toStdString()) == cpus);
    for (const char* wrong : {"", "x", "1,,2", "123456789", "0x1"})
        QVERIFY2(!parseCpuMask(wrong), wrong);
}

void TestKnobFiles::sharedValues() {
    QCOMPARE(joinShared({"1", "1", "1"}), std::string("1"));
    QCOMPARE(joinShared({"1", "2"}), std::string("1 2"));
    QCOMPARE(splitShared("5", 2, "x"), (std::vector<std::string>{"5", "5"}));
    QVERIFY(errorOf([] {
                (void)splitShared("1 2 3", 2, "the queues of eth0");
            }).contains(QLatin1String("the queues of eth0 take one value for all or 2")));
    for (const auto& [a, b, same] : {std::tuple{"0-1", "1,0", true},
                                     {"0", "0 0 0", true},
                                     {"0 1", "0 1", true},
                                     {"0 1", "1 0", false},
                                     {"0 1", "0 1 0", false},
                                     {"none", "none", true},
                                     {"", "0", false}})
        QCOMPARE(sameKnobValue("rps:cpus", a, b), same);
}

void TestKnobFiles::queues() {
    Tree tree;
    for (const char* queue : {"rx-0", "rx-1", "rx-10", "rx-2"}) {
        const QByteArray folder = QByteArray("sys/class/net/kv0/queues/") + queue;
        tree.put(folder + "/rps_cpus", "00000000,00000003");
        tree.put(folder + "/rps_flow_cnt", "0");
    }
    QCOMPARE(tree.read("rps:cpus"), QByteArray("0-1"));
    QCOMPARE(tree.write("rps:cpus", "none 1 2 32"), QString());
    QCOMPARE(tree.get("sys/class/net/kv0/queues/rx-0/rps_cpus"), QByteArray("0"));
    QCOMPARE(tree.get("sys/class/net/kv0/queues/rx-2/rps_cpus"), QByteArray("4"));
    QCOMPARE(tree.get("sys/class/net/kv0/queues/rx-10/rps_cpus"), QByteArray("1,00000000"));
    QCOMPARE(tree.read("rps:cpus"), QByteArray("none 1 2 32"));
    QCOMPARE(tree.write("rps:flow_cnt", "1024"), QString());
    QCOMPARE(tree.read("rps:flow_cnt"), QByteArray("1024"));
    for (const auto& [value, words] :
         {std::pair{"0 1", "the 4 receive queues of kv0 take one value for all or 4"},
          {"x", "takes lists of CPUs such as 0-3,8 or none"}})
        QVERIFY2(tree.write("rps:cpus", value).contains(QLatin1String(words)), value);
    QVERIFY(tree.readError("xps:cpus").contains(QLatin1String("it has no transmit queues")));
}

void TestKnobFiles::realQueues() {
    if (!g_ownSysfs)
        QSKIP("needs a /sys of its own");
    QCOMPARE(readValue("rps:cpus"), QByteArray("none"));
    QCOMPARE(writeError("rps:cpus", "0-1", "kv0"), QString());
    QCOMPARE(readValue("rps:cpus"), QByteArray("0-1"));
    QFile file(QStringLiteral("/sys/class/net/kv0/queues/rx-0/rps_cpus"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll().trimmed().toInt(nullptr, 16), 3);
    QCOMPARE(writeError("rps:cpus", "none", "kv0"), QString());
    // The kernel rounds up to a power of two.
    QCOMPARE(writeError("rps:flow_cnt", "1000", "kv0"), QString());
    QCOMPARE(readValue("rps:flow_cnt"), QByteArray("1024"));
    QCOMPARE(writeError("rps:flow_cnt", "0", "kv0"), QString());
    // A device with one transmit queue has no XPS; one with two has.
    (void)run(
        QStringLiteral("ip link add name kx0 numtxqueues 1 numrxqueues 1 type veth peer name kx1"));
    QVERIFY(readError("xps:cpus", "kx0").contains(QLatin1String("is not supported by this")));
    QCOMPARE(writeError("xps:cpus", "1", "kv0"), QString());
    QCOMPARE(readValue("xps:cpus"), QByteArray("1"));
    QCOMPARE(writeError("xps:cpus", "none", "kv0"), QString());
}

void TestKnobFiles::realNapi() {
    if (!g_ownSysfs)
        QSKIP("needs a /sys of its own");
    QCOMPARE(writeError("napi:gro_flush_timeout", "20000", "kv0"), QString());
    QCOMPARE(readValue("napi:gro_flush_timeout"), QByteArray("20000"));
    QCOMPARE(writeError("napi:gro_flush_timeout", "0", "kv0"), QString());
    QCOMPARE(writeError("napi:defer_hard_irqs", "2", "kv0"), QString());
    QCOMPARE(readValue("napi:defer_hard_irqs"), QByteArray("2"));
    QCOMPARE(writeError("napi:defer_hard_irqs", "0", "kv0"), QString());
    QCOMPARE(readValue("napi:threaded"), QByteArray("off"));
    const QString error = writeError("napi:threaded", "on", "kv0"); // a veth that is down has none
    QVERIFY2(error.isEmpty() || error.contains(QLatin1String("is not supported by this interface")),
             qUtf8Printable(error));
}

void TestKnobFiles::interrupts() {
    Tree tree;
    for (const char* number : {"9", "28", "29", "130"}) {
        tree.put(QByteArray("sys/devices/nic/msi_irqs/") + number, "msix");
        tree.put(QByteArray("proc/irq/") + number + "/smp_affinity_list", "0-1");
        if (qstrcmp(number, "9") != 0) // nobody has asked for that one
            tree.put(QByteArray("proc/irq/") + number + "/kv0-rx/x", "");
    }
    tree.link("sys/class/net/kv0/device", "../../../devices/nic");
    QCOMPARE(tree.read("irq:affinity"), QByteArray("0-1"));
    QCOMPARE(tree.write("irq:affinity", "0 1 0,1"), QString());
    QCOMPARE(tree.get("proc/irq/28/smp_affinity_list"), QByteArray("0"));
    QCOMPARE(tree.get("proc/irq/29/smp_affinity_list"), QByteArray("1"));
    QCOMPARE(tree.get("proc/irq/130/smp_affinity_list"), QByteArray("0-1"));
    QCOMPARE(tree.get("proc/irq/9/smp_affinity_list"), QByteArray("0-1"));
    QCOMPARE(tree.read("irq:affinity"), QByteArray("0 1 0-1"));
    QCOMPARE(tree.read("irq:29"), QByteArray("1"));
    QCOMPARE(tree.write("irq:29", "0"), QString());
    QVERIFY(tree.write("irq:29", "none").contains(QLatin1String("takes lists of CPUs")));
    QVERIFY(tree.write("irq:29", "0 1").contains(QLatin1String("interrupt 29 take one value")));
    QVERIFY(!tree.readError("irq:5").isEmpty());
    // All or none: the last one cannot be written.
    QFile::remove(QString::fromStdString(tree.path("proc/irq/130/smp_affinity_list")));
    QDir().mkpath(QString::fromStdString(tree.path("proc/irq/130/smp_affinity_list")));
    QVERIFY(!tree.write("irq:affinity", "1").isEmpty());
    QCOMPARE(tree.get("proc/irq/28/smp_affinity_list"), QByteArray("0"));
    QCOMPARE(tree.get("proc/irq/29/smp_affinity_list"), QByteArray("0"));
}

void TestKnobFiles::interruptsOfOtherDevices() {
    Tree tree;
    QVERIFY(tree.readError("irq:affinity").contains(QLatin1String("no interrupts of its own")));
    tree.put("sys/devices/bridge/msi_irqs/40", "msi");
    tree.put("sys/devices/bridge/nic/irq", "11");
    tree.put("proc/irq/11/smp_affinity_list", "0");
    tree.put("proc/irq/40/smp_affinity_list", "1");
    tree.link("sys/class/net/kv0/device", "../../../devices/bridge/nic");
    QVERIFY(tree.readError("irq:affinity").contains(QLatin1String("is the interface up?")));
    tree.put("proc/irq/11/kv0/x", "");
    tree.put("proc/irq/40/port/x", "");
    QCOMPARE(tree.read("irq:affinity"), QByteArray("0")); // not that of the bridge above it
    // A virtio device has those of the device that carries it.
    tree.link("sys/devices/bridge/nic/subsystem", "../../../bus/virtio");
    QCOMPARE(tree.read("irq:affinity"), QByteArray("1"));
}

void TestKnobFiles::governors() {
    Tree tree;
    QVERIFY(tree.readError("cpu:governor").contains(QLatin1String("no CPU frequency governors")));
    for (const char* policy : {"policy0", "policy4"}) {
        const QByteArray folder = QByteArray("sys/devices/system/cpu/cpufreq/") + policy;
        tree.put(folder + "/scaling_governor", "powersave");
        tree.put(folder + "/scaling_available_governors", "performance powersave");
    }
    QCOMPARE(tree.read("cpu:governor"), QByteArray("powersave"));
    QCOMPARE(tree.write("cpu:governor", "performance"), QString());
    QCOMPARE(tree.get("sys/devices/system/cpu/cpufreq/policy4/scaling_governor"),
             QByteArray("performance"));
    QCOMPARE(tree.write("cpu:governor", "performance powersave"), QString());
    QCOMPARE(tree.read("cpu:governor"), QByteArray("performance powersave"));
    QVERIFY(sameKnobValue("cpu:governor", "performance performance", "performance"));
}

void TestKnobFiles::turbo() {
    Tree tree;
    QVERIFY(tree.readError("cpu:turbo").contains(QLatin1String("does not let turbo be switched")));
    tree.put("sys/devices/system/cpu/cpufreq/boost", "1");
    QCOMPARE(tree.read("cpu:turbo"), QByteArray("on"));
    QCOMPARE(tree.write("cpu:turbo", "off"), QString());
    QCOMPARE(tree.get("sys/devices/system/cpu/cpufreq/boost"), QByteArray("0"));
    tree.put("sys/devices/system/cpu/intel_pstate/no_turbo", "1");
    QCOMPARE(tree.read("cpu:turbo"), QByteArray("off"));
    QCOMPARE(tree.write("cpu:turbo", "on"), QString());
    QCOMPARE(tree.get("sys/devices/system/cpu/intel_pstate/no_turbo"), QByteArray("0"));
}

void TestKnobFiles::latency() {
    Tree tree;
    const std::int32_t none = 2'000'000'000;
    QFile file(QString::fromStdString(tree.path("dev/cpu_dma_latency")));
    QVERIFY(file.open(QIODevice::ReadWrite | QIODevice::Unbuffered));
    file.write(reinterpret_cast<const char*>(&none), sizeof none);
    QCOMPARE(tree.read("cpu:latency"), QByteArray("none"));
    QCOMPARE(tree.write("cpu:latency", "20"), QString());
    QCOMPARE(tree.read("cpu:latency"), QByteArray("20"));
    QVERIFY(tree.host().latency);
    QCOMPARE(tree.write("cpu:latency", "0"), QString());
    QCOMPARE(tree.read("cpu:latency"), QByteArray("0"));
    QVERIFY(tree.write("cpu:latency", "fast").contains(QLatin1String("takes a whole number")));
    // What the host had is another program's: it needs nothing but that this one lets go.
    restoreKnob(tree.host(), {"cpu:latency", ""}, "5");
    QVERIFY(!tree.host().latency);
}

void TestKnobFiles::modules() {
    Tree tree;
    tree.put("sys/module/fast_nic/parameters/polls", "4");
    tree.put("sys/module/fast_nic/parameters/lazy", "Y");
    tree.put("sys/module/fast_nic/parameters/fixed", "3");
    QFile::setPermissions(QString::fromStdString(tree.path("sys/module/fast_nic/parameters/fixed")),
                          QFile::ReadOwner);
    QCOMPARE(tree.read("module:fast-nic/polls"), QByteArray("4"));
    QCOMPARE(tree.write("module:fast_nic/polls", "8"), QString());
    QCOMPARE(tree.get("sys/module/fast_nic/parameters/polls"), QByteArray("8"));
    QVERIFY(sameKnobValue("module:fast_nic/lazy", "Y", "1"));
    QVERIFY(!sameKnobValue("module:fast_nic/lazy", "Y", "0"));
    QCOMPARE(tree.read("module:fast_nic/fixed"), QByteArray("3"));
    for (const auto& [knob, words] :
         {std::pair{"module:fast_nic/fixed", "cannot be changed while the module is loaded"},
          {"module:slow_nic/polls", "no module slow_nic on this host"},
          {"module:fast_nic/other", "module fast_nic has no parameter other"},
          {"module:fast_nic", "is no parameter of a module"},
          {"module:../../proc/x", "is no parameter of a module"},
          {"module:fast_nic/../polls", "is no parameter of a module"}})
        QVERIFY2(tree.write(knob, "1").contains(QLatin1String(words)), knob);
}

void TestKnobFiles::sysfsFiles() {
    Tree tree;
    tree.put("sys/kernel/mm/hugepages/enabled", "always [madvise] never");
    tree.put("sys/kernel/list", "one  two");
    QCOMPARE(tree.read("sysfs:kernel/mm/hugepages/enabled"), QByteArray("madvise"));
    QCOMPARE(tree.read("sysfs:/sys/kernel/list"), QByteArray("one  two"));
    QCOMPARE(tree.write("sysfs:kernel/list", "three"), QString());
    QCOMPARE(tree.get("sys/kernel/list"), QByteArray("three"));
    QVERIFY(!sameKnobValue("sysfs:kernel/list", "010", "10")); // as it is, whatever it means
}

void TestKnobFiles::sysfsKeepsToItself_data() {
    QTest::addColumn<QByteArray>("knob");
    QTest::addColumn<QByteArray>("words");
    const auto row = [](const char* knob, const char* words) {
        QTest::newRow(knob) << QByteArray(knob) << QByteArray(words);
    };
    row("sysfs:../secret", "is no file below /sys");
    row("sysfs:kernel/../../secret", "is no file below /sys");
    row("sysfs:/etc/passwd", "is no file below /sys");
    row("sysfs:/sys/../etc/passwd", "is no file below /sys");
    row("sysfs:kernel/out", "leads out of /sys");
    row("sysfs:kernel/away/secret", "leads out of /sys");
    row("sysfs:kernel", "is a folder");
    row("sysfs:kernel/none", "cannot find /sys/kernel/none");
}

void TestKnobFiles::sysfsKeepsToItself() {
    QFETCH(QByteArray, knob);
    QFETCH(QByteArray, words);
    Tree tree;
    tree.put("secret", "1");
    tree.put("sysX/secret", "1"); // begins as the folder does
    tree.put("sys/kernel/x", "1");
    tree.link("sys/kernel/out", "../../secret");
    tree.link("sys/kernel/away", "../../sysX");
    QVERIFY2(tree.readError(knob.constData()).contains(QString::fromUtf8(words)),
             qUtf8Printable(tree.readError(knob.constData())));
    QVERIFY(!tree.write(knob.constData(), "2").isEmpty());
    QCOMPARE(tree.get("secret"), QByteArray("1"));
    QCOMPARE(tree.get("sysX/secret"), QByteArray("1"));
}

/// /sys shows the interfaces of the network that it was mounted in: one of the same name there is
/// not the one here.
void TestKnobFiles::otherNetworks() {
    Tree tree;
    tree.put("sys/class/net/kv0/ifindex", "9999");
    tree.put("sys/class/net/kv0/tx_queue_len", "1000");
    tree.put("sys/class/net/kv0/queues/rx-0/rps_cpus", "0");
    for (const char* knob : {"rps:cpus", "napi:threaded", "irq:affinity"})
        QVERIFY2(tree.readError(knob).contains(QLatin1String("another network namespace")), knob);
    QVERIFY(tree.readError("sysfs:class/net/kv0/tx_queue_len")
                .contains(QLatin1String("belongs to another network namespace")));
    QVERIFY(!tree.write("sysfs:class/net/kv0/tx_queue_len", "1").isEmpty());
    QCOMPARE(tree.get("sys/class/net/kv0/tx_queue_len"), QByteArray("1000"));
}

int main(int argc, char** argv) {
    if (!enterOwnNetwork()) {
        std::fprintf(stderr, "no network namespace for the test: %s\n", std::strerror(errno));
        return 1;
    }
    g_ownSysfs = mountOwnSysfs();
    TestKnobFiles tests;
    return QTest::qExec(&tests, argc, argv);
}
#include "tst_knobfiles.moc"
