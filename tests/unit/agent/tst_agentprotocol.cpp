// SPDX-License-Identifier: GPL-3.0-or-later
#include "agentprocess.h"

#include "agents/protocol/build.h"

#include <QDeadlineTimer>
#include <QElapsedTimer>
#include <QProcess>
#include <QTest>

#include <algorithm>

#include <fcntl.h>
#include <poll.h>
#include <sys/utsname.h>
#include <unistd.h>

using knobscope::Json;
namespace protocol = knobscope::protocol;
namespace method = protocol::method;
namespace errorcode = protocol::errorcode;

namespace {
QString messageOf(const Json& answer) {
    return QString::fromStdString(answer["error"]["message"].get<std::string>());
}
} // namespace

/// How the agent speaks: requests, errors, hostile input, and how it ends.
class TestAgentProtocol : public QObject {
    Q_OBJECT
private slots:
    void commandLine_data();
    void commandLine();
    void saysHello();
    void refusesAnotherVersion();
    void wantsHelloFirst();
    void saysHelloOnce();
    void answersErrors_data();
    void answersErrors();
    void survivesDeepNesting();
    void closesAtALineTooLong();
    void takesALongLine();
    void answersAScriptOnStandardInput();
    void doesNotAnswerNotifications();
    void quitsOnRequest();
    void endsWithItsInput();
    void endsWhenNobodyReads();
    void keepsAnsweringWhileOutputStalls();
    void givesSnapshotsAndEnvironment();
    void carriesTraffic();
    void cancelsTraffic();
    void refusesTrafficOutOfTurn();
};

void TestAgentProtocol::commandLine_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("status");
    QTest::addColumn<QString>("output");
    QTest::newRow("version") << QStringList{"--version"} << 0
                             << QStringLiteral("%1 (protocol 1, build %2)")
                                    .arg(protocol::kProductVersion, protocol::kBuild);
    QTest::newRow("help") << QStringList{"--help"} << 0 << "knob.apply";
    QTest::newRow("unknown") << QStringList{"--serve"} << 2 << "--serve is not understood";
    QTest::newRow("file") << QStringList{"x.json"} << 2 << "x.json is not understood";
    QTest::newRow("two") << QStringList{"--version", "--help"} << 2 << "more than one argument";
}

void TestAgentProtocol::commandLine() {
    QFETCH(QStringList, arguments);
    QFETCH(int, status);
    QFETCH(QString, output);
    QProcess agent;
    agent.setProcessChannelMode(QProcess::MergedChannels);
    agent.start(QStringLiteral(AGENT_PROGRAM), arguments);
    QVERIFY(agent.waitForFinished());
    QCOMPARE(agent.exitCode(), status);
    const QString said = QString::fromUtf8(agent.readAll());
    QVERIFY2(said.contains(output), qPrintable(said));
}

void TestAgentProtocol::saysHello() {
    AgentProcess agent;
    const Json hello = agent.hello();
    QVERIFY(hello.is_object());
    utsname names{};
    ::uname(&names);
    QCOMPARE(hello["protocol"].get<int>(), protocol::kVersion);
    COMPARE_TEXT(hello["version"].get<std::string>(), protocol::kProductVersion);
    COMPARE_TEXT(hello["build"].get<std::string>(), protocol::kBuild);
    COMPARE_TEXT(hello["hostname"].get<std::string>(), names.nodename);
    COMPARE_TEXT(hello["kernel"].get<std::string>(), names.release);
    COMPARE_TEXT(hello["arch"].get<std::string>(), names.machine);
    QCOMPARE(hello["uid"].get<uid_t>(), ::geteuid());
    QCOMPARE(hello["guardian_pid"].get<qint64>(), agent.guardian());
    QVERIFY(agent.worker() != agent.guardian());
    QVERIFY(isAlive(agent.worker()));
    QVERIFY(hello["cpus"].get<int>() >= 1);
    AgentProcess other;
    COMPARE_TEXT(other.hello()["machine_id"].get<std::string>(),
                 hello["machine_id"].get<std::string>());
}

