// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>
#include <QString>

namespace knobscope {

/// What a metric is called and how it is written.
struct MetricInfo {
    QString name;         ///< "throughput_mbit_s", also the CSV column
    QString title;        ///< "Throughput"
    QString unit;         ///< "Mbit/s"
    QString help;         ///< definition, one sentence
    bool perSide = false; ///< exists for sender and receiver rather than once a sample
};

/// Whole-sample metrics: throughput_mbit_s (payload at the receiving application, 10^6 bits/s),
/// transactions_s, elapsed_s, retransmits (segments, both ends), service_demand_us_kb or
/// service_demand_us_tr (CPU microseconds of one host per 1024 bytes or per transaction; per side).
/// Per side: cpu_percent (of all CPUs of the host), busiest_cpu_percent, steal_percent,
/// agent_cpu_percent (100 = one CPU), retransmits, bytes_per_send, bytes_per_recv, send_calls,
/// recv_calls, bytes_sent, bytes_received, sndbuf_initial, rcvbuf_initial, sndbuf_final,
/// rcvbuf_final, mss, and tcpi_* (fields of TCP_INFO, mean over streams; counts are summed).
[[nodiscard]] QList<MetricInfo> knownMetrics();
/// For any name: tcpi_ fields and unknown ones get a title made of the name.
[[nodiscard]] MetricInfo metricInfo(const QString& name);

/// The metric a test is about: "throughput_mbit_s" or "transactions_s".
[[nodiscard]] QString mainMetric(const QString& testKind);

} // namespace knobscope
