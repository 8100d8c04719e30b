// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/address.h"
#include "agents/agent/engine/controllink.h"
#include "agents/agent/engine/setup.h"
#include "agents/agent/engine/tcpinfo.h"
#include "agents/agent/error.h"

#include <QTest>

#include <linux/tcp.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <string>

using namespace knobscope::agent;

class EnginePartsTest : public QObject {
    Q_OBJECT

private slots:
    void comparesAddresses_data();
    void comparesAddresses();
    void proofCarriesTokenAndIndex();
    void tcpInfoOfOlderKernels_data();
    void tcpInfoOfOlderKernels();
    void tcpInfoUnknownIsAbsent();
    void controlLinkInPieces();
    void controlLinkRejectsGarbage();
};

void EnginePartsTest::comparesAddresses_data() {
    QTest::addColumn<QString>("a");
    QTest::addColumn<QString>("b");
    QTest::addColumn<bool>("same");
    QTest::newRow("equal") << "10.1.2.3"
                           << "10.1.2.3" << true;
    QTest::newRow("other") << "10.1.2.3"
                           << "10.1.2.4" << false;
    QTest::newRow("spelling") << "2001:db8:0::1"
                              << "2001:db8::1" << true;
    QTest::newRow("other IPv6") << "2001:db8::1"
                                << "2001:db8::2" << false;
    QTest::newRow("family") << "::1"
                            << "127.0.0.1" << false;
    QTest::newRow("mapped is not IPv4") << "::ffff:127.0.0.1"
                                        << "127.0.0.1" << false;
}

void EnginePartsTest::comparesAddresses() {
    QFETCH(QString, a);
    QFETCH(QString, b);
    QFETCH(bool, same);
    QCOMPARE(Address::parse(a.toStdString(), 1).sameHost(Address::parse(b.toStdString(), 2)), same);
}

void EnginePartsTest::proofCarriesTokenAndIndex() {
    Token token{};
    for (std::size_t i = 0; i < token.size(); ++i)
        token[i] = static_cast<unsigned char>(i * 17);
    const Proof proof = makeProof(token, 0x01020304);
    QCOMPARE(proofIndex(proof), std::uint32_t{0x01020304});
    QVERIFY(sameToken(token, proof));
    for (std::size_t i = 0; i < token.size(); ++i) {
        for (int bit = 0; bit < 8; ++bit) {
            Proof other = proof;
            other[i] = static_cast<unsigned char>(other[i] ^ (1 << bit));
            QVERIFY(!sameToken(token, other));
        }
    }
}

void EnginePartsTest::tcpInfoOfOlderKernels_data() {
    QTest::addColumn<int>("length");
    QTest::addColumn<QString>("last"); // there
    QTest::addColumn<QString>("next"); // not there
    QTest::newRow("nothing") << 0 << ""
                             << "state";
    QTest::newRow("2.6") << static_cast<int>(offsetof(tcp_info, tcpi_pacing_rate))
                         << "total_retrans"
                         << "pacing_rate";
    QTest::newRow("4.9") << static_cast<int>(offsetof(tcp_info, tcpi_busy_time)) << "delivery_rate"
                         << "busy_time";
    QTest::newRow("inside a field")
        << static_cast<int>(offsetof(tcp_info, tcpi_rtt) + 2) << "rcv_ssthresh"
        << "rtt";
    QTest::newRow("this header") << static_cast<int>(sizeof(tcp_info)) << "snd_wnd"
                                 << "tcpi_rtt";
    QTest::newRow("newer") << static_cast<int>(sizeof(tcp_info) + 64) << "snd_wnd"
                           << "tcpi_rtt";
}

void EnginePartsTest::tcpInfoOfOlderKernels() {
    QFETCH(int, length);
    QFETCH(QString, last);
    QFETCH(QString, next);
    std::array<char, sizeof(tcp_info) + 64> bytes;
    bytes.fill(1);
    const auto fields = tcpInfoFields(bytes.data(), static_cast<std::size_t>(length));
    QCOMPARE(fields.empty(), last.isEmpty());
    QVERIFY(last.isEmpty() || fields.contains(last.toStdString()));
    QVERIFY(!fields.contains(next.toStdString()));
}

