// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/sampleresult.h"

#include "core/model/plural.h"
#include "core/run/trafficsetup.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace knobscope {

namespace {

using protocol::StreamResult;
using protocol::TrafficResult;

void add(SampleRecord& sample, Side side, const QString& name, double value) {
    if (std::isfinite(value))
        sample.metrics.append(Metric{side, name, value});
}

quint64 sumOf(const TrafficResult& result, std::uint64_t StreamResult::*field) {
    quint64 sum = 0;
    for (const StreamResult& stream : result.streams)
        sum += stream.*field;
    return sum;
}

/// Mean over the streams that have the value; absent when none has.
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

void addCpu(SampleRecord& sample, Side side, const protocol::CpuUse& cpu) {
    const double busy =
        cpu.user_s + cpu.nice_s + cpu.system_s + cpu.irq_s + cpu.softirq_s + cpu.steal_s;
    const double total = busy + cpu.idle_s;
    if (total > 0) {
        add(sample, side, QStringLiteral("cpu_percent"), 100 * busy / total);
        add(sample, side, QStringLiteral("steal_percent"), 100 * cpu.steal_s / total);
        add(sample, side, QStringLiteral("busiest_cpu_percent"), cpu.busiest_cpu_percent);
    }
    if (cpu.elapsed_s > 0)
        add(sample, side, QStringLiteral("agent_cpu_percent"),
            100 * (cpu.agent_user_s + cpu.agent_system_s) / cpu.elapsed_s);
}

/// CPU microseconds of the host per KB (1024 bytes) moved, or per transaction.
void addServiceDemand(SampleRecord& sample, Side side, const protocol::CpuUse& cpu, bool stream,
                      double amount) {
    const double busy =
        cpu.user_s + cpu.nice_s + cpu.system_s + cpu.irq_s + cpu.softirq_s + cpu.steal_s;
    if (amount <= 0)
        return;
    if (stream)
        add(sample, side, QStringLiteral("service_demand_us_kb"), busy * 1e6 / (amount / 1024));
    else
        add(sample, side, QStringLiteral("service_demand_us_tr"), busy * 1e6 / amount);
}

void addSide(SampleRecord& sample, Side side, const TrafficResult& result) {
    const auto bytesSent = sumOf(result, &StreamResult::bytes_sent);
    const auto bytesReceived = sumOf(result, &StreamResult::bytes_received);
    const auto sendCalls = sumOf(result, &StreamResult::send_calls);
    const auto recvCalls = sumOf(result, &StreamResult::recv_calls);
    add(sample, side, QStringLiteral("bytes_sent"), static_cast<double>(bytesSent));
    add(sample, side, QStringLiteral("bytes_received"), static_cast<double>(bytesReceived));
    add(sample, side, QStringLiteral("send_calls"), static_cast<double>(sendCalls));
    add(sample, side, QStringLiteral("recv_calls"), static_cast<double>(recvCalls));
    if (sendCalls > 0)
        add(sample, side, QStringLiteral("bytes_per_send"),
            static_cast<double>(bytesSent) / static_cast<double>(sendCalls));
    if (recvCalls > 0)
        add(sample, side, QStringLiteral("bytes_per_recv"),
            static_cast<double>(bytesReceived) / static_cast<double>(recvCalls));

    const std::pair<const char*, std::optional<std::int64_t> StreamResult::*> fields[] = {
        {"sndbuf_initial", &StreamResult::sndbuf_initial},
        {"rcvbuf_initial", &StreamResult::rcvbuf_initial},
        {"sndbuf_final", &StreamResult::sndbuf_final},
        {"rcvbuf_final", &StreamResult::rcvbuf_final},
        {"mss", &StreamResult::mss}};
    for (const auto& [name, field] : fields) {
        if (const auto mean = meanOf(result, field))
            add(sample, side, QString::fromLatin1(name), *mean);
    }
    for (const auto& [field, value] : tcpInfoOf(result)) {
        add(sample, side, QStringLiteral("tcpi_") + QString::fromStdString(field), value);
        if (field == "total_retrans")
            add(sample, side, QStringLiteral("retransmits"), value);
    }
    if (result.cpu)
        addCpu(sample, side, *result.cpu);
    if (result.strangers > 0)
        sample.flags.append(
            QStringLiteral("%1: %2 from strangers %3 dropped")
                .arg(sideName(side), counted(result.strangers, QStringLiteral("connection")),
                     result.strangers == 1 ? QStringLiteral("was") : QStringLiteral("were")));
}

void addTotals(SampleRecord& sample, const Experiment& experiment, const TrafficResult& dataSender,
               const TrafficResult& dataReceiver, const TrafficResult& client) {
    const bool stream = experiment.test.kind == QLatin1String("tcp_stream");
    if (stream) {
        const auto bytes = static_cast<double>(sumOf(dataReceiver, &StreamResult::bytes_received));
        if (bytes <= 0)
            sample.flags.append(QStringLiteral("Nothing arrived in the measured time"));
        add(sample, Side::Whole, QStringLiteral("elapsed_s"), dataReceiver.elapsed_s);
        if (dataReceiver.elapsed_s > 0)
            add(sample, Side::Whole, QStringLiteral("throughput_mbit_s"),
                bytes * 8 / 1e6 / dataReceiver.elapsed_s);
        if (sumOf(dataSender, &StreamResult::total_bytes_sent) !=
            sumOf(dataReceiver, &StreamResult::total_bytes_received))
            sample.flags.append(QStringLiteral("The two ends disagree on the bytes transferred"));
        return;
    }
    const auto transactions = static_cast<double>(sumOf(client, &StreamResult::transactions));
    if (transactions <= 0)
        sample.flags.append(QStringLiteral("No transaction ended in the measured time"));
    add(sample, Side::Whole, QStringLiteral("elapsed_s"), client.elapsed_s);
    if (client.elapsed_s > 0)
        add(sample, Side::Whole, QStringLiteral("transactions_s"), transactions / client.elapsed_s);
}

/// What the kernel made of a test knob, where it differs from the request: flagged, never silent.
void checkTestKnobs(SampleRecord& sample, const Experiment& experiment, const Cell& cell, Side side,
                    const TrafficResult& result) {
    const auto settings = testSettings(experiment, cell, side);
    const auto flag = [&](const QString& knob, const QString& requested, const QString& accepted) {
        KnobState state{side, knob, requested, accepted, std::nullopt, QStringLiteral("applied"),
                        {}};
        if (requested != accepted) {
            state.status = QStringLiteral("adjusted");
            sample.flags.append(QStringLiteral("%1: %2 requested %3, host took %4")
                                    .arg(sideName(side), knob, requested, accepted));
        }
        sample.knobs.append(state);
    };
    if (const auto window = settings.value(QStringLiteral("window")); window.number) {
        const auto sndbuf = meanOf(result, &StreamResult::sndbuf_initial);
        const auto rcvbuf = meanOf(result, &StreamResult::rcvbuf_initial);
        if (sndbuf && rcvbuf) {
            // Linux doubles the request; less than that means it was clamped to wmem_max or
            // rmem_max. Very small requests are raised to the kernel's minimum.
            const auto wanted = static_cast<double>(*window.number * 2);
            const double worst = *sndbuf != wanted ? *sndbuf : *rcvbuf;
            flag(QStringLiteral("window"), formatQuantity(*window.number),
                 formatQuantity(static_cast<qint64>(worst) / 2));
        }
    }
    if (const auto mss = settings.value(QStringLiteral("mss")); mss.number) {
        // TCP options (time stamps: 12 bytes) come out of the segment.
        constexpr qint64 kMaxOptions = 40;
        if (const auto taken = meanOf(result, &StreamResult::mss)) {
            const auto accepted = static_cast<qint64>(*taken);
            const bool same = accepted <= *mss.number && accepted >= *mss.number - kMaxOptions;
            flag(QStringLiteral("mss"), mss.text, same ? mss.text : QString::number(accepted));
        }
    }
    const auto control = settings.value(QStringLiteral("congestion_control"));
    if (!control.text.isEmpty() && !control.isAuto() && !result.streams.empty()) {
        if (const auto& taken = result.streams.front().congestion_control)
            flag(QStringLiteral("congestion_control"), control.text,
                 QString::fromStdString(*taken));
    }
}

/// A route that remembers a smaller MTU makes every segment smaller than the interface would.
void checkPathMtu(SampleRecord& sample) {
    const auto sender = sample.metric(QStringLiteral("tcpi_pmtu"), Side::Sender);
    const auto receiver = sample.metric(QStringLiteral("tcpi_pmtu"), Side::Receiver);
    if (sender && receiver && *sender != *receiver)
        sample.flags.append(
            QStringLiteral("The ends see different path MTUs: sender %1, receiver %2")
                .arg(*sender, 0, 'f', 0)
                .arg(*receiver, 0, 'f', 0));
}

std::optional<qint64> deltaOf(quint64 before, quint64 after) {
    constexpr quint64 kWrap = quint64{1} << 32;
    if (after >= before) {
        const quint64 step = after - before;
        if (step > static_cast<quint64>(std::numeric_limits<qint64>::max()))
            return std::nullopt;
        return static_cast<qint64>(step);
    }
    if (before < kWrap && after + kWrap - before < kWrap / 2)
        return static_cast<qint64>(after + kWrap - before);
    const quint64 fall = before - after;
    if (fall > static_cast<quint64>(std::numeric_limits<qint64>::max()))
        return std::nullopt;
    return -static_cast<qint64>(fall);
}

} // namespace

