// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/lab/labrun.h"

#include <QElapsedTimer>
#include <QJsonArray>
#include <QProcess>
#include <QTest>

using namespace knobscope;
using namespace knobscope::test;

namespace {

const QString kLimit = QStringLiteral("net.ipv4.tcp_limit_output_bytes");
const QString kCongestion = QStringLiteral("net.ipv4.tcp_congestion_control");

QJsonObject axis(const QString& knob, const QJsonArray& values,
                 const QString& side = QStringLiteral("both")) {
    return {{QStringLiteral("knob"), knob},
            {QStringLiteral("side"), side},
            {QStringLiteral("values"), values}};
}

QString field(const QJsonObject& event, const char* name) {
    return event.value(QLatin1String(name)).toString();
}

/// "title: detail" of all checks in this state.
QStringList checks(const CliProcess& cli, const char* state) {
    QStringList found;
    for (const QJsonObject& event : cli.events()) {
        if (field(event, "event") == QLatin1String("check") &&
            field(event, "state") == QLatin1String(state))
            found.append(field(event, "title") + QStringLiteral(": ") + field(event, "detail"));
    }
    return found;
}

bool anyHas(const QStringList& texts, const QString& part) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const QString& text) { return text.contains(part); });
}

} // namespace

/// What is found out, and told, before a run: on real hosts over SSH.
class TestPreflight : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void showsHowAHostIsReached();
    void tellsEveryChange();
    void refusesAValueBeforeAnyTraffic();
    void measuresTheRest();
    void refusesWhenNothingIsLeft();
    void findsAPathThatDropsLargePackets();
    void findsMtusThatDoNotFit();
    void guardsTheInterfaceOfSsh();
    void guardedHostIsBackSooner();
    void commandsNeedPermission();
    void commandKnobIsPutBack();
    void commandThatFailsIsRefused();

private:
    [[nodiscard]] QString write(const QJsonArray& axes, const QJsonObject& more = {}) const;
    [[nodiscard]] QJsonObject overControlNetwork() const;
    [[nodiscard]] QJsonObject fan(const QString& set) const;
    [[nodiscard]] QString fanOf(const QString& host) const;

    Lab m_lab;
    std::unique_ptr<LabRun> m_run;
};

void TestPreflight::initTestCase() {
    QVERIFY2(m_lab.up({QStringLiteral("--rate"), QStringLiteral("500mbit")}),
             qPrintable(m_lab.error()));
    m_run = std::make_unique<LabRun>(m_lab);
    for (const Lab::Host& host : m_lab.hosts())
        QVERIFY(m_lab
                    .exec(host.name, {QStringLiteral("sh"), QStringLiteral("-c"),
                                      QStringLiteral("echo 3 > /run/fan")})
                    .ok());
}

QString TestPreflight::write(const QJsonArray& axes, const QJsonObject& more) const {
    QJsonObject experiment{
        {QStringLiteral("hosts"), m_run->hosts()},
        {QStringLiteral("test"), QJsonObject{{QStringLiteral("kind"), QStringLiteral("tcp_stream")},
                                             {QStringLiteral("seconds"), 0.2}}},
        {QStringLiteral("axes"), axes},
        {QStringLiteral("plan"), QJsonObject{{QStringLiteral("repeats"), 1}}}};
    for (auto it = more.begin(); it != more.end(); ++it)
        experiment.insert(it.key(), it.value());
    return m_run->write(experiment);
}

/// The hosts with the interface over which SSH reaches them as the test interface.
QJsonObject TestPreflight::overControlNetwork() const {
    QJsonObject hosts;
    for (int i = 0; i < 2; ++i) {
        const Lab::Host& at = m_lab.host(i);
        hosts.insert(i == 0 ? QStringLiteral("sender") : QStringLiteral("receiver"),
                     QJsonObject{{QStringLiteral("ssh"), at.name},
                                 {QStringLiteral("address"), at.controlAddress},
                                 {QStringLiteral("interface"), at.controlInterface}});
    }
    return {{QStringLiteral("hosts"), hosts}};
}

/// A knob of the user's own: the number in /run/fan.
QJsonObject TestPreflight::fan(const QString& set) const {
    const QJsonObject lines{{QStringLiteral("get"), QStringLiteral("cat /run/fan")},
                            {QStringLiteral("set"), set}};
    return {{QStringLiteral("commands"), QJsonObject{{QStringLiteral("fan"), lines}}}};
}

