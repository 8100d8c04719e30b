// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace knobscope::protocol {

/// Times in nanoseconds, kept to three significant digits: buckets grow with the value, 1024 of
/// them for each doubling, so that a bucket is never wider than a thousandth of what is in it. (The
/// layout is that of G. Tene's HdrHistogram.) Exact up to 2 µs, up to 60 s in all; longer ones are
/// counted as 60 s, and as they are in max() and mean(). One thread at a time; record() allocates
/// nothing.
class Histogram {
public:
    Histogram() : m_counts(kBuckets) {}
    /// Throws std::invalid_argument for buckets that no histogram has.
    explicit Histogram(const Latency& latency);

    void record(std::uint64_t ns) {
        ++m_counts[indexOf(ns)];
        ++m_count;
        m_sum += static_cast<double>(ns);
        m_min = std::min(m_min, ns);
        m_max = std::max(m_max, ns);
    }
    void add(const Histogram& other);

    [[nodiscard]] std::uint64_t count() const { return m_count; }
    [[nodiscard]] std::uint64_t min() const { return m_count == 0 ? 0 : m_min; }
    [[nodiscard]] std::uint64_t max() const { return m_max; }
    [[nodiscard]] double mean() const {
        return m_count == 0 ? 0 : m_sum / static_cast<double>(m_count);
    }
    /// The value of nearest rank: `share` (0 to 1) of all are not above it, within the width of a
    /// bucket. 0 for an empty histogram.
    [[nodiscard]] std::uint64_t percentile(double share) const;
    [[nodiscard]] Latency toLatency() const;

    /// Smallest value of a bucket, and the first that is above it.
    [[nodiscard]] static std::uint64_t lowest(std::size_t index);
    [[nodiscard]] static std::uint64_t beyond(std::size_t index) { return lowest(index + 1); }

private:
    static constexpr std::uint64_t kLongest = 60'000'000'000;
    static constexpr int kBits = 10; ///< buckets for each doubling: 2^kBits
    static constexpr std::size_t indexOf(std::uint64_t ns) {
        const std::uint64_t value = std::min(ns, kLongest);
        const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - kBits - 1);
        return (static_cast<std::size_t>(shift) << kBits) +
               static_cast<std::size_t>(value >> shift);
    }
    /// indexOf(kLongest) + 1.
    static constexpr std::size_t kBuckets = 27'389;

    std::vector<std::uint32_t> m_counts;
    std::uint64_t m_count = 0;
    double m_sum = 0;
    std::uint64_t m_min = UINT64_MAX;
    std::uint64_t m_max = 0;
};

} // namespace knobscope::protocol
