// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/sampleresult.h"

#include "agents/protocol/histogram.h"
#include "core/run/sidemetrics.h"
#include "core/run/trafficsetup.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace knobscope {

namespace {

using protocol::StreamResult;
using protocol::TrafficResult;

/// The hosts at which the data arrives.
QList<Side> arrivals(const Experiment& experiment, const Cell& cell) {
    const QString direction =
        testSettings(experiment, cell, Side::Sender)
            .value(QStringLiteral("direction"), KnobValue(QStringLiteral("to_receiver")))
            .text;
    if (direction == QLatin1String("from_receiver"))
        return {Side::Sender};
    if (direction == QLatin1String("both"))
        return {Side::Receiver, Side::Sender};
    return {Side::Receiver};
}

/// Amounts of each stream of a side, as a rate over its own time.
QList<double> ratesOf(const TrafficResult& result, std::uint64_t StreamResult::*field) {
    QList<double> rates;
    for (const StreamResult& stream : result.streams) {
        const auto amount = static_cast<double>(stream.*field);
        if (!stream.sends || field == &StreamResult::transactions)
            rates << (stream.elapsed_s > 0 ? amount / stream.elapsed_s : 0);
    }
    return rates;
}

class Totals {
public:
    Totals(SampleRecord& sample, const Experiment& experiment, const Cell& cell,
           const TrafficResult& sender, const TrafficResult& receiver)
        : m_sample(sample), m_kind(experiment.test.kind), m_arrivals(arrivals(experiment, cell)),
          m_sender(sender), m_receiver(receiver) {}

    void add() {
        if (isStream(m_kind))
            addThroughput();
        else
            addTransactions();
        addDatagrams();
        addLatency();
    }
    /// Bytes delivered, or transactions.
    [[nodiscard]] double amount() const {
        if (!isStream(m_kind))
            return static_cast<double>(sumOf(m_sender, &StreamResult::transactions));
        double bytes = 0;
        for (const Side side : m_arrivals)
            bytes += static_cast<double>(sumOf(at(side), &StreamResult::bytes_received));
        return bytes;
    }

    [[nodiscard]] bool arrivesAt(Side side) const { return m_arrivals.contains(side); }

private:
    [[nodiscard]] const TrafficResult& at(Side side) const {
        return side == Side::Receiver ? m_receiver : m_sender;
    }
    void put(const char* name, double value) {
        addMetric(m_sample, Side::Whole, QString::fromLatin1(name), value);
    }

    void addThroughput() {
        const bool both = m_arrivals.size() > 1;
        double total = 0;
        double elapsed = 0;
        QList<double> rates;
        for (const Side side : m_arrivals) {
            const TrafficResult& result = at(side);
            const auto bytes = static_cast<double>(sumOf(result, &StreamResult::bytes_received));
            if (bytes <= 0)
                m_sample.flags.append(
                    both ? QStringLiteral("%1: nothing arrived in the measured time")
                               .arg(sideName(side))
                         : QStringLiteral("Nothing arrived in the measured time"));
            rates += ratesOf(result, &StreamResult::bytes_received);
            elapsed = std::max(elapsed, result.elapsed_s);
            if (result.elapsed_s <= 0)
                continue;
            const double mbit = bytes * 8 / 1e6 / result.elapsed_s;
            total += mbit;
            if (both)
                put(side == Side::Receiver ? "throughput_to_receiver_mbit_s"
                                           : "throughput_from_receiver_mbit_s",
                    mbit);
        }
        put("elapsed_s", elapsed);
        if (elapsed > 0)
            put("throughput_mbit_s", total);
        addSent();
        if (const auto index = fairness(rates))
            put("fairness", *index);
        if (m_kind == QLatin1String("tcp_stream") &&
            (sumOf(m_sender, &StreamResult::total_bytes_sent) !=
                 sumOf(m_receiver, &StreamResult::total_bytes_received) ||
             sumOf(m_receiver, &StreamResult::total_bytes_sent) !=
                 sumOf(m_sender, &StreamResult::total_bytes_received)))
            m_sample.flags.append(QStringLiteral("The two ends disagree on the bytes transferred"));
    }

    /// What the sending applications handed over, which may not have arrived.
    void addSent() {
        for (const Side side : {Side::Sender, Side::Receiver}) {
            double bytes = 0;
            double seconds = 0;
            for (const StreamResult& stream : at(side).streams) {
                if (!stream.sends)
                    continue;
                bytes += static_cast<double>(stream.bytes_sent);
                seconds = std::max(seconds, stream.elapsed_s);
            }
            if (seconds > 0)
                addMetric(m_sample, side, QStringLiteral("sent_mbit_s"), bytes * 8 / 1e6 / seconds);
        }
    }

