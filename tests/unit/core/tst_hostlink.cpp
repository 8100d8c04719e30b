// SPDX-License-Identifier: GPL-3.0-or-later
// The agent link against a scripted peer at the other end of a socket pair.
#include "agents/protocol/protocol.h"
#include "core/host/agentlink.h"
#include "core/host/pipetransport.h"

#include <QElapsedTimer>
#include <QTest>

#include <array>
#include <thread>

#include <fcntl.h>
#include <sys/socket.h>

using namespace knobscope;
using namespace std::chrono_literals;
using Code = Error::Code;

namespace {

/// The agent's end, driven by the test.
class Peer {
public:
    Peer() {
        std::array<int, 2> ends{};
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
            qFatal("no socket pair");
        m_fd = Fd(ends[0]);
        m_other = Fd(ends[1]);
    }

    std::unique_ptr<Transport> transport() {
        PipeTransport::Ends ends;
        ends.toAgent = Fd(fcntl(m_other.get(), F_DUPFD_CLOEXEC, 0));
        ends.fromAgent = std::move(m_other);
        return std::make_unique<PipeTransport>(std::move(ends));
    }

    /// The next message; null when none comes within 5 s.
    Json next() {
        std::size_t end = m_in.find('\n');
        while (end == std::string::npos) {
            pollfd wait{m_fd.get(), POLLIN, 0};
            std::array<char, 4096> buffer;
            if (::poll(&wait, 1, 5000) != 1)
                return {};
            const ssize_t got = ::read(m_fd.get(), buffer.data(), buffer.size());
            if (got <= 0)
                return {};
            m_in.append(buffer.data(), std::size_t(got));
            end = m_in.find('\n');
        }
        const Json message = Json::parse(m_in.substr(0, end));
        m_in.erase(0, end + 1);
        return message;
    }

    void send(const std::string& bytes) {
        std::size_t sent = 0;
        while (sent < bytes.size()) {
            const ssize_t n =
                ::send(m_fd.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
            if (n <= 0)
                return;
            sent += std::size_t(n);
        }
    }
    void sendLine(const Json& message) { send(message.dump() + '\n'); }
    void answer(const Json& request, const Json& result) {
        sendLine({{"jsonrpc", "2.0"}, {"id", request.at("id")}, {"result", result}});
    }
    void hangUp() { m_fd.reset(); }
    /// True when the link has closed its end; takes at most 5 s.
    bool sawEnd() {
        while (next() != Json()) {
        }
        return recv(m_fd.get(), m_in.data(), 0, MSG_DONTWAIT) == 0;
    }

private:
    Fd m_fd;
    Fd m_other;
    std::string m_in;
};

AgentLink::Options options(std::chrono::milliseconds ping = 20ms,
                           std::chrono::milliseconds lost = 200ms) {
    return {QStringLiteral("host1"), ping, lost, 200ms};
}

Result<Json> get(std::future<Result<Json>>& future) {
    if (future.wait_for(5s) != std::future_status::ready)
        return fail(Code::BadInput, QStringLiteral("the future hangs"));
    return future.get();
}

} // namespace

class TestHostLink : public QObject {
    Q_OBJECT
private slots:
    void answersMatchTheirCallsInAnyOrder() {
        Peer peer;
        AgentLink link(peer.transport(), options());
        auto first = link.call("one", {{"a", 1}}, 5s);
        auto second = link.call("two", Json::array(), 5s);
        const Json one = peer.next();
        const Json two = peer.next();
        QVERIFY(one.at("method") == Json("one"));
        QVERIFY(one.at("params") == Json({{"a", 1}}));
        QVERIFY(one.at("jsonrpc") == Json("2.0"));
        QVERIFY(one.at("id") != two.at("id"));
        peer.answer(two, "second");
        peer.answer(one, "first");
        QVERIFY(get(first).value() == Json("first"));
        QVERIFY(get(second).value() == Json("second"));
        QVERIFY(!link.lost());
    }

    void answersInPiecesAndInOneGo() {
        Peer peer;
        AgentLink link(peer.transport(), options());
        auto first = link.call("one", {}, 5s);
        auto second = link.call("two", {}, 5s);
        const auto line = [](const Json& request, int result) {
            return Json{{"jsonrpc", "2.0"}, {"id", request.at("id")}, {"result", result}}.dump() +
                   '\n';
        };
        std::string text = line(peer.next(), 1);
        text += line(peer.next(), 2);
        for (const char c : text.substr(0, 20))
            peer.send(std::string(1, c));
        peer.send(text.substr(20));
        QVERIFY(get(first).value() == Json(1));
        QVERIFY(get(second).value() == Json(2));
    }

