// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/hostsession.h"

#include <algorithm>

namespace knobscope {

/// How long to wait for one stage of connecting, and whether the user still wants it.
class Patience {
public:
    using Clock = std::chrono::steady_clock;

    Patience(QString label, std::chrono::milliseconds limit, CancelToken cancel)
        : m_label(std::move(label)), m_limit(limit), m_until(Clock::now() + limit),
          m_cancel(std::move(cancel)) {}

    /// Starts the time again.
    void renew() { m_until = Clock::now() + m_limit; }
    [[nodiscard]] const QString& label() const { return m_label; }
    [[nodiscard]] const CancelToken& token() const { return m_cancel; }
    [[nodiscard]] std::chrono::milliseconds left() const {
        return std::max(std::chrono::milliseconds(0),
                        std::chrono::ceil<std::chrono::milliseconds>(m_until - Clock::now()));
    }
    /// For poll(): short enough that a cancel is seen at once.
    [[nodiscard]] int slice() const { return int(std::min<std::int64_t>(left().count(), 20)); }

    /// The error when the wait must end: Cancelled, or HostUnusable naming the stage.
    [[nodiscard]] std::optional<Error> over(const QString& stage) const {
        if (m_cancel.cancelled())
            return Error{Error::Code::Cancelled,
                         QStringLiteral("connecting to %1 was cancelled").arg(m_label)};
        if (left().count() > 0)
            return std::nullopt;
        return Error{Error::Code::HostUnusable,
                     QStringLiteral("%1 did not answer within %2 s")
                         .arg(m_label)
                         .arg(double(m_limit.count()) / 1000),
                     QStringLiteral("while waiting for %1").arg(stage)};
    }

private:
    QString m_label;
    std::chrono::milliseconds m_limit;
    Clock::time_point m_until;
    CancelToken m_cancel;
};

} // namespace knobscope
