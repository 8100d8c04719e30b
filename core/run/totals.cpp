// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/totals.h"

#include "agents/protocol/histogram.h"
#include "core/run/mergetraffic.h"
#include "core/run/sidemetrics.h"
#include "core/run/trafficsetup.h"

#include <algorithm>

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

/// Amounts of each stream of an end, as a rate over its own time.
QList<double> ratesOf(const TrafficResult& result, std::uint64_t StreamResult::*field) {
    QList<double> rates;
    for (const StreamResult& stream : result.streams) {
        const auto amount = static_cast<double>(stream.*field);
        if (!stream.sends || field == &StreamResult::transactions)
            rates << (stream.elapsed_s > 0 ? amount / stream.elapsed_s : 0);
    }
    return rates;
}

double bytesReceived(const TrafficResult& result) {
    return static_cast<double>(sumOf(result, &StreamResult::bytes_received));
}

double transactionsOf(const TrafficResult& result) {
    return static_cast<double>(sumOf(result, &StreamResult::transactions));
}

void put(SampleRecord& sample, HostRef host, const char* name, double value) {
    addMetric(sample, host, QString::fromLatin1(name), value);
}

} // namespace

Totals::Totals(const Experiment& experiment, const Cell& cell,
               const std::vector<InstanceResult>& instances, const QList<int>& chosen)
    : m_experiment(experiment), m_instances(instances), m_chosen(chosen),
      m_stream(isStream(experiment.test.kind)), m_arrivals(arrivals(experiment, cell)) {}

double Totals::amount() const {
    double sum = 0;
    for (const int instance : m_chosen) {
        if (!m_stream)
            sum += transactionsOf(at(instance).sender);
        for (const Side side : m_stream ? m_arrivals : QList<Side>())
            sum += bytesReceived(at(instance).at(side));
    }
    return sum;
}

void Totals::addTo(SampleRecord& sample, HostRef host) const {
    if (m_stream)
        addThroughput(sample, host);
    else
        addTransactions(sample, host);
    addDatagrams(sample, host);
    addLatency(sample, host);
}

/// Each instance over its own time: one that ends early is not slower for it.
void Totals::addThroughput(SampleRecord& sample, HostRef host) const {
    double total = 0;
    double elapsed = 0;
    QList<double> rates;
    for (const Side side : m_arrivals) {
        double mbit = 0;
        double longest = 0;
        for (const int instance : m_chosen) {
            const TrafficResult& result = at(instance).at(side);
            rates += ratesOf(result, &StreamResult::bytes_received);
            longest = std::max(longest, result.elapsed_s);
            if (result.elapsed_s > 0)
                mbit += bytesReceived(result) * 8 / 1e6 / result.elapsed_s;
        }
        elapsed = std::max(elapsed, longest);
        total += mbit;
        if (m_arrivals.size() > 1 && longest > 0)
            put(sample, host,
                side == Side::Receiver ? "throughput_to_receiver_mbit_s"
                                       : "throughput_from_receiver_mbit_s",
                mbit);
    }
    put(sample, host, "elapsed_s", elapsed);
    if (elapsed > 0)
        put(sample, host, "throughput_mbit_s", total);
    if (const auto index = fairness(rates))
        put(sample, host, "fairness", *index);
}

void Totals::addTransactions(SampleRecord& sample, HostRef host) const {
    double rate = 0;
    double elapsed = 0;
    QList<double> rates;
    for (const int instance : m_chosen) {
        const TrafficResult& asker = at(instance).sender;
        rates += ratesOf(asker, &StreamResult::transactions);
        elapsed = std::max(elapsed, asker.elapsed_s);
        if (asker.elapsed_s > 0)
            rate += transactionsOf(asker) / asker.elapsed_s;
    }
    put(sample, host, "elapsed_s", elapsed);
    if (elapsed > 0)
        put(sample, host, "transactions_s", rate);
    if (const auto index = fairness(rates))
        put(sample, host, "fairness", *index);
}

