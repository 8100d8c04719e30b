// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/sidemetrics.h"

#include "core/model/plural.h"

#include <algorithm>
#include <cmath>

namespace knobscope {

using protocol::StreamResult;
using protocol::TrafficResult;

void addMetric(SampleRecord& sample, HostRef host, const QString& name, double value) {
    if (std::isfinite(value))
        sample.metrics.append(Metric{host, name, value});
}

quint64 sumOf(const TrafficResult& result, std::uint64_t StreamResult::*field) {
    quint64 sum = 0;
    for (const StreamResult& stream : result.streams)
        sum += stream.*field;
    return sum;
}

std::optional<double> meanOf(const TrafficResult& result,
                             std::optional<std::int64_t> StreamResult::*field) {
    double sum = 0;
    int n = 0;
    for (const StreamResult& stream : result.streams) {
        if (const auto& value = stream.*field) {
            sum += static_cast<double>(*value);
            ++n;
        }
    }
    return n == 0 ? std::nullopt : std::optional<double>(sum / n);
}

std::optional<double> meanOfTcpInfo(const TrafficResult& result, const std::string& field) {
    double sum = 0;
    int n = 0;
    for (const StreamResult& stream : result.streams) {
        if (const auto found = stream.tcp_info.find(field); found != stream.tcp_info.end()) {
            sum += static_cast<double>(found->second);
            ++n;
        }
    }
    return n == 0 ? std::nullopt : std::optional<double>(sum / n);
}

std::optional<double> fairness(const QList<double>& amounts) {
    double sum = 0;
    double squares = 0;
    for (const double amount : amounts) {
        sum += amount;
        squares += amount * amount;
    }
    if (amounts.size() < 2 || squares <= 0)
        return std::nullopt;
    return sum * sum / (static_cast<double>(amounts.size()) * squares);
}

namespace {

/// TCP_INFO fields that count: the streams' values are added. Others are averaged.
bool isCount(const std::string& field) {
    static const std::vector<std::string> counts = {
        "total_retrans", "retransmits",  "lost",          "retrans",    "sacked",
        "fackets",       "bytes_acked",  "bytes_sent",    "segs_out",   "segs_in",
        "data_segs_out", "data_segs_in", "bytes_retrans", "dsack_dups", "delivered_ce",
        "delivered",     "reord_seen",   "bytes_received"};
    return std::find(counts.begin(), counts.end(), field) != counts.end();
}

std::map<std::string, double> tcpInfoOf(const TrafficResult& result) {
    std::map<std::string, double> sums;
    std::map<std::string, int> n;
    for (const StreamResult& stream : result.streams) {
        for (const auto& [field, value] : stream.tcp_info) {
            sums[field] += static_cast<double>(value);
            ++n[field];
        }
    }
    for (auto& [field, value] : sums) {
        if (!isCount(field))
            value /= n[field];
    }
    return sums;
}

double busySeconds(const protocol::CpuUse& cpu) {
    return cpu.user_s + cpu.nice_s + cpu.system_s + cpu.irq_s + cpu.softirq_s + cpu.steal_s;
}

void addCpu(SampleRecord& sample, HostRef host, const protocol::CpuUse& cpu) {
    const double busy = busySeconds(cpu);
    const double total = busy + cpu.idle_s;
    if (total > 0) {
        addMetric(sample, host, QStringLiteral("cpu_percent"), 100 * busy / total);
        addMetric(sample, host, QStringLiteral("steal_percent"), 100 * cpu.steal_s / total);
        addMetric(sample, host, QStringLiteral("busiest_cpu_percent"), cpu.busiest_cpu_percent);
    }
    if (cpu.elapsed_s <= 0)
        return;
    addMetric(sample, host, QStringLiteral("agent_cpu_percent"),
              100 * (cpu.agent_user_s + cpu.agent_system_s) / cpu.elapsed_s);
    const auto rate = [&](const char* name, std::uint64_t switches) {
        addMetric(sample, host, QString::fromLatin1(name),
                  static_cast<double>(switches) / cpu.elapsed_s);
    };
    rate("context_switches_s", cpu.context_switches);
    rate("agent_voluntary_switches_s", cpu.agent_voluntary_switches);
    rate("agent_involuntary_switches_s", cpu.agent_involuntary_switches);
    const auto kinds = {std::pair("cpu_user_percent", cpu.user_s + cpu.nice_s),
                        std::pair("cpu_system_percent", cpu.system_s),
                        std::pair("cpu_irq_percent", cpu.irq_s),
                        std::pair("cpu_softirq_percent", cpu.softirq_s)};
    for (const auto& [name, seconds] : kinds) {
        if (total > 0)
            addMetric(sample, host, QString::fromLatin1(name), 100 * seconds / total);
    }
}

/// On a host of many CPUs the average hides the one that the whole test waits for.
void flagSaturation(SampleRecord& sample, HostRef host, const protocol::CpuUse& cpu) {
    constexpr double kSaturated = 98;
    constexpr double kShortest = 0.2; // the ticks of /proc/stat are 10 ms
    if (cpu.elapsed_s < kShortest)
        return;
    QStringList busy;
    for (std::size_t i = 0; i < cpu.busy_percent.size(); ++i) {
        if (cpu.busy_percent[i] >= kSaturated)
            busy << QString::number(i);
    }
    if (busy.isEmpty())
        return;
    sample.flags.append(QStringLiteral("%1: CPU %2 had no time left; it may be the limit")
                            .arg(hostName(host), busy.join(QStringLiteral(", "))));
}

/// CPU microseconds of the host, or of all hosts, per KB (1024 bytes) moved, or per transaction.
void addServiceDemand(SampleRecord& sample, HostRef host, double busy, bool stream, double amount) {
    if (amount <= 0)
        return;
    if (stream)
        addMetric(sample, host, QStringLiteral("service_demand_us_kb"),
                  busy * 1e6 / (amount / 1024));
    else
        addMetric(sample, host, QStringLiteral("service_demand_us_tr"), busy * 1e6 / amount);
}

enum class Rule { Mean, Sum, Most };
constexpr std::pair<const char*, Rule> kCpuRules[] = {
    {"cpu_percent", Rule::Mean},
    {"steal_percent", Rule::Mean},
    {"cpu_user_percent", Rule::Mean},
    {"cpu_system_percent", Rule::Mean},
    {"cpu_irq_percent", Rule::Mean},
    {"cpu_softirq_percent", Rule::Mean},
    {"agent_cpu_percent", Rule::Mean},
    {"busiest_cpu_percent", Rule::Most},
    {"context_switches_s", Rule::Sum},
    {"agent_voluntary_switches_s", Rule::Sum},
    {"agent_involuntary_switches_s", Rule::Sum},
};

/// What the hosts of a side make together; absent where one of them is not known.
std::optional<double> combined(const SampleRecord& sample, Side side, int hosts,
                               const QString& name, Rule rule) {
    double sum = 0;
    double most = 0;
    for (int number = 1; number <= hosts; ++number) {
        const auto value = sample.metric(name, {side, number});
        if (!value)
            return std::nullopt;
        sum += *value;
        most = std::max(most, *value);
    }
    return rule == Rule::Most ? most : rule == Rule::Sum ? sum : sum / hosts;
}

} // namespace

void addReceiveSizes(SampleRecord& sample, Side side, const TrafficResult& result) {
    Distribution sizes{side, QStringLiteral("receive_bytes"), 0, 0, 0, {}};
    for (std::size_t i = 0; i < result.receive_sizes.size() && i < 63; ++i) {
        if (result.receive_sizes[i] == 0)
            continue;
        if (sizes.buckets.isEmpty())
            sizes.minimum = quint64{1} << i;
        sizes.maximum = (quint64{2} << i) - 1;
        sizes.buckets.append({static_cast<quint32>(i), result.receive_sizes[i]});
    }
    if (sizes.buckets.isEmpty())
        return;
    const auto calls = sumOf(result, &StreamResult::recv_calls);
    if (calls > 0)
        sizes.mean = static_cast<double>(sumOf(result, &StreamResult::bytes_received)) /
                     static_cast<double>(calls);
    sample.distributions.append(sizes);
}

void addStreamMetrics(SampleRecord& sample, HostRef host, const TrafficResult& result) {
    const auto bytesSent = sumOf(result, &StreamResult::bytes_sent);
    const auto bytesReceived = sumOf(result, &StreamResult::bytes_received);
    const auto sendCalls = sumOf(result, &StreamResult::send_calls);
    const auto recvCalls = sumOf(result, &StreamResult::recv_calls);
    addMetric(sample, host, QStringLiteral("bytes_sent"), static_cast<double>(bytesSent));
    addMetric(sample, host, QStringLiteral("bytes_received"), static_cast<double>(bytesReceived));
    addMetric(sample, host, QStringLiteral("send_calls"), static_cast<double>(sendCalls));
    addMetric(sample, host, QStringLiteral("recv_calls"), static_cast<double>(recvCalls));
    if (sendCalls > 0)
        addMetric(sample, host, QStringLiteral("bytes_per_send"),
                  static_cast<double>(bytesSent) / static_cast<double>(sendCalls));
    if (recvCalls > 0)
        addMetric(sample, host, QStringLiteral("bytes_per_recv"),
                  static_cast<double>(bytesReceived) / static_cast<double>(recvCalls));

    const std::pair<const char*, std::optional<std::int64_t> StreamResult::*> fields[] = {
        {"sndbuf_initial", &StreamResult::sndbuf_initial},
        {"rcvbuf_initial", &StreamResult::rcvbuf_initial},
        {"sndbuf_final", &StreamResult::sndbuf_final},
        {"rcvbuf_final", &StreamResult::rcvbuf_final},
        {"mss", &StreamResult::mss}};
    for (const auto& [name, field] : fields) {
        if (const auto mean = meanOf(result, field))
            addMetric(sample, host, QString::fromLatin1(name), *mean);
    }
    for (const auto& [field, value] : tcpInfoOf(result)) {
        addMetric(sample, host, QStringLiteral("tcpi_") + QString::fromStdString(field), value);
        if (field == "total_retrans")
            addMetric(sample, host, QStringLiteral("retransmits"), value);
    }
}

void addSent(SampleRecord& sample, HostRef host, const std::vector<const TrafficResult*>& ends) {
    double rate = 0;
    bool sends = false;
    for (const TrafficResult* end : ends) {
        double bytes = 0;
        double seconds = 0;
        for (const StreamResult& stream : end->streams) {
            if (!stream.sends)
                continue;
            bytes += static_cast<double>(stream.bytes_sent);
            seconds = std::max(seconds, stream.elapsed_s);
        }
        if (seconds > 0) {
            rate += bytes * 8 / 1e6 / seconds;
            sends = true;
        }
    }
    if (sends)
        addMetric(sample, host, QStringLiteral("sent_mbit_s"), rate);
}

void addHostMetrics(SampleRecord& sample, HostRef host, const TrafficResult& result, bool stream,
                    double amount) {
    if (result.cpu) {
        addCpu(sample, host, *result.cpu);
        addServiceDemand(sample, host, busySeconds(*result.cpu), stream, amount);
        flagSaturation(sample, host, *result.cpu);
    }
    if (result.strangers > 0)
        sample.flags.append(
            QStringLiteral("%1: %2 from strangers %3 dropped")
                .arg(hostName(host), counted(result.strangers, QStringLiteral("connection")),
                     result.strangers == 1 ? QStringLiteral("was") : QStringLiteral("were")));
}

void addSideCpu(SampleRecord& sample, Side side,
                const std::vector<std::optional<protocol::CpuUse>>& cpus, bool stream,
                double amount) {
    for (const auto& [name, rule] : kCpuRules) {
        const QString metric = QString::fromLatin1(name);
        if (const auto value = combined(sample, side, static_cast<int>(cpus.size()), metric, rule))
            addMetric(sample, side, metric, *value);
    }
    double busy = 0;
    for (const auto& cpu : cpus) {
        if (!cpu)
            return;
        busy += busySeconds(*cpu);
    }
    addServiceDemand(sample, side, busy, stream, amount);
}

} // namespace knobscope