QString TestPreflight::fanOf(const QString& host) const {
    return QString::fromLatin1(
        m_lab.exec(host, {QStringLiteral("cat"), QStringLiteral("/run/fan")}).out.trimmed());
}

/// Each step has a line; where it stops, nothing follows.
void TestPreflight::showsHowAHostIsReached() {
    const auto check = [&](const QString& host) {
        QProcess process;
        process.start(
            QStringLiteral(KNOBSCOPE_BINARY_DIR "/knobscope-cli"),
            {QStringLiteral("check"), host, QStringLiteral("--ssh-config"), m_lab.sshConfig()});
        process.waitForFinished(30000);
        return std::pair(process.exitCode(), QString::fromUtf8(process.readAllStandardOutput()));
    };
    const auto [status, said] = check(QStringLiteral("host1"));
    QCOMPARE(status, 0);
    for (const char* step : {"Name", "Connection", "Host key", "Login", "Shell", "Agent", "Clock"})
        QVERIFY2(said.contains(QLatin1String(step)), qPrintable(said));

    QVERIFY(m_lab.setSshd(QStringLiteral("host2"), false));
    const auto [refused, stopped] = check(QStringLiteral("host2"));
    QVERIFY(m_lab.setSshd(QStringLiteral("host2"), true));
    QCOMPARE(refused, 3);
    QVERIFY2(stopped.contains(QStringLiteral("FAILED")), qPrintable(stopped));
    QVERIFY2(!stopped.contains(QStringLiteral("Host key")), qPrintable(stopped));
}

void TestPreflight::tellsEveryChange() {
    const QString before = m_run->sysctl(QStringLiteral("host1"), kLimit);
    CliProcess cli(m_run->runArguments(write({axis(QStringLiteral("sysctl:") + kLimit,
                                                   {65536, 131072}, QStringLiteral("sender")),
                                              axis(QStringLiteral("link:txqueuelen"), {500})})) +
                   QStringList{QStringLiteral("--preflight")});
    QVERIFY2(cli.waitForEnd() == 0, cli.errorText().constData());
    QStringList changes;
    for (const QJsonObject& event : cli.events()) {
        QVERIFY(field(event, "event") != QLatin1String("sample"));
        if (field(event, "event") != QLatin1String("change"))
            continue;
        QStringList values;
        for (const QJsonValue value : event.value(QStringLiteral("values")).toArray())
            values.append(value.toString());
        changes.append(QStringLiteral("%1 %2 %3 %4->%5")
                           .arg(field(event, "host"), field(event, "knob"),
                                field(event, "interface"), field(event, "now"),
                                values.join(QLatin1Char(','))));
    }
    const QString queue = QStringLiteral("%1 link:txqueuelen test0 1000->500");
    QCOMPARE(changes,
             (QStringList{QStringLiteral("host1 sysctl:%1  %2->65536,131072").arg(kLimit, before),
                          queue.arg(QStringLiteral("host1")), queue.arg(QStringLiteral("host2"))}));
    QCOMPARE(m_run->sysctl(QStringLiteral("host1"), kLimit), before);
    // As many bytes as the MTU goes through, and the clocks of one machine agree.
    const QStringList good = checks(cli, "ok");
    QVERIFY2(anyHas(good, QStringLiteral("Packets of 1500 bytes")), qPrintable(good.join(u'\n')));
    QVERIFY(anyHas(good, QStringLiteral("Clock: agrees")));
}

void TestPreflight::refusesAValueBeforeAnyTraffic() {
    CliProcess cli(
        m_run->runArguments(write({axis(QStringLiteral("sysctl:") + kCongestion,
                                        {QStringLiteral("reno"), QStringLiteral("nosuch")})})));
    QCOMPARE(cli.waitForEnd(), 2);
    for (const QJsonObject& event : cli.events()) {
        QVERIFY(field(event, "event") != QLatin1String("run_started"));
        // What is refused will not be set.
        if (field(event, "event") == QLatin1String("change"))
            QCOMPARE(event.value(QStringLiteral("values")).toArray(),
                     (QJsonArray{QStringLiteral("reno")}));
    }
    QVERIFY2(cli.errorText().contains("nosuch"), cli.errorText().constData());
    QVERIFY2(cli.errorText().contains("1 cell can be measured all the same: add --skip-refused"),
             cli.errorText().constData());
}

