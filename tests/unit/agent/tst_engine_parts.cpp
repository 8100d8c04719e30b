// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/address.h"
#include "agents/agent/engine/controllink.h"
#include "agents/agent/engine/datagrams.h"
#include "agents/agent/engine/setup.h"
#include "agents/agent/engine/tcpinfo.h"
#include "agents/agent/error.h"
#include "agents/protocol/histogram.h"

#include <QTest>

#include <linux/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace knobscope::agent;
using knobscope::protocol::Histogram;

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
    void histogramKeepsThreeDigits_data();
    void histogramKeepsThreeDigits();
    void histogramBucketsAreSeamless();
    void datagramsAreToldApart_data();
    void datagramsAreToldApart();
    void jitterIsThatOfTheRfc();
    void headersSurviveTheWire();
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
    const std::string ready{'R', '\x9c', '\x41', '\0', '\x50'};
    for (const char byte : ready + "UG" + done) {
        QVERIFY(!link.heard(ControlLink::Word::kDone));
        ends.deliver(std::string(1, byte));
    }
    QVERIFY(link.heard(ControlLink::Word::kGo));
    QVERIFY(link.heard(ControlLink::Word::kDone));
    QVERIFY(!link.heard(ControlLink::Word::kTotals));
    QCOMPARE(link.ports(), (std::vector<int>{40001, 80}));
    QCOMPARE(link.done().size(), std::size_t{2});
    QCOMPARE(link.done()[0].bytesSent, std::uint64_t{1});
    QCOMPARE(link.done()[1].transactions, std::uint64_t{6});
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

void EnginePartsTest::histogramKeepsThreeDigits_data() {
    QTest::addColumn<double>("lowest"); // exponents of ten, ns
    QTest::addColumn<double>("highest");
    QTest::addColumn<int>("count");
    QTest::newRow("one") << 3.0 << 3.0 << 1;
    QTest::newRow("a few") << 0.0 << 3.0 << 7;
    QTest::newRow("microseconds") << 3.0 << 6.0 << 5000;
    QTest::newRow("the whole range") << 0.0 << 10.77 << 20000;
    QTest::newRow("many equal") << 4.0 << 4.01 << 1000;
}

/// Against a sorted list of the same values.
void EnginePartsTest::histogramKeepsThreeDigits() {
    QFETCH(double, lowest);
    QFETCH(double, highest);
    QFETCH(int, count);
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> exponent(lowest, highest);
    Histogram halves[2];
    std::vector<std::uint64_t> values;
    double sum = 0;
    for (int i = 0; i < count; ++i) {
        values.push_back(static_cast<std::uint64_t>(std::pow(10, exponent(random))));
        halves[i % 2].record(values.back());
        sum += static_cast<double>(values.back());
    }
    std::sort(values.begin(), values.end());
    halves[0].add(halves[1]);
    // Also after a journey over the wire.
    const knobscope::Json wire = halves[0].toLatency();
    const Histogram back(wire.get<knobscope::protocol::Latency>());
    for (const Histogram* histogram : {&std::as_const(halves[0]), &back}) {
        QCOMPARE(histogram->count(), values.size());
        QCOMPARE(histogram->min(), values.front());
        QCOMPARE(histogram->max(), values.back());
        QVERIFY(std::abs(histogram->mean() * count / sum - 1) < 1e-9);
        for (const double share : {0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
            const auto rank = static_cast<std::size_t>(std::max(1.0, std::ceil(share * count)));
            const auto exact = static_cast<double>(values[rank - 1]);
            const auto kept = static_cast<double>(histogram->percentile(share));
            QVERIFY2(std::abs(kept - exact) <= exact / 1000,
                     qPrintable(QString("%1: %2, not %3").arg(share).arg(kept).arg(exact)));
        }
    }
}

void EnginePartsTest::histogramBucketsAreSeamless() {
    for (std::uint64_t ns = 0; ns < 70'000; ++ns) {
        Histogram histogram;
        histogram.record(ns);
        const auto latency = histogram.toLatency();
        const auto index = static_cast<std::size_t>(latency.buckets.at(0)[0]);
        QVERIFY(Histogram::lowest(index) <= ns && ns < Histogram::beyond(index));
        if (ns > 5000)
            ns += 97;
    }
    QCOMPARE(Histogram().percentile(0.5), std::uint64_t{0});
    Histogram endless;
    endless.record(UINT64_MAX);
    QCOMPARE(endless.max(), UINT64_MAX);
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument,
                             Histogram(knobscope::protocol::Latency{1, 1, 1, 1, {{1u << 20, 1}}}));
}

