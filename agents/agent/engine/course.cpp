// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/course.h"

namespace knobscope::agent {

Counts operator+(const Counts& a, const Counts& b) {
    return {a.bytesSent + b.bytesSent, a.bytesReceived + b.bytesReceived, a.sendCalls + b.sendCalls,
            a.recvCalls + b.recvCalls, a.transactions + b.transactions};
}

Counts operator-(const Counts& a, const Counts& b) {
    return {a.bytesSent - b.bytesSent, a.bytesReceived - b.bytesReceived, a.sendCalls - b.sendCalls,
            a.recvCalls - b.recvCalls, a.transactions - b.transactions};
}

Counts Counters::read() const {
    const auto get = [](const Cell& cell) { return cell.load(std::memory_order_relaxed); };
    return {get(m_bytesSent), get(m_bytesReceived), get(m_sendCalls), get(m_recvCalls),
            get(m_transactions)};
}

void ReceiveSizes::addTo(std::vector<std::uint64_t>& sums) const {
    for (std::size_t width = 1; width < m_counts.size(); ++width) {
        if (m_counts[width] == 0)
            continue;
        if (sums.size() < width)
            sums.resize(width);
        sums[width - 1] += m_counts[width];
    }
}

void Course::awaitRelease(bool sends) {
    ++m_waiting;
    m_changed.raise();
    m_released[sends ? 1 : 0].wait(false);
}

void Course::release(bool sends) {
    m_released[sends ? 1 : 0].store(true);
    m_released[sends ? 1 : 0].notify_all();
}

void Course::begin() {
    Clock::rep none = 0;
    if (m_epoch.compare_exchange_strong(none, Clock::now().time_since_epoch().count()))
        m_changed.raise();
}

std::optional<TimePoint> Course::epoch() const {
    const Clock::rep ticks = m_epoch.load();
    if (ticks == 0)
        return std::nullopt;
    return TimePoint(Clock::duration(ticks));
}

} // namespace knobscope::agent
