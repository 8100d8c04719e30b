// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <chrono>
#include <map>
#include <mutex>

namespace knobscope {

/// Logins that hosts have refused one after another, by account. A host bars an address that goes
/// on failing (PerSourcePenalties of OpenSSH 9.8, fail2ban), so each failure but the first makes
/// the next attempt wait longer. Any thread.
class LoginHistory {
public:
    using Clock = std::chrono::steady_clock;

    void failed(const QString& account, Clock::time_point now = Clock::now());
    void succeeded(const QString& account);
    /// How long to wait before this account may be tried again: after the second failure in
    /// succession 1 s from then, doubled by each further one, at most 30 s.
    [[nodiscard]] std::chrono::milliseconds wait(const QString& account,
                                                 Clock::time_point now = Clock::now()) const;

private:
    struct Failures {
        int count = 0;
        Clock::time_point last;
    };
    mutable std::mutex m_mutex;
    std::map<QString, Failures> m_failures;
};

} // namespace knobscope