void EnginePartsTest::datagramsAreToldApart_data() {
    QTest::addColumn<QList<int>>("numbers"); // in the order they arrive
    QTest::addColumn<int>("received");
    QTest::addColumn<int>("reordered");
    QTest::addColumn<int>("duplicates");
    QTest::newRow("none") << QList<int>{} << 0 << 0 << 0;
    QTest::newRow("in order") << QList<int>{0, 1, 2, 3} << 4 << 0 << 0;
    QTest::newRow("a gap") << QList<int>{0, 1, 5, 6} << 4 << 0 << 0;
    QTest::newRow("swapped") << QList<int>{0, 2, 1, 3} << 4 << 1 << 0;
    QTest::newRow("twice") << QList<int>{0, 1, 1, 2} << 3 << 0 << 1;
    QTest::newRow("late and twice") << QList<int>{0, 3, 1, 1, 2, 3} << 4 << 2 << 2;
    QTest::newRow("first one late") << QList<int>{1, 0} << 2 << 1 << 0;
    QTest::newRow("far behind") << QList<int>{0, 200000, 1} << 3 << 1 << 0;
    QTest::newRow("window comes round") << QList<int>{5, 65536 + 5, 65536 + 5, 6} << 3 << 1 << 1;
}

void EnginePartsTest::datagramsAreToldApart() {
    QFETCH(QList<int>, numbers);
    DatagramTracker tracker;
    std::uint64_t now = 1000;
    for (const int number : numbers)
        tracker.arrived({static_cast<std::uint64_t>(number), true, 0}, now += 10);
    const auto seen = tracker.measured();
    QTEST(static_cast<int>(seen.received), "received");
    QTEST(static_cast<int>(seen.reordered), "reordered");
    QTEST(static_cast<int>(seen.duplicates), "duplicates");
    QCOMPARE(tracker.allReceived(), seen.received);
    QCOMPARE(seen.jitter_us.has_value(), seen.received > 1);
}

/// RFC 3550, section 6.4.1: J += (|D| - J) / 16, of the differences of transit times.
void EnginePartsTest::jitterIsThatOfTheRfc() {
    DatagramTracker tracker;
    const std::uint64_t sent[] = {0, 1'000'000, 2'000'000, 3'000'000};
    // The receiver's clock is far behind, which does not matter.
    const std::uint64_t arrived[] = {50, 1'016'050, 2'000'050, 3'000'050};
    for (std::uint64_t i = 0; i < 4; ++i)
        tracker.arrived({i, true, sent[i]}, arrived[i] - 40);
    // D is 16, -16 and 0 µs.
    const double expected = (1.0 + (16 - 1.0) / 16) * 15 / 16;
    QVERIFY(std::abs(tracker.measured().jitter_us.value() - expected) < 1e-9);
    tracker.arrived({4, false, 0}, 0); // of the warm-up: does not count
    QCOMPARE(tracker.measured().received, std::uint64_t{4});
}

void EnginePartsTest::headersSurviveTheWire() {
    for (const bool measured : {false, true}) {
        char bytes[DatagramHeader::kBytes];
        DatagramHeader{0x0102030405060708, measured, 0xfffefdfcfbfaf9f8}.write(bytes);
        const DatagramHeader header = DatagramHeader::read(bytes);
        QCOMPARE(header.number, std::uint64_t{0x0102030405060708});
        QCOMPARE(header.measured, measured);
        QCOMPARE(header.sentNs, std::uint64_t{0xfffefdfcfbfaf9f8});
    }
}

QTEST_GUILESS_MAIN(EnginePartsTest)
#include "tst_engine_parts.moc"