void TestAgentProtocol::refusesAnotherVersion() {
    AgentProcess agent;
    const Json answer = agent.call(method::kHello, {{"protocol", 77}});
    QCOMPARE(answer["error"]["code"].get<int>(), errorcode::kVersionMismatch);
    QVERIFY2(messageOf(answer).contains("77"), qPrintable(messageOf(answer)));
    QVERIFY2(messageOf(answer).contains("version 1"), qPrintable(messageOf(answer)));
    QVERIFY(agent.hello().is_object()); // a second try may be right
}

void TestAgentProtocol::wantsHelloFirst() {
    AgentProcess agent;
    for (const char* name : {method::kPing, method::kSnapshot, method::kKnobRestore,
                             method::kTrafficResult, method::kQuit})
        QCOMPARE(agent.call(name)["error"]["code"].get<int>(), errorcode::kState);
}

void TestAgentProtocol::saysHelloOnce() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    const Json again = agent.call(method::kHello);
    QCOMPARE(again["error"]["code"].get<int>(), errorcode::kState);
}

void TestAgentProtocol::answersErrors_data() {
    QTest::addColumn<QByteArray>("line");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const QByteArray& line, int code, const char* words) {
        QTest::newRow(name) << line << code << QString::fromLatin1(words);
    };
    row("garbage", "hello there", errorcode::kParse, "not JSON");
    row("half", R"({"id":1,"method":"pi)", errorcode::kParse, "not JSON");
    row("two", R"({"id":1,"method":"ping"}{"id":2,"method":"ping"})", errorcode::kParse,
        "not JSON");
    row("zero byte", QByteArray("{\"id\":1,\0\"method\":\"ping\"}", 24), errorcode::kParse,
        "not JSON");
    row("not UTF-8", "{\"id\":1,\"method\":\"pi\xff\xfeng\"}", errorcode::kParse, "not JSON");
    row("binary", QByteArray("\x00\x01\x02\x7f\x80\xff", 6), errorcode::kParse, "not JSON");
    row("huge number", R"({"id":1e999,"method":"ping"})", errorcode::kParse, "not JSON");
    row("batch", R"([{"id":1,"method":"ping"}])", errorcode::kInvalidRequest, "one request a line");
    row("string", R"("ping")", errorcode::kInvalidRequest, "object");
    row("no method", R"({"id":1})", errorcode::kInvalidRequest, "method");
    row("method 5", R"({"id":1,"method":5})", errorcode::kInvalidRequest, "method");
    row("answer", R"({"id":1,"result":{}})", errorcode::kInvalidRequest, "method");
    row("jsonrpc 1", R"({"jsonrpc":"1.0","id":1,"method":"ping"})", errorcode::kInvalidRequest,
        "2.0");
    row("id object", R"({"id":{},"method":"ping"})", errorcode::kInvalidRequest, "id");
    row("unknown", R"({"id":1,"method":"knob.sat"})", errorcode::kMethodNotFound, "knob.sat");
    row("renew", R"({"id":1,"method":"renew"})", errorcode::kMethodNotFound, "renew");
    row("scalar", R"({"id":1,"method":"snapshot","params":3})", errorcode::kInvalidParams,
        "object or an array");
    row("array", R"({"id":1,"method":"snapshot","params":[]})", errorcode::kInvalidParams,
        "must be an object");
    row("number for text", R"({"id":1,"method":"snapshot","params":{"interface":3}})",
        errorcode::kInvalidParams, "interface must be a string, not a number");
    row("object for list", R"({"id":1,"method":"knob.read","params":{}})",
        errorcode::kInvalidParams, "must be an array");
    row("list of numbers", R"({"id":1,"method":"knob.read","params":[7]})",
        errorcode::kInvalidParams, "[0] must be an object");
    row("number for value",
        R"({"id":1,"method":"knob.apply","params":[{"name":"link:mtu","value":1400}]})",
        errorcode::kInvalidParams, "[0].value must be a string");
    row("no name", R"({"id":1,"method":"knob.apply","params":[{"value":"1"}]})",
        errorcode::kInvalidParams, "[0] has no name");
    row("named twice",
        R"({"id":1,"method":"knob.apply","params":[{"name":"a","value":"1"},{"name":"a"}]})",
        errorcode::kInvalidParams, "twice");
    row("fraction", R"({"id":1,"method":"traffic.prepare","params":{"config":{"streams":1.5}}})",
        errorcode::kInvalidParams, "config.streams: 1.5 does not fit");
    row("too large", R"({"id":1,"method":"traffic.prepare","params":{"port":4294967297}})",
        errorcode::kInvalidParams, "port: 4294967297 does not fit");
    row("flag for number",
        R"({"id":1,"method":"traffic.prepare","params":{"config":{"seconds":true}}})",
        errorcode::kInvalidParams, "config.seconds must be a number");
    row("text for cpu", R"({"id":1,"method":"traffic.prepare","params":{"config":{"cpu":"x"}}})",
        errorcode::kInvalidParams, "number");
    row("interval",
        R"({"id":1,"method":"traffic.prepare","params":{"config":)"
        R"({"interval_seconds":-1}}})",
        errorcode::kInvalidParams, "interval_seconds");
}

