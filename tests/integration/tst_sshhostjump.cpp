// SPDX-License-Identifier: GPL-3.0-or-later
// Hosts behind other hosts (ProxyJump) and behind programs (ProxyCommand). The test addresses of
// the lab are reachable from its hosts alone.
#include "core/host/hoststeps.h"
#include "tests/lab/sshlab.h"

#include <QElapsedTimer>
#include <QTest>

#include <csignal>
#include <thread>

#include <unistd.h>

using namespace knobscope;
using namespace knobscope::test;
using namespace std::chrono_literals;
using Code = Error::Code;

class TestSshHostJump : public QObject {
    Q_OBJECT
private slots:
    void initTestCase() {
        if (geteuid() != 0)
            QSKIP("hosts in network namespaces need root");
        QVERIFY2(m_lab.up({QStringLiteral("-n"), QStringLiteral("3")}), qPrintable(m_lab.error()));
        QVERIFY(keygen(m_lab.path(QStringLiteral("stranger")), QStringLiteral("stranger")));
    }

    void waysThroughJumpHosts_data() {
        QTest::addColumn<QByteArray>("jumps"); // of "far", which is host3
        QTest::addColumn<QStringList>("through");
        const auto row = [](const char* jumps, const QStringList& through) {
            QTest::newRow(jumps) << QByteArray(jumps) << through;
        };
        row("near", {QStringLiteral("near")});
        row("root@NEAR:22", {QStringLiteral("NEAR")});
        row("ssh://op@NEAR:22", {QStringLiteral("NEAR")});
        row("op@near", {QStringLiteral("near")});
        row("near,middle", {QStringLiteral("near"), QStringLiteral("middle")});
        row("near,root@MIDDLE:22", {QStringLiteral("near"), QStringLiteral("MIDDLE")});
        // The jump host has a jump host of its own.
        row("behind", {QStringLiteral("near"), QStringLiteral("behind")});
    }
    void waysThroughJumpHosts() {
        QFETCH(QByteArray, jumps);
        QFETCH(QStringList, through);
        through.replaceInStrings(QStringLiteral("NEAR"), m_lab.lab().host(0).controlAddress);
        through.replaceInStrings(QStringLiteral("MIDDLE"), m_lab.lab().host(1).testAddress);
        HostSteps steps;
        const Session session = HostSession::open(SshLab::spec(QStringLiteral("far")),
                                                  config(" ProxyJump " + jumps + "\n"), {}, &steps);
        QVERIFY2(session, SshLab::why(session));
        QCOMPARE((*session)->hello().hostname, std::string("host3"));
        // Each on the way was connected to, had its key checked, and was logged in to.
        QStringList seen;
        for (const HostStep& step : steps.all()) {
            QCOMPARE(step.state == HostStep::State::Failed, false);
            if (step.kind == HostStep::Kind::Login)
                seen << step.host;
        }
        QCOMPARE(seen, through << QStringLiteral("far"));
    }

    void muchGoesThrough() {
        m_lab.sh("rm -rf /var/tmp/knobscope-0", QStringLiteral("host3"));
        const Session session =
            m_lab.open(QStringLiteral("far"), config(" ProxyJump near,middle\n"));
        QVERIFY2(session, SshLab::why(session));
        // A long request, whose name of an interface no host has, is answered all the same.
        const Json params = {{"interface", std::string(3 << 20, 'x')}};
        std::vector<std::future<Result<Json>>> calls;
        for (int i = 0; i < 3; ++i)
            calls.push_back((*session)->call(protocol::method::kEnvironment, params, 30s));
        for (auto& call : calls) {
            const auto answer = call.get();
            QVERIFY(answer || answer.error().code != Code::LinkLost);
        }
        auto ping = (*session)->call(protocol::method::kPing, Json::object(), 5s);
        QVERIFY(ping.get());
    }