    void addTransactions() {
        const double transactions = amount();
        if (transactions <= 0)
            m_sample.flags.append(QStringLiteral("No transaction ended in the measured time"));
        put("elapsed_s", m_sender.elapsed_s);
        if (m_sender.elapsed_s > 0)
            put("transactions_s", transactions / m_sender.elapsed_s);
        if (const auto index = fairness(ratesOf(m_sender, &StreamResult::transactions)))
            put("fairness", *index);
    }

    /// As told by the ends that know: the receivers of streams, the end that asks.
    void addDatagrams() {
        protocol::Datagrams all;
        double jitter = 0;
        int jitters = 0;
        int streams = 0;
        const auto ends = isStream(m_kind) ? m_arrivals : QList<Side>{Side::Sender};
        for (const Side side : ends) {
            for (const StreamResult& stream : at(side).streams) {
                if (!stream.datagrams || (isStream(m_kind) && stream.sends))
                    continue;
                ++streams;
                all.sent += stream.datagrams->sent;
                all.received += stream.datagrams->received;
                all.lost += stream.datagrams->lost;
                all.reordered += stream.datagrams->reordered;
                all.duplicates += stream.datagrams->duplicates;
                jitter += stream.datagrams->jitter_us.value_or(0);
                jitters += stream.datagrams->jitter_us ? 1 : 0;
            }
        }
        if (streams == 0)
            return;
        put("datagrams_sent", static_cast<double>(all.sent));
        put("datagrams_received", static_cast<double>(all.received));
        put("datagrams_lost", static_cast<double>(all.lost));
        if (all.sent > 0)
            put("loss_percent",
                100 * static_cast<double>(all.lost) / static_cast<double>(all.sent));
        if (!isStream(m_kind))
            return;
        put("datagrams_reordered", static_cast<double>(all.reordered));
        put("datagrams_duplicate", static_cast<double>(all.duplicates));
        if (jitters > 0)
            put("jitter_us", jitter / jitters);
    }

    void addLatency() {
        if (!m_sender.latency || m_sender.latency->count == 0)
            return;
        const protocol::Histogram histogram(*m_sender.latency);
        const auto microseconds = [](std::uint64_t ns) { return static_cast<double>(ns) / 1000; };
        put("latency_min_us", microseconds(histogram.min()));
        put("latency_mean_us", histogram.mean() / 1000);
        put("latency_p50_us", microseconds(histogram.percentile(0.5)));
        put("latency_p90_us", microseconds(histogram.percentile(0.9)));
        put("latency_p99_us", microseconds(histogram.percentile(0.99)));
        put("latency_p999_us", microseconds(histogram.percentile(0.999)));
        put("latency_max_us", microseconds(histogram.max()));
        Distribution latency{Side::Whole,      QStringLiteral("latency_ns"),
                             histogram.min(),  histogram.max(),
                             histogram.mean(), {}};
        for (const auto& [index, count] : m_sender.latency->buckets)
            latency.buckets.append({static_cast<quint32>(index), count});
        m_sample.distributions.append(latency);
    }

    SampleRecord& m_sample;
    const QString m_kind;
    const QList<Side> m_arrivals;
    const TrafficResult& m_sender;
    const TrafficResult& m_receiver;
};

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
        SeriesPoint point{interval.time_s,
                          static_cast<double>(bytes) * 8 / 1e6 / seconds,
                          static_cast<double>(interval.transactions - last.transactions) / seconds,
                          std::nullopt,
                          interval.rtt_us,
                          std::nullopt};
        if (interval.snd_cwnd)
            point.congestionWindow = static_cast<double>(*interval.snd_cwnd);
        if (interval.retransmits)
            point.retransmits =
                static_cast<double>(*interval.retransmits - last.retransmits.value_or(0));
        series.append(point);
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
    Totals totals(sample, experiment, cell, sender.traffic, receiver.traffic);
    totals.add();
    const bool stream = isStream(experiment.test.kind);
    double retransmits = 0;
    bool known = false;
    for (const auto& [side, result] :
         {std::pair(Side::Sender, &sender), std::pair(Side::Receiver, &receiver)}) {
        addSideMetrics(sample, side, result->traffic, stream, totals.amount());
        if (const auto value = sample.metric(QStringLiteral("retransmits"), side)) {
            retransmits += *value;
            known = true;
        }
        checkTestKnobs(sample, experiment, cell, side, result->traffic);
        addDeltas(sample, side, result->before, result->after);
        const bool receives = stream && totals.arrivesAt(side);
        sample.series.insert(side, seriesOf(result->traffic.intervals, receives));
    }
    if (known)
        addMetric(sample, Side::Whole, QStringLiteral("retransmits"), retransmits);
    checkPathMtu(sample);
}

} // namespace knobscope
