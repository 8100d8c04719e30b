// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/matrix.h"
#include "core/model/run.h"

/// Experiments and samples that use every field, for the tests of the database.
namespace knobscope::example {

inline Experiment experiment() {
    Experiment e;
    e.name = QStringLiteral("Fenêtre × 窗口 \"quoted\" 🙂");
    e.sender.local = true;
    e.sender.address = QStringLiteral("127.0.0.1");
    e.receiver.local = true;
    e.receiver.address = QStringLiteral("127.0.0.1");
    e.sender.interface = QStringLiteral("lo");
    e.receiver.interface = QStringLiteral("lo");
    e.test.seconds = 1.5;
    e.axes = {Axis{QStringLiteral("window"),
                   Side::Both,
                   {KnobValue(QStringLiteral("64K")), KnobValue(QStringLiteral("auto"))}},
              Axis{QStringLiteral("message_size"),
                   Side::Both,
                   {KnobValue(QStringLiteral("4K")), KnobValue(QStringLiteral("16K")),
                    KnobValue(QStringLiteral("128K"))}}};
    e.plan.repeatsMin = 2;
    e.plan.repeatsMax = 4;
    return e;
}

inline QDateTime time(qint64 ms) {
    return QDateTime::fromMSecsSinceEpoch(ms, Qt::UTC);
}

/// One stream that knows everything, one that knows as little as can be.
inline QList<StreamFigures> streams() {
    StreamFigures full;
    full.instance = 2;
    full.number = 1;
    full.sends = true;
    full.bytesSent = 123456789012;
    full.bytesReceived = 7;
    full.sendCalls = 1883789;
    full.receiveCalls = 1;
    full.elapsedSeconds = 2.000125;
    full.transactions = 99;
    full.sndbufInitial = 16384;
    full.rcvbufInitial = 131072;
    full.sndbufFinal = 4194304;
    full.rcvbufFinal = 6291456;
    full.rcvlowat = 65536;
    full.mss = 1448;
    full.retransmits = 0;
    full.congestionWindow = 10;
    full.roundTripUs = 120;
    full.roundTripVariationUs = 15;
    full.leastRoundTripUs = 80;
    full.pathMtu = 1500;
    full.deliveryBytesPerSecond = 117'000'000;
    full.localPort = 40001;
    full.congestionControl = QStringLiteral("cubic");
    full.datagrams = DatagramFigures{100, 90, 10, 3, 2, 12.5};
    StreamFigures bare;
    bare.number = 2;
    return {full, bare};
}

/// A measured sample of cell `cell`; `order` makes it differ from others.
inline SampleRecord sample(int cell, int block, int order) {
    SampleRecord s;
    s.cell = cell;
    s.block = block;
    s.order = order;
    s.state = SampleState::Flagged;
    s.flags = {QStringLiteral("sender: tcp_rmem requested 9999, host took 8192"),
               QStringLiteral("µs — “späte” Antwort")};
    s.started = time(1790000000123 + order * 1000);
    s.ended = time(1790000001456 + order * 1000);
    s.knobs = {KnobState{Side::Sender, QStringLiteral("sysctl:net.ipv4.tcp_rmem"),
                         QStringLiteral("4096 131072 6291456"),
                         QStringLiteral("4096\t131072\t6291456"), QStringLiteral("1 2 3"),
                         QStringLiteral("applied"), QString()},
               KnobState{Side::Receiver, QStringLiteral("feature:tso"), QStringLiteral("on"),
                         std::nullopt, std::nullopt, QStringLiteral("rejected"),
                         QStringLiteral("Operation not supported")}};
    s.metrics = {Metric{Side::Whole, QStringLiteral("throughput_mbit_s"), 941.25 + order},
                 Metric{Side::Whole, QStringLiteral("retransmits"), 0},
                 Metric{Side::Sender, QStringLiteral("cpu_percent"), 12.5},
                 Metric{Side::Receiver, QStringLiteral("cpu_percent"), 1e-300}};
    s.deltas = {CounterDelta{Side::Sender, QStringLiteral("netstat"),
                             QStringLiteral("TcpExtTCPTimeouts"), -3},
                CounterDelta{Side::Receiver, QStringLiteral("snmp"), QStringLiteral("TcpInSegs"),
                             std::numeric_limits<qint64>::max()}};
    s.presentCounters = {
        {Side::Sender,
         {{QStringLiteral("netstat"),
           {QStringLiteral("TcpExtListenDrops"), QStringLiteral("TcpExtTCPTimeouts")}},
          {QStringLiteral("ethtool"), {}}}},
        {Side::Receiver,
         {{QStringLiteral("snmp"), {QStringLiteral("TcpInSegs"), QStringLiteral("TcpOutSegs")}}}}};
    s.distributions = {
        Distribution{
            Side::Whole, QStringLiteral("latency_ns"), 1000, 90000, 2000.5, {{1000, 3}, {7000, 1}}},
        Distribution{Side::Receiver,
                     QStringLiteral("receive_bytes"),
                     4,
                     7,
                     5,
                     {{2, std::numeric_limits<quint64>::max()}}}};
    s.series = {{Side::Sender,
                 {SeriesPoint{0.1, 940, 0, 10.0, 55.5, 0.0},
                  SeriesPoint{0.2, 942.125, 0, std::nullopt, 54.5, 3.0}}},
                {Side::Receiver,
                 {SeriesPoint{0.1, 0, 7, {}, {}, {}}, SeriesPoint{0.2, 3, 1.0 / 3, {}, {}, {}}}}};
    s.streams = {{Side::Sender, streams()}, {Side::Receiver, streams().mid(1)}};
    return s;
}

/// The same of two senders and a receiver.
inline SampleRecord sampleOfSeveral(int cell, int block, int order) {
    SampleRecord s = sample(cell, block, order);
    s.knobs.clear();
    s.deltas.insert(
        1, CounterDelta{Side::Sender, QStringLiteral("snmp"), QStringLiteral("TcpOutSegs"), 3000});
    s.streams = {{Side::Receiver, streams()}};
    for (int number = 1; number <= 2; ++number) {
        const HostRef host(Side::Sender, number);
        s.knobs.append(KnobState{host, QStringLiteral("sysctl:net.ipv4.tcp_sack"),
                                 QStringLiteral("0"), QStringLiteral("0"), QStringLiteral("1"),
                                 QStringLiteral("applied"), QString()});
        s.metrics.append(Metric{host, QStringLiteral("throughput_mbit_s"), 400.0 + number});
        s.metrics.append(Metric{host, QStringLiteral("cpu_percent"), 12.5 * number});
        s.deltas.append(CounterDelta{host, QStringLiteral("snmp"), QStringLiteral("TcpOutSegs"),
                                     1000 * number});
        s.presentCounters[host][QStringLiteral("snmp")] = {QStringLiteral("TcpOutSegs")};
        s.streams[host] = streams().mid(number - 1, 1);
    }
    return s;
}

/// Its experiment.
inline Experiment experimentOfSeveral() {
    Experiment e = experiment();
    const auto remote = [](const char* name, int number) {
        return HostSpec{false, QString::fromLatin1(name), QStringLiteral("10.0.0.%1").arg(number),
                        QStringLiteral("test0")};
    };
    e.sender = remote("host1", 1);
    e.moreSenders = {remote("host2", 2)};
    e.receiver = remote("host3", 3);
    return e;
}

inline SampleRecord failedAttempt(int cell, int block, int order) {
    SampleRecord s;
    s.cell = cell;
    s.block = block;
    s.order = order;
    s.state = SampleState::Failed;
    s.reason = QStringLiteral("Contact with host2 was lost");
    s.started = time(1790000000000);
    s.ended = time(1790000000500);
    return s;
}

} // namespace knobscope::example