    void errorsNameTheHop_data() {
        QTest::addColumn<QByteArray>("settings"); // before the usual ones
        QTest::addColumn<QByteArray>("jumps");
        QTest::addColumn<QStringList>("words");
        const auto row = [](const char* name, const QByteArray& settings, const QByteArray& jumps,
                            const QStringList& words) {
            QTest::newRow(name) << settings << jumps << words;
        };
        const QString way = QStringLiteral("is a jump host on the way to far");
        const QByteArray stranger = m_lab.path(QStringLiteral("stranger")).toUtf8();
        row("jump host unknown by name", "Host gone\n HostName no-such-host.invalid\n", "gone",
            {QStringLiteral("no-such-host.invalid"), QStringLiteral("gone ") + way});
        row("no sshd there", "Host gone\n HostName 127.0.0.1\n Port 1\n", "gone",
            {QStringLiteral("refuses the connection"), way});
        row("jump host takes no key", "Host middle\n IdentitiesOnly yes\n User no-such-user\n",
            "near,middle",
            {QStringLiteral("middle refuses the login"), QStringLiteral("middle ") + way});
        row("host key of the jump host unknown", "Host near\n UserKnownHostsFile none\n", "near",
            {QStringLiteral("host key of near is not known"), way});
        row("host key of the host unknown", "Host far\n UserKnownHostsFile none\n", "near",
            {QStringLiteral("host key of far is not known")});
        row("jump host cannot reach the host", "Host far\n Port 1\n", "near",
            {QStringLiteral("near cannot reach"), QStringLiteral("port 1"),
             QStringLiteral("Connection refused")});
        row("jump host does not know the name", "Host far\n HostName no-such-host.invalid\n",
            "near", {QStringLiteral("near"), QStringLiteral("no-such-host.invalid")});
        row("jump host lets nothing through", "Host near\n Port 2206\n", "near",
            {QStringLiteral("near does not let connections through"),
             QStringLiteral("AllowTcpForwarding")});
        row("no sense", "", "near,-oProxyCommand=evil",
            {QStringLiteral("-oProxyCommand=evil"), QStringLiteral("ProxyJump")});
        row("circle", "Host one\n ProxyJump two\nHost two\n ProxyJump one\n", "one",
            {QStringLiteral("jump host")});
    }
    void errorsNameTheHop() {
        QFETCH(QByteArray, settings);
        QFETCH(QByteArray, jumps);
        QFETCH(QStringList, words);
        const LabSshd closed(m_lab, 2206, "AllowTcpForwarding no");
        const Session session =
            m_lab.open(QStringLiteral("far"), config(" ProxyJump " + jumps + "\n", settings));
        QVERIFY(!session);
        for (const QString& word : words)
            QVERIFY2(session.error().text().contains(word), SshLab::why(session));
    }

    void stepsShowWhereItStops() {
        HostSteps steps;
        const Session session = HostSession::open(
            SshLab::spec(QStringLiteral("far")),
            config(" ProxyJump near,middle\n", "Host middle\n Port 1\n"), {}, &steps);
        QVERIFY(!session);
        const auto stopped = steps.stoppedAt();
        QVERIFY(stopped);
        QCOMPARE(stopped->kind, HostStep::Kind::Connect);
        QCOMPARE(stopped->host, QStringLiteral("middle"));
    }

    void lostJumpHostIsNoticed_data() {
        QTest::addColumn<bool>("silently");
        QTest::newRow("its sshd is killed") << false;
        QTest::newRow("its network is cut") << true;
    }
    void lostJumpHostIsNoticed() {
        QFETCH(bool, silently);
        HostOptions o = config(" ProxyJump near\n");
        o.pingInterval = 200ms;
        o.lostAfter = 1500ms;
        Session session = m_lab.open(QStringLiteral("far"), o);
        QVERIFY2(session, SshLab::why(session));
        QElapsedTimer timer;
        timer.start();
        if (silently)
            QVERIFY(m_lab.lab().setControlLink(QStringLiteral("host1"), false));
        else
            QVERIFY(m_lab.lab().setSshd(QStringLiteral("host1"), false));
        auto call = (*session)->call(protocol::method::kPing, Json::object(), 30s);
        const auto answer = call.get();
        const qint64 took = timer.elapsed();
        session->reset();
        const qint64 closed = timer.elapsed();
        if (silently)
            QVERIFY(m_lab.lab().setControlLink(QStringLiteral("host1"), true));
        else
            QVERIFY(m_lab.lab().setSshd(QStringLiteral("host1"), true));
        QVERIFY(!answer);
        QCOMPARE(int(answer.error().code), int(Code::LinkLost));
        QVERIFY2(took < 1500 + 1000, qPrintable(QString::number(took)));
        QVERIFY2(closed - took < 3000, qPrintable(QString::number(closed - took)));
        if (!silently)
            QVERIFY2(answer.error().text().contains(QStringLiteral("the jump host near")),
                     qPrintable(answer.error().text()));
        // The agent there, without its workbench, ends.
        QTRY_VERIFY_WITH_TIMEOUT(m_lab.agents(QStringLiteral("host3")).isEmpty(), 30000);
    }

    void closingLeavesNothingRunning() {
        const QStringList hosts{QStringLiteral("host1"), QStringLiteral("host2")};
        const auto sessions = [&](const QString& host) {
            return m_lab.lab().pids(host, QStringLiteral("^sshd: root"));
        };
        // A connection that was cut silently stays there for long.
        const QList<QList<qint64>> before{sessions(hosts[0]), sessions(hosts[1])};
        Session session = m_lab.open(QStringLiteral("far"), config(" ProxyJump near,middle\n"));
        QVERIFY2(session, SshLab::why(session));
        QVERIFY(sessions(hosts[0]).size() > before[0].size());
        QElapsedTimer timer;
        timer.start();
        session->reset();
        QVERIFY2(timer.elapsed() < 2500, qPrintable(QString::number(timer.elapsed())));
        QTRY_VERIFY_WITH_TIMEOUT(m_lab.agents(QStringLiteral("host3")).isEmpty(), 5000);
        for (int i = 0; i < 2; ++i) {
            const auto noneIsNew = [&] {
                const QList<qint64> now = sessions(hosts[i]);
                return std::all_of(now.cbegin(), now.cend(),
                                   [&](qint64 pid) { return before[i].contains(pid); });
            };
            QTRY_VERIFY_WITH_TIMEOUT(noneIsNew(), 5000);
        }
    }