void addDeltas(SampleRecord& sample, Side side, const protocol::Snapshot& before,
               const protocol::Snapshot& after) {
    for (const auto& [source, counters] : after.counters) {
        const auto old = before.counters.find(source);
        if (old == before.counters.end())
            continue;
        const QString sourceName = QString::fromStdString(source);
        QStringList present;
        for (const auto& [name, value] : counters) {
            const auto was = old->second.find(name);
            if (was == old->second.end())
                continue;
            const auto delta = deltaOf(was->second, value);
            if (!delta)
                continue;
            const QString counter = QString::fromStdString(name);
            present.append(counter);
            if (*delta != 0)
                sample.deltas.append(CounterDelta{side, sourceName, counter, *delta});
        }
        present.sort();
        sample.presentCounters[side].insert(sourceName, present);
    }
}

QList<SeriesPoint> seriesOf(const std::vector<protocol::Interval>& intervals, bool received) {
    QList<SeriesPoint> series;
    protocol::Interval last;
    for (const protocol::Interval& interval : intervals) {
        const double seconds = interval.time_s - last.time_s;
        if (seconds <= 0)
            continue;
        const std::uint64_t bytes = received ? interval.bytes_received - last.bytes_received
                                             : interval.bytes_sent - last.bytes_sent;
        series.append(
            SeriesPoint{interval.time_s, static_cast<double>(bytes) * 8 / 1e6 / seconds,
                        static_cast<double>(interval.transactions - last.transactions) / seconds});
        last = interval;
    }
    return series;
}

