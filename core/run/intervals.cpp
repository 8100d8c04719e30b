// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/intervals.h"

#include <algorithm>

namespace knobscope {

namespace {

using protocol::Interval;

/// Interval `index` of an end, or its last one: it moves nothing any more.
Interval intervalOf(const std::vector<Interval>& intervals, std::size_t index) {
    if (intervals.empty())
        return {};
    return intervals[std::min(index, intervals.size() - 1)];
}

/// Sums are known where every end knows its part.
Interval sumAt(const std::vector<const std::vector<Interval>*>& parts, std::size_t index) {
    Interval sum;
    std::int64_t window = 0;
    std::int64_t retransmits = 0;
    double roundTrips = 0;
    bool known = true;
    for (const std::vector<Interval>* part : parts) {
        const Interval one = intervalOf(*part, index);
        sum.time_s = std::max(sum.time_s, one.time_s);
        sum.bytes_sent += one.bytes_sent;
        sum.bytes_received += one.bytes_received;
        sum.transactions += one.transactions;
        known = known && one.snd_cwnd && one.rtt_us && one.retransmits;
        window += one.snd_cwnd.value_or(0);
        roundTrips += one.rtt_us.value_or(0);
        retransmits += one.retransmits.value_or(0);
    }
    if (known) {
        sum.snd_cwnd = window;
        sum.rtt_us = roundTrips / static_cast<double>(parts.size());
        sum.retransmits = retransmits;
    }
    return sum;
}

} // namespace

std::vector<Interval> summedIntervals(const std::vector<const std::vector<Interval>*>& parts) {
    if (parts.size() == 1)
        return *parts.front();
    std::size_t longest = 0;
    for (const std::vector<Interval>* part : parts)
        longest = std::max(longest, part->size());
    std::vector<Interval> sums;
    for (std::size_t i = 0; i < longest; ++i) {
        const Interval sum = sumAt(parts, i);
        // The end with the most intervals need not be the last to end.
        if (!sums.empty() && sum.time_s <= sums.back().time_s)
            sums.back() = sum;
        else
            sums.push_back(sum);
    }
    return sums;
}

QList<SeriesPoint> seriesOf(const std::vector<Interval>& intervals, bool received) {
    QList<SeriesPoint> series;
    Interval last;
    for (const Interval& interval : intervals) {
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
        if (interval.retransmits && (series.isEmpty() || last.retransmits))
            point.retransmits =
                static_cast<double>(*interval.retransmits - last.retransmits.value_or(0));
        series.append(point);
        last = interval;
    }
    return series;
}

std::optional<LiveInterval> liveInterval(Side side, const Interval& now, Interval& last) {
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

void LiveSide::begin() {
    const std::scoped_lock lock(m_mutex);
    std::fill(m_last.begin(), m_last.end(), Interval{});
    std::fill(m_told.begin(), m_told.end(), std::nullopt);
}

std::optional<LiveInterval> LiveSide::add(std::size_t agent, const Interval& now) {
    const std::scoped_lock lock(m_mutex);
    const auto live = liveInterval(m_side, now, m_last.at(agent));
    if (!live)
        return std::nullopt;
    std::optional<LiveInterval> sum;
    if (m_told[agent])
        sum = takeSum(); // one of the others has ended, or is late
    m_told[agent] = live;
    if (!sum &&
        std::all_of(m_told.begin(), m_told.end(), [](const auto& one) { return one.has_value(); }))
        sum = takeSum();
    return sum;
}

LiveInterval LiveSide::takeSum() {
    LiveInterval sum{m_side, 0, 0, 0};
    for (std::optional<LiveInterval>& one : m_told) {
        if (!one)
            continue;
        sum.seconds = std::max(sum.seconds, one->seconds);
        sum.mbitPerSecond += one->mbitPerSecond;
        sum.transactionsPerSecond += one->transactionsPerSecond;
        one.reset();
    }
    return sum;
}

} // namespace knobscope