void TestAgentProtocol::answersErrors() {
    QFETCH(QByteArray, line);
    QFETCH(int, code);
    QFETCH(QString, words);
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    agent.send(line + '\n');
    const auto answer = agent.next();
    QVERIFY(answer);
    QVERIFY2(answer->contains("error"), answer->dump().c_str());
    QCOMPARE((*answer)["error"]["code"].get<int>(), code);
    QVERIFY2(messageOf(*answer).contains(words), qPrintable(messageOf(*answer)));
    // It is as good as before.
    QVERIFY(agent.call(method::kPing).contains("result"));
}

void TestAgentProtocol::survivesDeepNesting() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    const QByteArray open(1'000'000, '[');
    agent.send(open + '\n');
    QCOMPARE((*agent.next())["error"]["code"].get<int>(), errorcode::kParse);
    agent.send(R"({"id":1,"method":"ping","params":)" + open + QByteArray(1'000'000, ']') + "}\n");
    QCOMPARE((*agent.next())["error"]["code"].get<int>(), errorcode::kParse);
    agent.send(QByteArray(R"({"a":)").repeated(200'000) + '\n');
    QCOMPARE((*agent.next())["error"]["code"].get<int>(), errorcode::kParse);
    QVERIFY(agent.call(method::kPing).contains("result"));
}

void TestAgentProtocol::closesAtALineTooLong() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    agent.send(QByteArray(20'000'000, 'x') + '\n');
    const auto answer = agent.next();
    QVERIFY(answer);
    QCOMPARE((*answer)["error"]["code"].get<int>(), errorcode::kParse);
    QVERIFY2(messageOf(*answer).contains("longer than"), qPrintable(messageOf(*answer)));
    QCOMPARE(agent.waitForEnd(), 0);
}

void TestAgentProtocol::takesALongLine() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    agent.send(R"({"id":"long","method":"ping","params":{"x":")" + QByteArray(8'000'000, 'y') +
               "\"}}\n");
    COMPARE_TEXT((*agent.next(20000))["id"].get<std::string>(), "long");
}

void TestAgentProtocol::answersAScriptOnStandardInput() {
    // As by hand: a file of requests, the last without a line break, then the end.
    AgentProcess agent;
    agent.send("{\"id\":1,\"method\":\"hello\"}\r\n\n"
               "{\"id\":2,\"method\":\"knob.read\",\"params\":[{\"name\":\"sysctl:no.such\"}]}\n"
               "{\"id\":3,\"method\":\"ping\"}");
    agent.closeInput();
    QList<int> answered;
    while (const auto answer = agent.next()) {
        QVERIFY2(answer->contains("result"), answer->dump().c_str());
        answered.append((*answer)["id"].get<int>());
    }
    std::sort(answered.begin(), answered.end());
    QCOMPARE(answered, (QList<int>{1, 2, 3}));
    QCOMPARE(agent.waitForEnd(), 0);
}

