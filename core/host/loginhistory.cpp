// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/loginhistory.h"

#include <algorithm>

namespace knobscope {

void LoginHistory::failed(const QString& account, Clock::time_point now) {
    const std::scoped_lock lock(m_mutex);
    Failures& failures = m_failures[account];
    ++failures.count;
    failures.last = now;
}

void LoginHistory::succeeded(const QString& account) {
    const std::scoped_lock lock(m_mutex);
    m_failures.erase(account);
}

std::chrono::milliseconds LoginHistory::wait(const QString& account, Clock::time_point now) const {
    using namespace std::chrono_literals;
    const std::scoped_lock lock(m_mutex);
    const auto it = m_failures.find(account);
    if (it == m_failures.end() || it->second.count < 2)
        return 0ms;
    const auto pause =
        std::min<std::chrono::milliseconds>(30s, 1s * (1 << std::min(it->second.count - 2, 5)));
    return std::max(0ms,
                    std::chrono::ceil<std::chrono::milliseconds>(it->second.last + pause - now));
}

} // namespace knobscope
