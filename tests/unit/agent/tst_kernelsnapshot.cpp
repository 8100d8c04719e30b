// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/counters.h"
#include "agents/agent/kernel/rtlink.h"
#include "agents/agent/kernel/snapshot.h"
#include "tests/unit/agent/kernelnamespace.h"

#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTest>

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <net/if.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace knobscope;
using namespace knobscope::agent;
using test::witness;

namespace {

sockaddr_in address(const char* ip, std::uint16_t port) {
    sockaddr_in result{};
    result.sin_family = AF_INET;
    result.sin_port = htons(port);
    ::inet_pton(AF_INET, ip, &result.sin_addr);
    return result;
}

/// One refused TCP connection to ourselves.
void connectToClosedPort() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in to = address("127.0.0.1", 9);
    QVERIFY(::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0);
    ::close(fd);
}

/// `count` UDP datagrams out of the interface.
void broadcast(const char* interface, int count) {
    const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
    ::setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface,
                 static_cast<socklen_t>(std::strlen(interface)));
    const sockaddr_in to = address("10.99.0.255", 9);
    for (int i = 0; i < count; ++i)
        QCOMPARE(::sendto(fd, "x", 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to), 1);
    ::close(fd);
}

std::uint64_t delta(const protocol::Snapshot& before, const protocol::Snapshot& after,
                    const char* source, const char* name) {
    return after.counters.at(source).at(name) - before.counters.at(source).at(name);
}

/// The witness read between two snapshots must lie between them.
void verifyBetween(const Counters& before, const QMap<QByteArray, qulonglong>& seen,
                   const Counters& after, int least) {
    int compared = 0;
    for (auto it = seen.begin(); it != seen.end(); ++it) {
        const std::string name = it.key().toStdString();
        if (!before.contains(name) || !after.contains(name))
            continue;
        QVERIFY2(before.at(name) <= it.value() && it.value() <= after.at(name),
                 it.key() + " is " + QByteArray::number(it.value()) + ", not " +
                     QByteArray::number(qulonglong{after.at(name)}));
        ++compared;
    }
    QVERIFY2(compared >= least, QByteArray::number(compared));
}

} // namespace

/// Counters and facts of a real veth in a network namespace of this process, against what ip,
/// ethtool and nstat say of the same.
class TestKernelSnapshot : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void sourcesThatMustBeThere();
    void refusedConnectionIsCounted();
    void protocolCountersAsNstat();
    void interfaceCountersAsIp();
    void driverCountersAsEthtool();
    void noInterface_data();
    void noInterface();
    void isQuick();
    void cpuOfABusyProcess();
    void machineIdTellsNamespaces();
    void hostFacts();
    void sshInterface_data();
    void sshInterface();
    void interfaceFacts();
    void interfaceNames();
};

void TestKernelSnapshot::initTestCase() {
    const QStringList commands{QStringLiteral("link add name kv0 type veth peer name kv1"),
                               QStringLiteral("addr add 10.99.0.1/24 dev kv0"),
                               QStringLiteral("link set lo up"),
                               QStringLiteral("link set kv0 up"),
                               QStringLiteral("link set kv1 up"),
                               QStringLiteral("link set kv0 mtu 4321 txqueuelen 77")};
    for (const QString& command : commands)
        (void)witness(QStringLiteral("ip"), command.split(u' '));
    QCOMPARE(readLink("kv0").mtu.value_or(0), std::uint64_t{4321});
}

void TestKernelSnapshot::sourcesThatMustBeThere() {
    const protocol::Snapshot snapshot = takeSnapshot("kv0");
    for (const char* source : {"snmp", "netstat", "softnet", "interface", "ethtool"})
        QVERIFY2(snapshot.counters.contains(source), source);
    QVERIFY(snapshot.time_ns > 0);
    QVERIFY(!snapshot.counters.at("snmp").contains("TcpMaxConn")); // -1
    for (const auto& [source, counters] : snapshot.counters)
        for (const auto& [name, value] : counters)
            QVERIFY2(value < std::uint64_t{1} << 63, (source + " " + name).c_str());
}

