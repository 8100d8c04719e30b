// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/knob.h"

#include <QDateTime>
#include <QHash>
#include <QList>
#include <QMap>
#include <QMetaType>
#include <QSet>

namespace knobscope {

/// One number of a sample. Names carry their unit; metricInfo() explains them.
struct Metric {
    Side side = Side::Whole; ///< Sender, Receiver, or Whole (of the sample)
    QString name;            ///< "throughput_mbit_s"
    double value = 0;
    bool operator==(const Metric&) const = default;
};

/// How a counter moved over a sample. Counters that did not move are not kept; that they were
/// there is (SampleRecord::presentCounters), because absent is not zero.
struct CounterDelta {
    Side side = Side::Sender;
    QString source; ///< "ethtool", "snmp", "netstat", "snmp6", "interface", "softnet", "interrupts"
    QString name;   ///< "TcpRetransSegs"
    qint64 delta = 0;
    bool operator==(const CounterDelta&) const = default;
};

/// A host knob as it stood for a sample.
struct KnobState {
    Side side = Side::Sender;
    QString knob;
    QString requested;
    std::optional<QString> accepted; ///< read back; absent: could not be read
    std::optional<QString> original;
    QString status; ///< "applied", "unchanged", "adjusted", "rejected"
    QString error;
    bool operator==(const KnobState&) const = default;
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

/// How often values fell into each bucket. "latency_ns": buckets of protocol::Histogram;
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
    QStringList flags; ///< plain sentences: "sender: tcp_rmem requested 9999, host took 8192"
    QDateTime started;
    QDateTime ended;
    QList<KnobState> knobs;
    QList<Metric> metrics;
    QList<CounterDelta> deltas;
    QMap<Side, QMap<QString, QStringList>> presentCounters; ///< by side, source: names, sorted
    QMap<Side, QList<SeriesPoint>> series;
    QList<Distribution> distributions;

    [[nodiscard]] bool measured() const { return state != SampleState::Failed; }
    [[nodiscard]] std::optional<double> metric(const QString& name, Side side = Side::Whole) const;
};

} // namespace knobscope

Q_DECLARE_METATYPE(knobscope::SampleRecord)