    void cancelOnTheWayIsQuick() {
        // The second hop swallows everything.
        QVERIFY(m_lab.lab().setControlLink(QStringLiteral("host2"), false));
        CancelToken cancel;
        std::thread canceller([&] {
            std::this_thread::sleep_for(500ms);
            cancel.cancel();
        });
        const HostOptions o =
            config(" ProxyJump near\n",
                   "Host far\n HostName " + m_lab.lab().host(1).controlAddress.toUtf8() + "\n");
        QElapsedTimer timer;
        timer.start();
        const Session session = HostSession::open(SshLab::spec(QStringLiteral("far")), o, cancel);
        const qint64 took = timer.elapsed();
        canceller.join();
        QVERIFY(m_lab.lab().setControlLink(QStringLiteral("host2"), true));
        QVERIFY(!session);
        QCOMPARE(int(session.error().code), int(Code::Cancelled));
        QVERIFY2(took < 1500, qPrintable(QString::number(took)));
    }

    void proxyCommands_data() {
        QTest::addColumn<QByteArray>("command");
        QTest::addColumn<QString>("complaint"); // empty: it works
        QTest::newRow("ssh") << QByteArray("ssh -F CONFIG -W %h:%p near") << QString();
        QTest::newRow("ssh in a pipe")
            << QByteArray("cat | ssh -F CONFIG -W %h:%p near | cat") << QString();
        QTest::newRow("complains without end")
            << QByteArray("sh -c 'yes complaint >&2 & p=$!; ssh -F CONFIG -W %h:%p near; kill $p'")
            << QString();
        QTest::newRow("fails") << QByteArray("sh -c \"echo gate closed >&2; exit 7\"")
                               << QStringLiteral("status 7 and said: gate closed");
        QTest::newRow("is not there")
            << QByteArray("no-such-program") << QStringLiteral("no-such-program");
        QTest::newRow("is silent")
            << QByteArray("sleep 60") << QStringLiteral("did not answer within 2 s");
    }
    void proxyCommands() {
        QFETCH(QByteArray, command);
        QFETCH(QString, complaint);
        command.replace("CONFIG", m_lab.path(QStringLiteral("config")).toUtf8());
        HostOptions o = config(" ProxyCommand " + command + "\n");
        if (complaint.contains(QLatin1String("within")))
            o.connectTimeout = 2s;
        QElapsedTimer timer;
        timer.start();
        {
            const Session session = m_lab.open(QStringLiteral("far"), o);
            QCOMPARE(session.has_value(), complaint.isEmpty());
            if (session)
                QCOMPARE((*session)->hello().hostname, std::string("host3"));
            else
                QVERIFY2(session.error().text().contains(complaint), SshLab::why(session));
        }
        QVERIFY2(timer.elapsed() < 8000, qPrintable(QString::number(timer.elapsed())));
        // Nothing of it stays.
        QTRY_COMPARE_WITH_TIMEOUT(children(), QByteArray(), 3000);
    }

private:
    /// Options to reach "far" (host3 by its test address) through "near" (host1), "middle" and
    /// "behind" (host2 by its test address). `first` wins over what is usual.
    HostOptions config(const QByteArray& ofFar, const QByteArray& first = {}) {
        const auto& hosts = m_lab.lab().hosts();
        QByteArray jumps = ofFar;
        jumps.replace("NEAR", hosts[0].controlAddress.toUtf8())
            .replace("MIDDLE", hosts[1].testAddress.toUtf8());
        QByteArray known = readFile(m_lab.lab().knownHosts());
        for (const Lab::Host& host : hosts)
            known += host.testAddress.toUtf8() + ' ' + host.hostKey.toUtf8() + '\n';
        const QString file = m_lab.path(QStringLiteral("known"));
        if (!writeFile(file, known))
            qFatal("cannot write known_hosts");
        return m_lab.config(first + "\nHost near\n HostName " + hosts[0].controlAddress.toUtf8() +
                            "\nHost middle behind\n HostName " + hosts[1].testAddress.toUtf8() +
                            "\nHost behind\n ProxyJump near\nHost far\n HostName " +
                            hosts[2].testAddress.toUtf8() + '\n' + jumps +
                            "\nHost *\n UserKnownHostsFile " + file.toUtf8() +
                            "\n IdentitiesOnly yes\nHost near middle behind far\n User root\n");
    }

    /// Processes that this one has started and that still run.
    static QByteArray children() {
        return readFile(QStringLiteral("/proc/self/task/%1/children").arg(getpid())).trimmed();
    }

    SshLab m_lab;
};

QTEST_GUILESS_MAIN(TestSshHostJump)
#include "tst_sshhostjump.moc"