void TestKernelSnapshot::refusedConnectionIsCounted() {
    const protocol::Snapshot before = takeSnapshot({});
    connectToClosedPort();
    const protocol::Snapshot after = takeSnapshot({});
    QCOMPARE(delta(before, after, "snmp", "TcpActiveOpens"), std::uint64_t{1});
    QCOMPARE(delta(before, after, "snmp", "TcpAttemptFails"), std::uint64_t{1});
    QCOMPARE(delta(before, after, "snmp", "TcpOutRsts"), std::uint64_t{1});
    QVERIFY(delta(before, after, "netstat", "IpExtInOctets") > 0);
    QVERIFY(after.time_ns > before.time_ns);
}

void TestKernelSnapshot::protocolCountersAsNstat() {
    connectToClosedPort();
    const protocol::Snapshot before = takeSnapshot({});
    const QByteArray json = witness(QStringLiteral("nstat"), {QStringLiteral("-aszj")});
    const protocol::Snapshot after = takeSnapshot({});
    QMap<QByteArray, qulonglong> seen;
    const QJsonObject kernel =
        QJsonDocument::fromJson(json).object()[QLatin1String("kernel")].toObject();
    for (auto it = kernel.begin(); it != kernel.end(); ++it)
        seen[it.key().toUtf8()] = static_cast<qulonglong>(it.value().toDouble());
    QVERIFY(seen["TcpActiveOpens"] > 0);
    verifyBetween(before.counters.at("snmp"), seen, after.counters.at("snmp"), 50);
    verifyBetween(before.counters.at("netstat"), seen, after.counters.at("netstat"), 50);
    if (before.counters.contains("snmp6"))
        verifyBetween(before.counters.at("snmp6"), seen, after.counters.at("snmp6"), 20);
}

void TestKernelSnapshot::interfaceCountersAsIp() {
    const protocol::Snapshot first = takeSnapshot("kv0");
    broadcast("kv0", 5);
    const protocol::Snapshot before = takeSnapshot("kv0");
    QVERIFY(delta(first, before, "interface", "tx_packets") >= 5);
    const QByteArray json = witness(
        QStringLiteral("ip"), {QStringLiteral("-j"), QStringLiteral("-s"), QStringLiteral("link"),
                               QStringLiteral("show"), QStringLiteral("kv0")});
    const protocol::Snapshot after = takeSnapshot("kv0");
    const QJsonObject statistics =
        QJsonDocument::fromJson(json).array().at(0).toObject()[QLatin1String("stats64")].toObject();
    QMap<QByteArray, qulonglong> seen;
    for (const char* direction : {"rx", "tx"}) {
        const QJsonObject half = statistics[QLatin1String(direction)].toObject();
        for (const char* name : {"bytes", "packets", "errors", "dropped"})
            seen[QByteArray(direction) + '_' + name] =
                static_cast<qulonglong>(half[QLatin1String(name)].toDouble(-1));
    }
    verifyBetween(before.counters.at("interface"), seen, after.counters.at("interface"), 8);
}

void TestKernelSnapshot::driverCountersAsEthtool() {
    const protocol::Snapshot before = takeSnapshot("kv0");
    const QList<QByteArray> lines =
        witness(QStringLiteral("ethtool"), {QStringLiteral("-S"), QStringLiteral("kv0")})
            .split('\n');
    const protocol::Snapshot after = takeSnapshot("kv0");
    QMap<QByteArray, qulonglong> seen;
    for (const QByteArray& line : lines)
        if (const auto colon = line.lastIndexOf(": "); colon > 0)
            seen[line.left(colon).trimmed()] = line.mid(colon + 2).trimmed().toULongLong();
    QVERIFY(!seen.isEmpty());
    QCOMPARE(static_cast<std::size_t>(seen.size()), before.counters.at("ethtool").size());
    verifyBetween(before.counters.at("ethtool"), seen, after.counters.at("ethtool"),
                  static_cast<int>(seen.size()));
    QCOMPARE(before.counters.at("ethtool").at("peer_ifindex"),
             std::uint64_t{::if_nametoindex("kv1")});
}