/// As told by the ends that know: the receivers of streams, the end that asks.
void Totals::addDatagrams(SampleRecord& sample, HostRef host) const {
    protocol::Datagrams all;
    double jitter = 0;
    int jitters = 0;
    int streams = 0;
    for (const Side side : m_stream ? m_arrivals : QList<Side>{Side::Sender}) {
        for (const int instance : m_chosen) {
            for (const StreamResult& stream : at(instance).at(side).streams) {
                if (!stream.datagrams || (m_stream && stream.sends))
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
    }
    if (streams == 0)
        return;
    put(sample, host, "datagrams_sent", static_cast<double>(all.sent));
    put(sample, host, "datagrams_received", static_cast<double>(all.received));
    put(sample, host, "datagrams_lost", static_cast<double>(all.lost));
    if (all.sent > 0)
        put(sample, host, "loss_percent",
            100 * static_cast<double>(all.lost) / static_cast<double>(all.sent));
    if (!m_stream)
        return;
    put(sample, host, "datagrams_reordered", static_cast<double>(all.reordered));
    put(sample, host, "datagrams_duplicate", static_cast<double>(all.duplicates));
    if (jitters > 0)
        put(sample, host, "jitter_us", jitter / jitters);
}

void Totals::addLatency(SampleRecord& sample, HostRef host) const {
    const auto latency = mergedLatency(askers());
    if (!latency || latency->count == 0)
        return;
    const protocol::Histogram histogram(*latency);
    const auto microseconds = [](std::uint64_t ns) { return static_cast<double>(ns) / 1000; };
    put(sample, host, "latency_min_us", microseconds(histogram.min()));
    put(sample, host, "latency_mean_us", histogram.mean() / 1000);
    put(sample, host, "latency_p50_us", microseconds(histogram.percentile(0.5)));
    put(sample, host, "latency_p90_us", microseconds(histogram.percentile(0.9)));
    put(sample, host, "latency_p99_us", microseconds(histogram.percentile(0.99)));
    put(sample, host, "latency_p999_us", microseconds(histogram.percentile(0.999)));
    put(sample, host, "latency_max_us", microseconds(histogram.max()));
    if (host != Side::Whole)
        return;
    Distribution distribution{Side::Whole,      QStringLiteral("latency_ns"),
                              histogram.min(),  histogram.max(),
                              histogram.mean(), {}};
    for (const auto& [index, count] : latency->buckets)
        distribution.buckets.append({static_cast<quint32>(index), count});
    sample.distributions.append(distribution);
}

std::vector<const TrafficResult*> Totals::askers() const {
    std::vector<const TrafficResult*> ends;
    for (const int instance : m_chosen)
        ends.push_back(&at(instance).sender);
    return ends;
}

// ---- flags

/// Which of several instances it is about.
QString Totals::sentence(int instance, const QString& what) const {
    if (m_experiment.instances() == 1) {
        QString text = what;
        text[0] = text[0].toUpper();
        return text;
    }
    return QStringLiteral("%1 to %2: %3")
        .arg(hostName(m_experiment.endOf(instance, Side::Sender)),
             hostName(m_experiment.endOf(instance, Side::Receiver)), what);
}

void Totals::addFlags(SampleRecord& sample) const {
    for (const int instance : m_chosen) {
        if (m_stream)
            flagStream(sample, instance);
        else if (transactionsOf(at(instance).sender) <= 0)
            sample.flags.append(
                sentence(instance, QStringLiteral("no transaction ended in the measured time")));
        flagPathMtu(sample, instance);
    }
}

void Totals::flagStream(SampleRecord& sample, int instance) const {
    const TrafficResult& sender = at(instance).sender;
    const TrafficResult& receiver = at(instance).receiver;
    for (const Side side : m_arrivals) {
        if (bytesReceived(at(instance).at(side)) > 0)
            continue;
        const bool both = m_arrivals.size() > 1;
        if (both && m_experiment.instances() == 1)
            sample.flags.append(
                QStringLiteral("%1: nothing arrived in the measured time").arg(sideName(side)));
        else
            sample.flags.append(
                sentence(instance,
                         QStringLiteral("nothing arrived%1 in the measured time")
                             .arg(both ? QStringLiteral(" at the ") + sideName(side) : QString())));
    }
    if (m_experiment.test.kind == QLatin1String("tcp_stream") &&
        (sumOf(sender, &StreamResult::total_bytes_sent) !=
             sumOf(receiver, &StreamResult::total_bytes_received) ||
         sumOf(receiver, &StreamResult::total_bytes_sent) !=
             sumOf(sender, &StreamResult::total_bytes_received)))
        sample.flags.append(
            sentence(instance, QStringLiteral("the two ends disagree on the bytes transferred")));
}

/// A route that remembers a smaller MTU makes every segment smaller than the interface would.
void Totals::flagPathMtu(SampleRecord& sample, int instance) const {
    const auto sender = meanOfTcpInfo(at(instance).sender, "pmtu");
    const auto receiver = meanOfTcpInfo(at(instance).receiver, "pmtu");
    if (sender && receiver && *sender != *receiver)
        sample.flags.append(sentence(
            instance, QStringLiteral("the ends see different path MTUs: sender %1, receiver %2")
                          .arg(*sender, 0, 'f', 0)
                          .arg(*receiver, 0, 'f', 0)));
}

} // namespace knobscope
