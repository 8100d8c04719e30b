// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/datagrams.h"

#include <cmath>
#include <cstring>

#include <endian.h>

namespace knobscope::agent {

void DatagramHeader::write(char* at) const {
    const std::uint64_t words[] = {htobe64(number | (measured ? kMeasured : 0)), htobe64(sentNs)};
    std::memcpy(at, words, sizeof words);
}

DatagramHeader DatagramHeader::read(const char* at) {
    std::uint64_t words[2];
    std::memcpy(words, at, sizeof words);
    const std::uint64_t first = be64toh(words[0]);
    return {first & ~kMeasured, (first & kMeasured) != 0, be64toh(words[1])};
}

bool DatagramTracker::arrived(const DatagramHeader& datagram, std::uint64_t arrivedNs) {
    const bool first = firstTime(datagram.number);
    m_all += first ? 1 : 0;
    if (!datagram.measured)
        return first;
    if (!first) {
        ++m_duplicates;
        return false;
    }
    ++m_received;
    m_reordered += m_late ? 1 : 0;
    // The clocks of the ends need not agree: only how the difference changes matters.
    const auto transit = static_cast<std::int64_t>(arrivedNs - datagram.sentNs);
    if (m_transit) {
        const auto change = static_cast<double>(transit - *m_transit);
        m_jitterNs += (std::abs(change) - m_jitterNs) / 16;
        m_jitterKnown = true;
    }
    m_transit = transit;
    return true;
}

bool DatagramTracker::firstTime(std::uint64_t number) {
    auto& seen = *m_seen;
    m_late = number < m_next;
    if (!m_late) {
        clear(m_next, number);
        m_next = number + 1;
    } else if (m_next - number > kWindow) {
        return true; // too long ago to tell; late in any case
    }
    std::uint64_t& word = seen[number % kWindow / 64];
    const std::uint64_t bit = std::uint64_t{1} << number % 64;
    if (m_late && (word & bit) != 0)
        return false;
    word |= bit;
    return true;
}

/// Numbers from `from` to `to` have not been seen: their places were those of older ones.
void DatagramTracker::clear(std::uint64_t from, std::uint64_t to) {
    auto& seen = *m_seen;
    if (to - from >= kWindow) {
        seen.fill(0);
        return;
    }
    for (std::uint64_t number = from; number <= to; ++number)
        seen[number % kWindow / 64] &= ~(std::uint64_t{1} << number % 64);
}

protocol::Datagrams DatagramTracker::measured() const {
    protocol::Datagrams result;
    result.received = m_received;
    result.reordered = m_reordered;
    result.duplicates = m_duplicates;
    if (m_jitterKnown)
        result.jitter_us = m_jitterNs / 1000;
    return result;
}

} // namespace knobscope::agent