void TestKernelSnapshot::noInterface_data() {
    QTest::addColumn<QByteArray>("interface");
    QTest::newRow("none") << QByteArray();
    QTest::newRow("unknown") << QByteArray("nix0");
    QTest::newRow("too long") << QByteArray(300, 'x');
}

void TestKernelSnapshot::noInterface() {
    QFETCH(QByteArray, interface);
    const protocol::Snapshot snapshot = takeSnapshot(interface.toStdString());
    QVERIFY(!snapshot.counters.contains("interface"));
    QVERIFY(!snapshot.counters.contains("ethtool"));
    QVERIFY(snapshot.counters.contains("snmp"));
    const protocol::Environment environment = readEnvironment(interface.toStdString());
    QVERIFY(!environment.facts.contains("link.mtu"));
    QVERIFY(!environment.facts.contains("nic.driver"));
    QVERIFY(environment.facts.contains("kernel"));
}

void TestKernelSnapshot::isQuick() {
    // 2 ms on a quiet host; the best of many shows it on a busy one as well.
    qint64 best = std::numeric_limits<qint64>::max();
    for (int i = 0; i < 200 && best > 2'000'000; ++i) {
        QElapsedTimer timer;
        timer.start();
        (void)takeSnapshot("kv0");
        best = std::min(best, timer.nsecsElapsed());
    }
    // An unoptimised or instrumented build is allowed five times as long.
    QVERIFY2(best < 10'000'000, QByteArray::number(best) + " ns");
}

void TestKernelSnapshot::cpuOfABusyProcess() {
    const CpuReading before = readCpu();
    CpuReading after = before;
    // The witness is the process's own clock.
    const std::clock_t start = std::clock();
    while (std::clock() - start < CLOCKS_PER_SEC * 3 / 10)
        after = readCpu();
    after = readCpu();
    const protocol::CpuUse use = cpuUse(before, after);
    const double own = use.agent_user_s + use.agent_system_s;
    QVERIFY2(own > 0.25 && own < 2, QByteArray::number(own));
    QVERIFY(use.elapsed_s >= own * 0.9);
    QCOMPARE(use.cpus, static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)));
    const double busy =
        use.user_s + use.nice_s + use.system_s + use.irq_s + use.softirq_s + use.steal_s;
    QVERIFY2(busy > 0.1, QByteArray::number(busy));
    // Ticks are coarse: allow some for each CPU.
    const double tick = 0.05 * use.cpus;
    QVERIFY(busy + use.idle_s <= use.elapsed_s * use.cpus * 1.1 + tick);
    QVERIFY(use.busiest_cpu_percent > 10 && use.busiest_cpu_percent <= 100);
}

void TestKernelSnapshot::machineIdTellsNamespaces() {
    const std::string here = machineId();
    QVERIFY(here.size() > 36);
    QCOMPARE(machineId(), here);
    int ends[2];
    QCOMPARE(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const std::string there = ::unshare(CLONE_NEWNET) == 0 ? machineId() : "";
        const ssize_t written = ::write(ends[1], there.data(), there.size());
        ::_exit(written > 0 ? 0 : 1);
    }
    ::close(ends[1]);
    char buffer[200];
    const ssize_t got = ::read(ends[0], buffer, sizeof buffer);
    ::close(ends[0]);
    QCOMPARE(::waitpid(child, nullptr, 0), child);
    QVERIFY(got > 0);
    const std::string there(buffer, static_cast<std::size_t>(got));
    QVERIFY(there != here);
    QCOMPARE(there.substr(0, 36), here.substr(0, 36)); // the same boot
}