void EnginePartsTest::tcpInfoUnknownIsAbsent() {
    tcp_info info{};
    info.tcpi_min_rtt = ~0U;
    info.tcpi_max_pacing_rate = ~0ULL;
    info.tcpi_rtt = 1234;
    info.tcpi_backoff = 0xff;
    info.tcpi_snd_wscale = 7;
    info.tcpi_bytes_acked = 5'000'000'000;
    const auto fields = tcpInfoFields(&info, sizeof info);
    QVERIFY(!fields.contains("min_rtt"));
    QVERIFY(!fields.contains("max_pacing_rate"));
    QCOMPARE(fields.at("rtt"), std::int64_t{1234});
    QCOMPARE(fields.at("backoff"), std::int64_t{255});
    QCOMPARE(fields.at("snd_wscale"), std::int64_t{7});
    QCOMPARE(fields.at("bytes_acked"), std::int64_t{5'000'000'000});
    QCOMPARE(fields.at("total_retrans"), std::int64_t{0});
}

namespace {

/// A control link over a real connection (it sets options of TCP), and the bare other end.
struct Linked {
    Fd listener{::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    Fd raw{::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    std::unique_ptr<ControlLink> link;

    explicit Linked(std::size_t streams) {
        const Address any = Address::parse("::1", 0);
        sockaddr_storage bound{};
        socklen_t length = sizeof bound;
        auto* generic = reinterpret_cast<sockaddr*>(&bound);
        if (::bind(listener.get(), any.data(), any.length()) != 0 ||
            ::listen(listener.get(), 1) != 0 ||
            ::getsockname(listener.get(), generic, &length) != 0 ||
            ::connect(raw.get(), generic, length) != 0)
            return;
        link = std::make_unique<ControlLink>(
            Fd(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)), "::1", streams);
    }
    void deliver(const std::string& bytes) {
        if (!bytes.empty())
            QCOMPARE(::send(raw.get(), bytes.data(), bytes.size(), 0),
                     static_cast<ssize_t>(bytes.size()));
        pollfd ready{link->fd(), POLLIN, 0};
        QCOMPARE(::poll(&ready, 1, 1000), 1);
        link->receive();
    }
};

} // namespace

void EnginePartsTest::controlLinkInPieces() {
    Linked ends(2);
    QVERIFY(ends.link);
    ControlLink& link = *ends.link;
    std::string done = "D";
    for (char number = 1; number <= 6; ++number)
        done += std::string(7, '\0') + number;
    for (const char byte : "G" + done) {
        QVERIFY(!link.heard(ControlLink::Word::kDone));
        ends.deliver(std::string(1, byte));
    }
    QVERIFY(link.heard(ControlLink::Word::kGo));
    QVERIFY(link.heard(ControlLink::Word::kDone));
    QVERIFY(!link.heard(ControlLink::Word::kTotals));
    QCOMPARE(link.counts().size(), std::size_t{2});
    QCOMPARE(link.counts()[0].bytesSent, std::uint64_t{1});
    QCOMPARE(link.counts()[1].transactions, std::uint64_t{6});
    ends.raw.reset();
    ends.deliver({});
    QVERIFY(link.closed());
    QCOMPARE(link.fd(), -1);
}

void EnginePartsTest::controlLinkRejectsGarbage() {
    Linked ends(1);
    QVERIFY(ends.link);
    QVERIFY_THROWS_EXCEPTION(AgentError, ends.deliver("HTTP/1.1 400 Bad Request\r\n"));
    Linked repeating(1);
    QVERIFY_THROWS_EXCEPTION(AgentError, repeating.deliver("GGGGGGGG"));
}

QTEST_GUILESS_MAIN(EnginePartsTest)
#include "tst_engine_parts.moc"