    void agentErrorsKeepTheirKind_data() {
        namespace ec = protocol::errorcode;
        QTest::addColumn<int>("agentCode");
        QTest::addColumn<int>("code");
        QTest::newRow("knob") << ec::kKnob << int(Code::Knob);
        QTest::newRow("traffic") << ec::kTraffic << int(Code::Traffic);
        QTest::newRow("cancelled") << ec::kCancelled << int(Code::Cancelled);
        QTest::newRow("busy") << ec::kBusy << int(Code::HostUnusable);
        QTest::newRow("version") << ec::kVersionMismatch << int(Code::HostUnusable);
        QTest::newRow("state") << ec::kState << int(Code::Protocol);
        QTest::newRow("no method") << ec::kMethodNotFound << int(Code::Protocol);
        QTest::newRow("unheard of") << 4711 << int(Code::Protocol);
    }
    void agentErrorsKeepTheirKind() {
        QFETCH(int, agentCode);
        QFETCH(int, code);
        Peer peer;
        AgentLink link(peer.transport(), options());
        auto call = link.call("x", {}, 5s);
        peer.sendLine({{"jsonrpc", "2.0"},
                       {"id", peer.next().at("id")},
                       {"error", {{"code", agentCode}, {"message", "because"}}}});
        const auto result = get(call);
        QVERIFY(!result);
        QCOMPARE(int(result.error().code), code);
        QCOMPARE(result.error().message, QStringLiteral("because"));
        QVERIFY(!link.lost());
    }

    void nonsenseBreaksTheLink_data() {
        QTest::addColumn<QByteArray>("line");
        QTest::newRow("not JSON") << QByteArray("hello");
        QTest::newRow("empty line") << QByteArray("");
        QTest::newRow("array") << QByteArray("[]");
        QTest::newRow("number") << QByteArray("42");
        QTest::newRow("two values") << QByteArray("{} {}");
        QTest::newRow("no id") << QByteArray(R"({"jsonrpc":"2.0","result":1})");
        QTest::newRow("null id") << QByteArray(
            R"({"id":null,"error":{"code":-32700,"message":"parse"}})");
        QTest::newRow("text id") << QByteArray(R"({"id":"1","result":1})");
        QTest::newRow("fraction id") << QByteArray(R"({"id":1.5,"result":1})");
        QTest::newRow("id of the future") << QByteArray(R"({"id":99,"result":1})");
        QTest::newRow("id zero") << QByteArray(R"({"id":0,"result":1})");
        QTest::newRow("huge id") << QByteArray(R"({"id":18446744073709551615,"result":1})");
        QTest::newRow("neither result nor error") << QByteArray(R"({"id":1})");
        QTest::newRow("both") << QByteArray(
            R"({"id":1,"result":1,"error":{"code":1,"message":"x"}})");
        QTest::newRow("error is text") << QByteArray(R"({"id":1,"error":"x"})");
        QTest::newRow("error without code") << QByteArray(R"({"id":1,"error":{"message":"x"}})");
        QTest::newRow("error without message") << QByteArray(R"({"id":1,"error":{"code":1}})");
        QTest::newRow("request") << QByteArray(R"({"id":1,"method":"x"})");
        QTest::newRow("method is a number") << QByteArray(R"({"method":1})");
        QTest::newRow("bad UTF-8") << QByteArray("{\"id\":1,\"result\":\"\xff\xfe\"}");
        QTest::newRow("NUL") << QByteArray("{\"id\":1\0}", 9);
        QTest::newRow("deep") << QByteArray(2'000'000, '[');
        QTest::newRow("deep in a message")
            << QByteArray(R"({"id":1,"result":)") + QByteArray(65, '[') + QByteArray(65, ']') + '}';
    }
    void nonsenseBreaksTheLink() {
        QFETCH(QByteArray, line);
        Peer peer;
        AgentLink link(peer.transport(), options());
        auto call = link.call("x", {}, 5s);
        peer.next();
        peer.send(line.toStdString() + '\n');
        const auto result = get(call);
        QVERIFY(!result);
        QCOMPARE(int(result.error().code), int(Code::Protocol));
        QVERIFY2(result.error().message.contains(QStringLiteral("host1")),
                 qPrintable(result.error().text()));
        QVERIFY(link.lost());
        auto later = link.call("y", {}, 5s);
        QCOMPARE(int(get(later).error().code), int(Code::LinkLost));
        QVERIFY(peer.sawEnd());
    }