void TestPreflight::measuresTheRest() {
    CliProcess cli(
        m_run->runArguments(write({axis(QStringLiteral("sysctl:") + kCongestion,
                                        {QStringLiteral("reno"), QStringLiteral("nosuch")})})) +
        QStringList{QStringLiteral("--skip-refused")});
    QCOMPARE(cli.waitForEnd(), 1);
    const StoredRun run =
        m_run->load(cli.events().constLast().value(QStringLiteral("run")).toInteger());
    QCOMPARE(run.samples.size(), 2);
    for (const SampleRecord& sample : run.samples) {
        QCOMPARE(sample.measured(), sample.cell == 0);
        if (!sample.measured()) {
            QVERIFY2(sample.reason.contains(QStringLiteral("nosuch")), qPrintable(sample.reason));
            QVERIFY2(sample.reason.contains(QStringLiteral("host1")), qPrintable(sample.reason));
        }
    }
}

void TestPreflight::refusesWhenNothingIsLeft() {
    CliProcess cli(m_run->runArguments(write({axis(QStringLiteral("ring:rx"), {256})})) +
                   QStringList{QStringLiteral("--skip-refused")});
    QCOMPARE(cli.waitForEnd(), 2);
    QVERIFY2(cli.errorText().contains("Every cell"), cli.errorText().constData());
}

/// A switch in the middle takes 1500 bytes only, and drops what is larger without a word.
void TestPreflight::findsAPathThatDropsLargePackets() {
    const auto middle = [&](const char* mtu) {
        return m_lab.setTestPathMtu(QStringLiteral("host2"), QString::fromLatin1(mtu));
    };
    QVERIFY(middle("1500"));
    const QString file = write({axis(QStringLiteral("link:mtu"), {1500, 9000})});
    CliProcess refused(m_run->runArguments(file));
    const int status = refused.waitForEnd();
    CliProcess rest(m_run->runArguments(file) + QStringList{QStringLiteral("--skip-refused")});
    const int restStatus = rest.waitForEnd();
    QVERIFY(middle("65535"));
    CliProcess whole(m_run->runArguments(file));
    const int wholeStatus = whole.waitForEnd();

    QCOMPARE(status, 3);
    QVERIFY2(refused.errorText().contains("Packets of 9000 bytes"),
             refused.errorText().constData());
    QCOMPARE(restStatus, 1);
    const StoredRun run =
        m_run->load(rest.events().constLast().value(QStringLiteral("run")).toInteger());
    QCOMPARE(run.samples.size(), 2);
    QVERIFY(run.samples[0].measured() != run.samples[1].measured());
    QVERIFY2(wholeStatus == 0, whole.errorText().constData());
}

/// Nothing sets an MTU, but the two ends have different ones, and the larger sends.
void TestPreflight::findsMtusThatDoNotFit() {
    QVERIFY(m_lab
                .exec(QStringLiteral("host1"),
                      {QStringLiteral("ip"), QStringLiteral("link"), QStringLiteral("set"),
                       QStringLiteral("test0"), QStringLiteral("mtu"), QStringLiteral("9000")})
                .ok());
    CliProcess cli(
        m_run->runArguments(write({axis(QStringLiteral("window"), {QStringLiteral("64K")})})) +
        QStringList{QStringLiteral("--preflight")});
    const int status = cli.waitForEnd();
    QVERIFY(m_lab
                .exec(QStringLiteral("host1"),
                      {QStringLiteral("ip"), QStringLiteral("link"), QStringLiteral("set"),
                       QStringLiteral("test0"), QStringLiteral("mtu"), QStringLiteral("1500")})
                .ok());
    // What both can carry goes through; that they differ is worth a word.
    QCOMPARE(status, 0);
    QVERIFY2(anyHas(checks(cli, "warning"), QStringLiteral("9000")),
             qPrintable(checks(cli, "warning").join(u'\n')));
}

