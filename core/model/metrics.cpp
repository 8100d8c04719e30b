// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/metrics.h"

#include <algorithm>

namespace knobscope {

namespace {

struct Row {
    const char* name;
    const char* title;
    const char* unit;
    const char* help;
    bool perSide;
};

constexpr Row kRows[] = {
    {"throughput_mbit_s", "Throughput", "Mbit/s",
     "Payload delivered to the receiving application, in 10^6 bits per second.", false},
    {"transactions_s", "Transactions", "1/s", "Requests answered per second, all streams.", false},
    {"throughput_to_receiver_mbit_s", "Throughput to receiver", "Mbit/s",
     "Of a test both ways: payload delivered at the receiver.", false},
    {"throughput_from_receiver_mbit_s", "Throughput from receiver", "Mbit/s",
     "Of a test both ways: payload delivered at the sender.", false},
    {"sent_mbit_s", "Sent", "Mbit/s",
     "Payload that the sending application handed over, in 10^6 bits per second; some of it may "
     "not have arrived.",
     true},
    {"latency_min_us", "Latency, least", "µs", "Shortest response time.", false},
    {"latency_mean_us", "Latency, mean", "µs",
     "Mean time from a request, or when it was due, to its whole response.", false},
    {"latency_p50_us", "Latency, median", "µs", "Half of the response times are not above it.",
     false},
    {"latency_p90_us", "Latency, 90 %", "µs", "90 % of the response times are not above it.",
     false},
    {"latency_p99_us", "Latency, 99 %", "µs", "99 % of the response times are not above it.",
     false},
    {"latency_p999_us", "Latency, 99.9 %", "µs", "99.9 % of the response times are not above it.",
     false},
    {"latency_max_us", "Latency, most", "µs", "Longest response time.", false},
    {"loss_percent", "Loss", "%",
     "Datagrams that did not arrive (requests: were not answered in time), of those sent.", false},
    {"datagrams_sent", "Datagrams sent", "datagrams", "Sent within the measured time.", false},
    {"datagrams_received", "Datagrams received", "datagrams",
     "Of those sent within the measured time, each once.", false},
    {"datagrams_lost", "Datagrams lost", "datagrams", "Sent, but not received.", false},
    {"datagrams_reordered", "Datagrams reordered", "datagrams",
     "Arrived after one that was sent later.", false},
    {"datagrams_duplicate", "Datagrams duplicate", "datagrams", "Arrived once more.", false},
    {"jitter_us", "Jitter", "µs",
     "Interarrival jitter of RFC 3550 at the end, mean of the streams.", false},
    {"fairness", "Fairness", "",
     "Jain's index of the streams' rates: 1 when all are equal, 1/n when one has all.", false},
    {"elapsed_s", "Elapsed", "s", "Measured time, without warm-up.", false},
    {"retransmits", "Retransmits", "segments",
     "TCP segments sent again, of both ends for the sample or of one side.", false},
    {"service_demand_us_kb", "Service demand", "µs/KB",
     "CPU microseconds of the host per 1024 bytes transferred.", true},
    {"service_demand_us_tr", "Service demand", "µs/transaction",
     "CPU microseconds of the host per transaction.", true},
    {"cpu_percent", "CPU", "%", "Busy time of all CPUs of the host; 100 is all of them.", true},
    {"busiest_cpu_percent", "Busiest CPU", "%", "Busy time of the one CPU that was busiest.", true},
    {"steal_percent", "Stolen CPU", "%",
     "Time that the hypervisor gave to others, of all CPUs of the host.", true},
    {"agent_cpu_percent", "Agent CPU", "% of one CPU",
     "CPU time of the traffic program itself; 100 is one CPU.", true},
    {"cpu_user_percent", "CPU, user", "%", "Time of programs, of all CPUs of the host.", true},
    {"cpu_system_percent", "CPU, system", "%", "Time of system calls, of all CPUs of the host.",
     true},
    {"cpu_irq_percent", "CPU, interrupts", "%", "Time of interrupts, of all CPUs of the host.",
     true},
    {"cpu_softirq_percent", "CPU, soft interrupts", "%",
     "Time of deferred interrupt work, most of the network's, of all CPUs of the host.", true},
    {"context_switches_s", "Context switches", "1/s", "Of the whole host.", true},
    {"agent_voluntary_switches_s", "Agent waits", "1/s",
     "Times that a thread of the traffic program went to sleep.", true},
    {"agent_involuntary_switches_s", "Agent preemptions", "1/s",
     "Times that a thread of the traffic program had to leave its CPU.", true},
    {"bytes_per_send", "Bytes per send", "bytes", "Mean size of a send call that sent.", true},
    {"bytes_per_recv", "Bytes per receive", "bytes", "Mean size of a receive call that received.",
     true},
    {"send_calls", "Send calls", "calls", "Send calls within the measured time.", true},
    {"recv_calls", "Receive calls", "calls", "Receive calls within the measured time.", true},
    {"bytes_sent", "Bytes sent", "bytes", "Payload sent within the measured time.", true},
    {"bytes_received", "Bytes received", "bytes", "Payload received within the measured time.",
     true},
    {"sndbuf_initial", "Send buffer, initial", "bytes",
     "SO_SNDBUF before traffic, as the kernel reports it: twice the request on Linux.", true},
    {"rcvbuf_initial", "Receive buffer, initial", "bytes",
     "SO_RCVBUF before traffic, as the kernel reports it: twice the request on Linux.", true},
    {"sndbuf_final", "Send buffer, final", "bytes", "SO_SNDBUF after traffic.", true},
    {"rcvbuf_final", "Receive buffer, final", "bytes", "SO_RCVBUF after traffic.", true},
    {"mss", "MSS", "bytes", "TCP_MAXSEG at the end of the test.", true},
    {"tcpi_rtt", "Smoothed RTT", "µs", "Round-trip time as the kernel's TCP estimates it.", true},
    {"tcpi_rttvar", "RTT variation", "µs", "Mean deviation of the round-trip time.", true},
    {"tcpi_min_rtt", "Minimum RTT", "µs", "Smallest round-trip time seen.", true},
    {"tcpi_rcv_rtt", "Receiver RTT", "µs", "Round-trip time as the receiver estimates it.", true},
    {"tcpi_rto", "Retransmission timeout", "µs", "Retransmission timeout at the end.", true},
    {"tcpi_ato", "Delayed ACK timeout", "µs", "Delayed acknowledgement timeout at the end.", true},
    {"tcpi_snd_cwnd", "Congestion window", "segments", "Congestion window at the end.", true},
    {"tcpi_snd_ssthresh", "Slow start threshold", "segments",
     "Slow start threshold of the sender at the end.", true},
    {"tcpi_rcv_ssthresh", "Receive window limit", "bytes",
     "Largest window that the receiver would announce at the end.", true},
    {"tcpi_rcv_space", "Receive space", "bytes", "Space that receive buffer autotuning aims at.",
     true},
    {"tcpi_snd_mss", "Sending MSS", "bytes", "Segment size used for sending.", true},
    {"tcpi_rcv_mss", "Receiving MSS", "bytes", "Segment size seen on receive.", true},
    {"tcpi_pmtu", "Path MTU", "bytes", "Largest packet the path takes.", true},
    {"tcpi_reordering", "Reordering", "segments", "Reordering distance that TCP allows for.", true},
    {"tcpi_total_retrans", "Retransmitted segments", "segments",
     "Segments sent again over the life of the connections, summed.", true},
    {"tcpi_delivery_rate", "Delivery rate", "bytes/s", "Latest rate of delivery.", true},
    {"tcpi_pacing_rate", "Pacing rate", "bytes/s", "Rate at which segments are paced.", true},
    {"tcpi_busy_time", "Busy time", "µs", "Time with data to send, summed.", true},
    {"tcpi_rwnd_limited", "Limited by receive window", "µs",
     "Time that sending waited for the peer's window, summed.", true},
    {"tcpi_sndbuf_limited", "Limited by send buffer", "µs",
     "Time that sending waited for room in the send buffer, summed.", true},
};

MetricInfo infoOf(const Row& row) {
    return {QLatin1String(row.name), QString::fromUtf8(row.title), QString::fromUtf8(row.unit),
            QString::fromUtf8(row.help), row.perSide};
}

} // namespace

QList<MetricInfo> knownMetrics() {
    QList<MetricInfo> metrics;
    for (const Row& row : kRows)
        metrics << infoOf(row);
    return metrics;
}

MetricInfo metricInfo(const QString& name) {
    const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& candidate) {
        return name == QLatin1String(candidate.name);
    });
    if (row != std::end(kRows))
        return infoOf(*row);
    MetricInfo info;
    info.name = name;
    const bool tcpInfo = name.startsWith(QLatin1String("tcpi_"));
    info.title = name.mid(tcpInfo ? 5 : 0).replace(QLatin1Char('_'), QLatin1Char(' '));
    if (!info.title.isEmpty())
        info.title[0] = info.title[0].toUpper();
    info.help = tcpInfo ? QStringLiteral("Field %1 of the kernel's struct tcp_info.").arg(name)
                        : QStringLiteral("Number that the run stored under this name.");
    info.perSide = tcpInfo;
    return info;
}

QString mainMetric(const QString& testKind) {
    return testKind.endsWith(QLatin1String("rr")) ? QStringLiteral("transactions_s")
                                                  : QStringLiteral("throughput_mbit_s");
}

} // namespace knobscope