void TestAgentProtocol::doesNotAnswerNotifications() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    agent.send("{\"method\":\"ping\"}\n{\"method\":\"nonsense\"}\n");
    const int id = agent.request(method::kPing);
    QCOMPARE((*agent.next())["id"].get<int>(), id);
}

void TestAgentProtocol::quitsOnRequest() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    const Json answer = agent.call(method::kQuit);
    COMPARE_TEXT(answer["result"], Json::array());
    QCOMPARE(agent.waitForEnd(), 0);
    QVERIFY(!isAlive(agent.worker()));
}

void TestAgentProtocol::endsWithItsInput() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    agent.closeInput();
    QCOMPARE(agent.waitForEnd(), 0);
    QVERIFY(!isAlive(agent.worker()));
}

namespace {

/// An agent whose output goes into a pipe that only the test reads (QProcess would empty it).
struct UnreadAgent {
    QProcess process;
    int output = -1;
    UnreadAgent() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0)
            qFatal("pipe2");
        output = ends[0];
        process.setChildProcessModifier([end = ends[1]] { ::dup2(end, STDOUT_FILENO); });
        process.start(QStringLiteral(AGENT_PROGRAM), QStringList());
        if (!process.waitForStarted())
            qFatal("cannot start the agent");
        ::close(ends[1]);
    }
    ~UnreadAgent() {
        stopReading();
        process.closeWriteChannel();
        process.waitForFinished(10000);
    }
    void stopReading() {
        if (output >= 0)
            ::close(output);
        output = -1;
    }
    void send(const QByteArray& line) {
        process.write(line);
        while (process.bytesToWrite() > 0 && process.waitForBytesWritten(5000)) {
        }
    }
    /// Reads to the line that contains `words`; false at the end or after 30 s.
    bool readUntil(const QByteArray& words) const {
        QByteArray data;
        QDeadlineTimer deadline(30000);
        pollfd fd{output, POLLIN, 0};
        while (::poll(&fd, 1, static_cast<int>(deadline.remainingTime())) > 0) {
            char buffer[65536];
            const ssize_t n = ::read(output, buffer, sizeof buffer);
            if (n <= 0)
                return false;
            data.append(buffer, n);
            if (data.contains(words))
                return true;
            data = data.right(words.size());
        }
        return false;
    }
};

} // namespace

void TestAgentProtocol::endsWhenNobodyReads() {
    UnreadAgent agent;
    agent.send("{\"id\":1,\"method\":\"hello\"}\n");
    QVERIFY(agent.readUntil("guardian_pid"));
    agent.stopReading();
    QVERIFY(agent.process.waitForFinished(10000));
    QCOMPARE(agent.process.exitStatus(), QProcess::NormalExit);
    QCOMPARE(agent.process.exitCode(), 0);
}

void TestAgentProtocol::keepsAnsweringWhileOutputStalls() {
    // Nothing is read while far more than a pipe holds is answered; the lease is kept alive by
    // what is sent.
    UnreadAgent agent;
    agent.send("{\"id\":1,\"method\":\"hello\",\"params\":{\"lease_seconds\":3}}\n");
    QElapsedTimer time;
    time.start();
    while (time.elapsed() < 5000) {
        for (int i = 0; i < 10; ++i)
            agent.send("{\"id\":\"" + QByteArray(3000, 'p') + "\",\"method\":\"ping\"}\n");
        QTest::qWait(100);
    }
    QVERIFY(isAlive(agent.process.processId()));
    agent.send("{\"id\":\"the last\",\"method\":\"ping\"}\n");
    QVERIFY(agent.readUntil("the last"));
}

void TestAgentProtocol::givesSnapshotsAndEnvironment() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    const Json snapshot = agent.call(method::kSnapshot, {{"interface", "lo"}})["result"];
    QVERIFY(snapshot["counters"]["snmp"].contains("TcpOutSegs"));
    QVERIFY(snapshot["counters"]["interface"].contains("rx_bytes"));
    const Json environment = agent.call(method::kEnvironment, {{"interface", "lo"}})["result"];
    QVERIFY(environment["facts"].contains("kernel"));
}