void TestPreflight::guardsTheInterfaceOfSsh() {
    const QJsonArray touches{axis(QStringLiteral("link:txqueuelen"), {500})};
    CliProcess cli(m_run->runArguments(write(touches, overControlNetwork())) +
                   QStringList{QStringLiteral("--preflight")});
    QVERIFY2(cli.waitForEnd() == 0, cli.errorText().constData());
    const QStringList warnings = checks(cli, "warning");
    QVERIFY2(anyHas(warnings, QStringLiteral("SSH comes in over it")),
             qPrintable(warnings.join(u'\n')));
    // A knob that cannot cut anything needs no guard.
    CliProcess harmless(
        m_run->runArguments(
            write({axis(QStringLiteral("sysctl:") + kLimit, {65536})}, overControlNetwork())) +
        QStringList{QStringLiteral("--preflight")});
    QVERIFY2(harmless.waitForEnd() == 0, harmless.errorText().constData());
    QCOMPARE(checks(harmless, "warning"), QStringList());
}

/// The lease of other hosts is 10 s.
void TestPreflight::guardedHostIsBackSooner() {
    QJsonObject more = overControlNetwork();
    more.insert(QStringLiteral("test"),
                QJsonObject{{QStringLiteral("kind"), QStringLiteral("tcp_stream")},
                            {QStringLiteral("seconds"), 20}});
    CliProcess cli(
        m_run->runArguments(write({axis(QStringLiteral("link:txqueuelen"), {500})}, more)));
    const auto queue = [&] {
        return m_lab
            .exec(QStringLiteral("host1"),
                  {QStringLiteral("cat"), QStringLiteral("/sys/class/net/ctl0/tx_queue_len")})
            .out.trimmed();
    };
    QVERIFY(cli.waitFor(
        [](const QJsonObject& event) {
            return field(event, "event") == QLatin1String("run_started");
        },
        30000));
    QTRY_COMPARE_WITH_TIMEOUT(queue(), QByteArray("500"), 10000);
    QVERIFY(m_lab.setControlLink(QStringLiteral("host1"), false));
    QElapsedTimer timer;
    timer.start();
    QTRY_COMPARE_WITH_TIMEOUT(queue(), QByteArray("1000"), 9000);
    const qint64 took = timer.elapsed();
    QVERIFY(m_lab.setControlLink(QStringLiteral("host1"), true));
    QVERIFY2(took > 2000, qPrintable(QString::number(took))); // the lease did it, nothing else
}

void TestPreflight::commandsNeedPermission() {
    const QString file = write({axis(QStringLiteral("command:fan"), {7})},
                               fan(QStringLiteral("echo \"$VALUE\" > /run/fan")));
    CliProcess cli(m_run->runArguments(file));
    QCOMPARE(cli.waitForEnd(), 2);
    QVERIFY2(cli.errorText().contains("command:fan set: echo \"$VALUE\" > /run/fan"),
             cli.errorText().constData());
    QVERIFY(cli.errorText().contains("--allow-commands"));
    QCOMPARE(fanOf(QStringLiteral("host1")), QStringLiteral("3"));
}

void TestPreflight::commandKnobIsPutBack() {
    const QString file = write({axis(QStringLiteral("command:fan"), {7, 9})},
                               fan(QStringLiteral("echo \"$VALUE\" > /run/fan")));
    CliProcess cli(m_run->runArguments(file) + QStringList{QStringLiteral("--allow-commands")});
    QVERIFY2(cli.waitForEnd() == 0, cli.errorText().constData());
    const StoredRun run =
        m_run->load(cli.events().constLast().value(QStringLiteral("run")).toInteger());
    QCOMPARE(run.samples.size(), 2);
    for (const SampleRecord& sample : run.samples) {
        QCOMPARE(sample.knobs.size(), 2);
        for (const KnobState& knob : sample.knobs) {
            QCOMPARE(knob.accepted, knob.requested);
            QCOMPARE(knob.original, QStringLiteral("3"));
        }
    }
    for (const Lab::Host& host : m_lab.hosts())
        QCOMPARE(fanOf(host.name), QStringLiteral("3"));
}

void TestPreflight::commandThatFailsIsRefused() {
    const QString file = write({axis(QStringLiteral("command:fan"), {7})},
                               fan(QStringLiteral("echo no such fan >&2; exit 3")));
    CliProcess cli(m_run->runArguments(file) + QStringList{QStringLiteral("--allow-commands")});
    QCOMPARE(cli.waitForEnd(), 2);
    QVERIFY2(cli.errorText().contains("no such fan"), cli.errorText().constData());
    QCOMPARE(fanOf(QStringLiteral("host1")), QStringLiteral("3"));
}

QTEST_GUILESS_MAIN(TestPreflight)
#include "tst_preflight.moc"
