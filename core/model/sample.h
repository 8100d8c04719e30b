// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/hostref.h"

#include <QDateTime>
#include <QHash>
#include <QList>
#include <QMap>
#include <QMetaType>
#include <QSet>

namespace knobscope {

/// One number of a sample. Names carry their unit; metricInfo() explains them.
///
/// Of a side with several hosts there are figures of each host and, with number 0, of all of them:
/// amounts are summed, shares of CPU time are the mean over the hosts, the busiest CPU is the
/// busiest of all.
struct Metric {
    HostRef host; ///< of a side, of one of its hosts, or of the whole sample
    QString name; ///< "throughput_mbit_s"
    double value = 0;
    bool operator==(const Metric&) const = default;
};

/// How a counter moved over a sample. Counters that did not move are not kept; that they were
/// there is (SampleRecord::presentCounters), because absent is not zero. Of a side with several
/// hosts, number 0 is the sum over those that have the counter.
struct CounterDelta {
    HostRef host = Side::Sender;
    QString source; ///< "ethtool", "snmp", "netstat", "snmp6", "interface", "softnet", "interrupts"
    QString name;   ///< "TcpRetransSegs"
    qint64 delta = 0;
    bool operator==(const CounterDelta&) const = default;
};

/// A host knob as it stood for a sample.
struct KnobState {
    HostRef host = Side::Sender; ///< one host; never a side that has several
    QString knob;
    QString requested;
    std::optional<QString> accepted; ///< read back; absent: could not be read
    std::optional<QString> original;
    QString status; ///< "applied", "unchanged", "adjusted", "rejected"
    QString error;
    bool operator==(const KnobState&) const = default;
};

/// Datagrams of one UDP stream; of transactions, as the end that asks tells them.
struct DatagramFigures {
    quint64 sent = 0;
    quint64 received = 0; ///< each once
    quint64 lost = 0;
    quint64 reordered = 0;
    quint64 duplicates = 0;
    std::optional<double> jitterUs; ///< RFC 3550, section 6.4.1
    bool operator==(const DatagramFigures&) const = default;
};

/// What one connection did, as one of its ends tells it: of the measured time, without warm-up.
/// What that end does not know is absent.
struct StreamFigures {
    int instance = 0;   ///< of the test, from 1; 0: there is only one
    int number = 0;     ///< within its instance, from 1; both ends of a stream have the same
    bool sends = false; ///< this end sends the data or the requests
    quint64 bytesSent = 0;
    quint64 bytesReceived = 0;
    quint64 sendCalls = 0;
    quint64 receiveCalls = 0;
    double elapsedSeconds = 0;           ///< this stream's own measured time
    std::optional<qint64> transactions;  ///< of the kinds of test that have them
    std::optional<qint64> sndbufInitial; ///< bytes, as the kernel reports it: twice the request
    std::optional<qint64> rcvbufInitial;
    std::optional<qint64> sndbufFinal;
    std::optional<qint64> rcvbufFinal;
    std::optional<qint64> rcvlowat; ///< bytes: SO_RCVLOWAT at the end
    std::optional<qint64> mss;      ///< bytes, at the end
    // Of TCP, at the end of the test.
    std::optional<qint64> retransmits;      ///< segments, over the life of the connection
    std::optional<qint64> congestionWindow; ///< segments
    std::optional<qint64> roundTripUs;      ///< smoothed
    std::optional<qint64> roundTripVariationUs;
    std::optional<qint64> leastRoundTripUs;
    std::optional<qint64> pathMtu;                ///< bytes
    std::optional<qint64> deliveryBytesPerSecond; ///< latest rate
    std::optional<qint64> localPort;
    std::optional<QString> congestionControl; ///< in force
    std::optional<DatagramFigures> datagrams; ///< UDP
    bool operator==(const StreamFigures&) const = default;
};

/// One interval of a series: amounts within the interval that ends at `endSeconds`.
struct SeriesPoint {
    double endSeconds = 0;
    double mbitPerSecond = 0;
    double transactionsPerSecond = 0;
    // Of TCP, at the end of the interval; absent for UDP.
    std::optional<double> congestionWindow; ///< segments, all connections together
    std::optional<double> roundTripUs;      ///< mean of the connections' smoothed round trips
    std::optional<double> retransmits;      ///< within the interval
    bool operator==(const SeriesPoint&) const = default;
};

/// How often values fell into each bucket, over all hosts of a side or of the sample.
/// "latency_ns": buckets of protocol::Histogram;
/// "receive_bytes": bucket i has the calls that received 2^i to 2^(i+1)-1 bytes.
struct Distribution {
    Side side = Side::Whole;
    QString name;
    quint64 minimum = 0;
    quint64 maximum = 0;
    double mean = 0;
    QList<std::pair<quint32, quint64>> buckets; ///< index and count, of those not empty, in order
    bool operator==(const Distribution&) const = default;
};

enum class SampleState {
    Done,    ///< measured with the knobs as asked
    Flagged, ///< measured, with something the reader must know (see flags)
    Failed,  ///< an attempt that gave no result; reason says why
};

/// One measured repeat of a cell, or one failed attempt at it. A value; written once.
struct SampleRecord {
    qint64 id = 0; ///< of the database; 0: not stored yet
    int cell = 0;
    int block = 0;
    int order = 0;   ///< position in the run, from 0
    int attempt = 0; ///< 0: the first
    SampleState state = SampleState::Done;
    QString reason;    ///< Failed: one sentence
    QStringList flags; ///< plain sentences: "sender 2: tcp_rmem requested 9999, host took 8192"
    QDateTime started;
    QDateTime ended;
    QList<KnobState> knobs;
    QList<Metric> metrics;
    QList<CounterDelta> deltas;
    QMap<HostRef, QMap<QString, QStringList>> presentCounters; ///< by host, source: names, sorted
    QMap<Side, QList<SeriesPoint>> series;                     ///< over all hosts of the side
    QList<Distribution> distributions;
    QMap<HostRef, QList<StreamFigures>> streams; ///< by host: never a side that has several

    [[nodiscard]] bool measured() const { return state != SampleState::Failed; }
    [[nodiscard]] std::optional<double> metric(const QString& name, HostRef host = {}) const;
};

} // namespace knobscope

Q_DECLARE_METATYPE(knobscope::SampleRecord)