    void lineWithoutEndBreaksTheLink() {
        Peer peer;
        AgentLink link(peer.transport(), options());
        auto call = link.call("x", {}, 30s);
        std::thread sender([&peer] {
            const std::string block(1 << 20, 'a');
            for (int i = 0; i < 18; ++i)
                peer.send(block);
        });
        const auto result = get(call);
        sender.join();
        QVERIFY(!result);
        QCOMPARE(int(result.error().code), int(Code::Protocol));
        QVERIFY(result.error().detail.size() < 200);
    }

    void longLinePasses() {
        Peer peer;
        AgentLink link(peer.transport(), options());
        auto call = link.call("x", {}, 5s);
        const std::string big(4 << 20, 'x');
        peer.answer(peer.next(), big);
        QCOMPARE(get(call).value().get<std::string>().size(), big.size());
    }

    void endMidCallIsLinkLost() {
        Peer peer;
        AgentLink link(peer.transport(), options());
        auto call = link.call("x", {}, 5s);
        auto other = link.call("y", {}, 5s);
        peer.next();
        peer.next();
        peer.send("{\"jsonrpc\":");
        peer.hangUp();
        QElapsedTimer timer;
        timer.start();
        QCOMPARE(int(get(call).error().code), int(Code::LinkLost));
        QCOMPARE(int(get(other).error().code), int(Code::LinkLost));
        QVERIFY2(timer.elapsed() < 1000, "an end of stream is noticed at once");
        QVERIFY(link.lost());
        auto later = link.call("z", {}, 5s);
        QCOMPARE(int(get(later).error().code), int(Code::LinkLost));
    }

    void lastAnswerBeforeTheEndCounts() {
        Peer peer;
        AgentLink link(peer.transport(), options());
        auto call = link.call("quit", {}, 5s);
        peer.answer(peer.next(), "done");
        peer.hangUp();
        QVERIFY(get(call).value() == Json("done"));
    }

    void silenceIsLinkLost() {
        Peer peer;
        AgentLink link(peer.transport(), options(20ms, 200ms));
        auto call = link.call("x", {}, 30s);
        QVERIFY(peer.next().at("method") == Json("x"));
        QElapsedTimer timer;
        timer.start();
        link.startHeartbeat();
        const auto result = get(call);
        QVERIFY(!result);
        QCOMPARE(int(result.error().code), int(Code::LinkLost));
        QVERIFY2(timer.elapsed() >= 200 && timer.elapsed() < 1200, "lostAfter decides");
    }

    void pingsKeepTheLink() {
        Peer peer;
        AgentLink link(peer.transport(), options(20ms, 1000ms));
        link.startHeartbeat();
        QElapsedTimer timer;
        timer.start();
        int pings = 0;
        while (timer.elapsed() < 1500) {
            const Json ping = peer.next();
            QVERIFY(ping.at("method") == Json(protocol::method::kPing));
            peer.answer(ping, Json::object());
            ++pings;
        }
        QVERIFY(!link.lost());
        QVERIFY2(pings >= 10 && pings <= 80, qPrintable(QString::number(pings)));
    }

    void anyWordKeepsTheLink() {
        Peer peer;
        AgentLink link(peer.transport(), options(20ms, 400ms));
        link.startHeartbeat();
        QElapsedTimer timer;
        timer.start();
        while (timer.elapsed() < 1000) {
            QVERIFY(peer.next() != Json()); // a ping that gets no answer
            peer.sendLine({{"jsonrpc", "2.0"}, {"method", "log"}, {"params", {{"text", "x"}}}});
        }
        QVERIFY(!link.lost());
    }

