// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/protocol/histogram.h"

#include <cmath>
#include <stdexcept>

namespace knobscope::protocol {

Histogram::Histogram(const Latency& latency) : Histogram() {
    for (const auto& [index, count] : latency.buckets) {
        if (index >= kBuckets || count > UINT32_MAX)
            throw std::invalid_argument("a histogram has no such bucket");
        m_counts[index] += static_cast<std::uint32_t>(count);
        m_count += count;
    }
    m_sum = latency.mean * static_cast<double>(m_count);
    if (m_count > 0) {
        m_min = latency.min;
        m_max = latency.max;
    }
}

void Histogram::add(const Histogram& other) {
    for (std::size_t i = 0; i < kBuckets; ++i)
        m_counts[i] += other.m_counts[i];
    m_count += other.m_count;
    m_sum += other.m_sum;
    m_min = std::min(m_min, other.m_min);
    m_max = std::max(m_max, other.m_max);
}

std::uint64_t Histogram::percentile(double share) const {
    if (m_count == 0)
        return 0;
    const double exact = std::ceil(std::clamp(share, 0.0, 1.0) * static_cast<double>(m_count));
    const std::uint64_t rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(exact));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < kBuckets; ++i) {
        seen += m_counts[i];
        if (seen >= rank) {
            const std::uint64_t middle = lowest(i) + (beyond(i) - lowest(i)) / 2;
            return std::clamp(middle, m_min, m_max);
        }
    }
    return m_max;
}

Latency Histogram::toLatency() const {
    Latency latency{m_count, min(), m_max, mean(), {}};
    for (std::size_t i = 0; i < kBuckets; ++i) {
        if (m_counts[i] != 0)
            latency.buckets.push_back({i, m_counts[i]});
    }
    return latency;
}

std::uint64_t Histogram::lowest(std::size_t index) {
    const std::size_t shift = index < (std::size_t{2} << kBits) ? 0 : (index >> kBits) - 1;
    return (static_cast<std::uint64_t>(index) - (static_cast<std::uint64_t>(shift) << kBits))
           << shift;
}

} // namespace knobscope::protocol