std::optional<LiveInterval> liveInterval(Side side, const protocol::Interval& now,
                                         protocol::Interval& last) {
    // The first notification of a sample may come later in it than the last one of the sample
    // before did in its own.
    if (now.time_s <= last.time_s || now.bytes_sent < last.bytes_sent ||
        now.bytes_received < last.bytes_received || now.transactions < last.transactions)
        last = {};
    const double seconds = now.time_s - last.time_s;
    if (seconds <= 0)
        return std::nullopt;
    const auto bytes = now.bytes_sent + now.bytes_received - last.bytes_sent - last.bytes_received;
    const LiveInterval live{side, now.time_s, static_cast<double>(bytes) * 8 / 1e6 / seconds,
                            static_cast<double>(now.transactions - last.transactions) / seconds};
    last = now;
    return live;
}

void fillSample(SampleRecord& sample, const Experiment& experiment, const Cell& cell,
                const SideResult& sender, const SideResult& receiver) {
    const bool stream = experiment.test.kind == QLatin1String("tcp_stream");
    const bool fromReceiver = stream && trafficFromReceiver(experiment, cell);
    const SideResult& dataSender = fromReceiver ? receiver : sender;
    const SideResult& dataReceiver = fromReceiver ? sender : receiver;

    addTotals(sample, experiment, dataSender.traffic, dataReceiver.traffic, sender.traffic);
    double retransmits = 0;
    bool known = false;
    const auto amount = [&] {
        if (stream)
            return static_cast<double>(sumOf(dataReceiver.traffic, &StreamResult::bytes_received));
        return static_cast<double>(sumOf(sender.traffic, &StreamResult::transactions));
    }();
    for (const auto& [side, result] :
         {std::pair(Side::Sender, &sender), std::pair(Side::Receiver, &receiver)}) {
        addSide(sample, side, result->traffic);
        if (result->traffic.cpu)
            addServiceDemand(sample, side, *result->traffic.cpu, stream, amount);
        if (const auto value = sample.metric(QStringLiteral("retransmits"), side)) {
            retransmits += *value;
            known = true;
        }
        checkTestKnobs(sample, experiment, cell, side, result->traffic);
        addDeltas(sample, side, result->before, result->after);
        const bool receives = stream && (side == Side::Receiver) != fromReceiver;
        sample.series.insert(side, seriesOf(result->traffic.intervals, receives));
    }
    if (known)
        add(sample, Side::Whole, QStringLiteral("retransmits"), retransmits);
    checkPathMtu(sample);
}

} // namespace knobscope