    void timeoutIsOfItsCallOnly() {
        Peer peer;
        AgentLink link(peer.transport(), options());
        auto slow = link.call("slow", {}, 50ms);
        auto other = link.call("other", {}, 5s);
        const Json slowRequest = peer.next();
        const Json otherRequest = peer.next();
        const auto result = get(slow);
        QVERIFY(!result);
        QCOMPARE(int(result.error().code), int(Code::Timeout));
        QVERIFY(result.error().message.contains(QStringLiteral("slow")));
        peer.answer(slowRequest, "too late"); // nobody waits for it, and it does no harm
        peer.answer(otherRequest, "in time");
        QVERIFY(get(other).value() == Json("in time"));
        QVERIFY(!link.lost());
    }

    void longestTimeoutIsNoTimeout() {
        Peer peer;
        AgentLink link(peer.transport(), options());
        auto call = link.call("x", {}, std::chrono::milliseconds::max());
        peer.answer(peer.next(), 1);
        QVERIFY(get(call).value() == Json(1));
    }

    void notificationsReachTheHandler() {
        Peer peer;
        AgentLink link(peer.transport(), options());
        std::promise<std::pair<std::string, Json>> heard;
        auto future = heard.get_future();
        link.setNotificationHandler([&heard](const std::string& method, const Json& params) {
            heard.set_value({method, params});
        });
        peer.sendLine({{"jsonrpc", "2.0"}, {"method", "log"}, {"params", {{"text", "hi"}}}});
        QVERIFY(future.wait_for(5s) == std::future_status::ready);
        const auto [method, params] = future.get();
        QCOMPARE(method, std::string("log"));
        QVERIFY(params == Json({{"text", "hi"}}));
        link.setNotificationHandler(nullptr);
        peer.sendLine({{"jsonrpc", "2.0"}, {"method", "log"}});
        auto call = link.call("x", {}, 5s);
        peer.answer(peer.next(), 1);
        QVERIFY(get(call).value() == Json(1));
    }

    void handlerThatThrowsBreaksTheLinkOnly() {
        Peer peer;
        AgentLink link(peer.transport(), options());
        link.setNotificationHandler([](const std::string&, const Json& params) {
            [[maybe_unused]] const int value = params.at("missing").get<int>();
        });
        auto call = link.call("x", {}, 5s);
        peer.sendLine({{"jsonrpc", "2.0"}, {"method", "log"}, {"params", Json::object()}});
        QCOMPARE(int(get(call).error().code), int(Code::Protocol));
    }

    void badTextIsRefusedHere() {
        Peer peer;
        AgentLink link(peer.transport(), options());
        auto call = link.call("x", {{"text", "\xff"}}, 5s);
        QCOMPARE(int(get(call).error().code), int(Code::BadInput));
        QVERIFY(!link.lost());
    }

    void closingEndsPendingCalls() {
        Peer peer;
        std::future<Result<Json>> call;
        QElapsedTimer timer;
        {
            AgentLink link(peer.transport(), options());
            call = link.call("x", {}, 30s);
            peer.next();
            timer.start();
        }
        QVERIFY(timer.elapsed() < 2000);
        QCOMPARE(int(get(call).error().code), int(Code::LinkLost));
        QVERIFY(peer.sawEnd());
    }

    void callsFromManyThreads() {
        Peer peer;
        AgentLink link(peer.transport(), options());
        constexpr int kThreads = 4;
        constexpr int kCalls = 200;
        std::thread echo([&peer] {
            for (int i = 0; i < kThreads * kCalls; ++i) {
                const Json request = peer.next();
                if (request == Json())
                    return;
                peer.answer(request, request.at("params"));
            }
        });
        std::atomic<int> right{0};
        std::vector<std::thread> callers;
        for (int t = 0; t < kThreads; ++t) {
            callers.emplace_back([&link, &right, t] {
                for (int i = 0; i < kCalls; ++i) {
                    auto call = link.call("echo", {t, i}, 5s);
                    const auto result = get(call);
                    right += result && *result == Json({t, i}) ? 1 : 0;
                }
            });
        }
        for (auto& caller : callers)
            caller.join();
        peer.hangUp();
        echo.join();
        QCOMPARE(right.load(), kThreads * kCalls);
    }

    void peerThatDoesNotReadDoesNotBlock() {
        Peer peer;
        AgentLink link(peer.transport(), options());
        // More than any socket buffer holds.
        auto call = link.call("big", std::string(8 << 20, 'x'), 100ms);
        QCOMPARE(int(get(call).error().code), int(Code::Timeout));
    }
};

QTEST_GUILESS_MAIN(TestHostLink)
#include "tst_hostlink.moc"