namespace {

/// Both ends of a test on the loopback interface.
struct Pair {
    AgentProcess server;
    AgentProcess client;
    bool prepare(double seconds) {
        if (!server.hello("pair").is_object() || !client.hello("pair").is_object())
            return false;
        Json params{{"role", "server"},
                    {"token", "00112233445566778899aabbccddeeff"},
                    {"address", "127.0.0.1"},
                    {"peer_address", "127.0.0.1"},
                    {"config", {{"seconds", seconds}, {"interval_seconds", 0.05}}}};
        const Json ready = server.call(method::kTrafficPrepare, params);
        if (!ready.contains("result"))
            return false;
        params["role"] = "client";
        params["port"] = ready["result"]["port"];
        return client.call(method::kTrafficPrepare, params).contains("result") &&
               server.call(method::kTrafficStart).contains("result") &&
               client.call(method::kTrafficStart).contains("result");
    }
};

} // namespace

void TestAgentProtocol::carriesTraffic() {
    Pair pair;
    QVERIFY(pair.prepare(0.5));
    const int result = pair.client.request(method::kTrafficResult);
    const int ping = pair.client.request(method::kPing);
    QVERIFY(pair.client.answer(ping)); // answered although the result is still to come
    const Json sent = pair.client.answer(result).value_or(Json());
    QVERIFY2(sent.contains("result"), sent.dump().c_str());
    const Json received = pair.server.call(method::kTrafficResult);
    QVERIFY2(received.contains("result"), received.dump().c_str());
    const auto bytes =
        received["result"]["streams"][0]["total_bytes_received"].get<std::uint64_t>();
    QVERIFY(bytes > 0);
    QCOMPARE(sent["result"]["streams"][0]["total_bytes_sent"].get<std::uint64_t>(), bytes);
    // 0.5 s hold ten intervals of 0.05 s; on a busy machine some may fall out. Log notifications
    // may be among them: other agents of this machine are remarked upon.
    std::vector<Json> intervals;
    std::copy_if(pair.client.notifications.begin(), pair.client.notifications.end(),
                 std::back_inserter(intervals), [](const Json& notification) {
                     return notification["method"] == protocol::notification::kInterval;
                 });
    QVERIFY(intervals.size() >= 4);
    QCOMPARE(intervals.back()["params"]["bytes_sent"].get<std::uint64_t>(), bytes);
    QCOMPARE(pair.client.call(method::kTrafficResult)["error"]["code"].get<int>(),
             errorcode::kState);
}

void TestAgentProtocol::cancelsTraffic() {
    Pair pair;
    QVERIFY(pair.prepare(60));
    const int result = pair.client.request(method::kTrafficResult);
    QVERIFY(pair.client.call(method::kTrafficCancel).contains("result"));
    QCOMPARE((*pair.client.answer(result))["error"]["code"].get<int>(), errorcode::kCancelled);
    QVERIFY(pair.client.call(method::kTrafficCancel).contains("result")); // nothing to cancel
    pair.server.closeInput(); // the end of the input ends a running test too
    QCOMPARE(pair.server.waitForEnd(), 0);
}

void TestAgentProtocol::refusesTrafficOutOfTurn() {
    AgentProcess agent;
    QVERIFY(agent.hello().is_object());
    for (const char* name : {method::kTrafficStart, method::kTrafficResult})
        QCOMPARE(agent.call(name)["error"]["code"].get<int>(), errorcode::kState);
    QVERIFY(agent.call(method::kTrafficPrepare, {{"role", "spectator"}}).contains("error"));
    QCOMPARE(agent.call(method::kTrafficStart)["error"]["code"].get<int>(), errorcode::kState);
}

QTEST_GUILESS_MAIN(TestAgentProtocol)
#include "tst_agentprotocol.moc"