void TestKernelSnapshot::hostFacts() {
    const auto facts = readEnvironment({}).facts;
    QCOMPARE(QByteArray::fromStdString(facts.at("kernel")),
             witness(QStringLiteral("uname"), {QStringLiteral("-r")}).trimmed());
    QCOMPARE(QByteArray::fromStdString(facts.at("cpu.count")),
             witness(QStringLiteral("getconf"), {QStringLiteral("_NPROCESSORS_ONLN")}).trimmed());
    QCOMPARE(QByteArray::fromStdString(facts.at("sysctl.net.ipv4.tcp_rmem")),
             witness(QStringLiteral("cat"), {QStringLiteral("/proc/sys/net/ipv4/tcp_rmem")})
                 .simplified());
    QVERIFY(facts.contains("os"));
    QVERIFY(std::stoull(facts.at("memory.total_kb")) > 1000);
    for (const auto& [name, value] : facts)
        QVERIFY2(!value.empty(), name.c_str());
    const std::string irqbalance = facts.at("processes.irqbalance");
    QVERIFY2(irqbalance == "running" || irqbalance == "not running", irqbalance.c_str());
}

void TestKernelSnapshot::sshInterface_data() {
    QTest::addColumn<QByteArray>("connection");
    QTest::addColumn<QByteArray>("interface"); // empty: not told
    QTest::newRow("IPv4") << QByteArray("192.0.2.1 50000 10.99.0.1 22") << QByteArray("kv0");
    QTest::newRow("IPv4 in IPv6") << QByteArray("::ffff:192.0.2.1 50000 ::ffff:10.99.0.1 22")
                                  << QByteArray("kv0");
    QTest::newRow("link-local") << QByteArray("fe80::1%kv1 50000 fe80::2%kv1 22")
                                << QByteArray("kv1");
    QTest::newRow("an address of nobody")
        << QByteArray("192.0.2.1 50000 192.0.2.2 22") << QByteArray();
    QTest::newRow("not of ssh") << QByteArray("10.99.0.1") << QByteArray();
}

void TestKernelSnapshot::sshInterface() {
    QFETCH(QByteArray, connection);
    QFETCH(QByteArray, interface);
    qputenv("SSH_CONNECTION", connection);
    const auto facts = readEnvironment({}).facts;
    qunsetenv("SSH_CONNECTION");
    const auto fact = facts.find("ssh.interface");
    QCOMPARE(fact == facts.end() ? QByteArray() : QByteArray::fromStdString(fact->second),
             interface);
}

void TestKernelSnapshot::interfaceFacts() {
    const auto facts = readEnvironment("kv0").facts;
    QCOMPARE(facts.at("link.mtu"), std::string("4321"));
    QCOMPARE(facts.at("link.txqueuelen"), std::string("77"));
    QCOMPARE(facts.at("link.carrier"), std::string("up"));
    QVERIFY2(facts.at("link.address").starts_with("10.99.0.1/24"),
             facts.at("link.address").c_str());
    QCOMPARE(facts.at("nic.driver"), std::string("veth"));
    QVERIFY(!facts.contains("nic.firmware"));
    QCOMPARE(facts.at("link.speed_mbit"), std::string("10000"));
    QCOMPARE(facts.at("link.duplex"), std::string("full"));
    QCOMPARE(facts.at("feature.tso"), std::string("on"));
    QCOMPARE(facts.at("feature.lro"), std::string("off (fixed)"));
    QCOMPARE(facts.at("channels.rx"), std::string("1"));
    QCOMPARE(facts.at("qdisc.root").substr(0, 7), std::string("default"));
    QCOMPARE(facts.at("channels.rx-max"), facts.at("channels.tx-max"));
    // What a veth does not have is absent rather than 0.
    QVERIFY(!facts.contains("coalesce.rx-usecs"));
    QVERIFY(!facts.contains("ring.rx"));
    QVERIFY(!facts.contains("pause.rx"));
}

void TestKernelSnapshot::interfaceNames() {
    const std::vector<std::string> names = readEnvironment({}).interfaces;
    QCOMPARE(names.size(), std::size_t{3});
    for (const char* name : {"lo", "kv0", "kv1"})
        QVERIFY2(std::find(names.begin(), names.end(), name) != names.end(), name);
}

int main(int argc, char** argv) {
    if (!test::enterOwnNetwork()) {
        std::fprintf(stderr, "no network namespace for the test: %s\n", std::strerror(errno));
        return 1;
    }
    TestKernelSnapshot tests;
    return QTest::qExec(&tests, argc, argv);
}
#include "tst_kernelsnapshot.moc"
