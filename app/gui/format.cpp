// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/format.h"

#include <cmath>

namespace knobscope {

QString absentText() {
    return QStringLiteral("–");
}

QString durationText(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0)
        return absentText();
    const auto whole = static_cast<qint64>(std::llround(std::ceil(seconds)));
    if (whole < 60)
        return QStringLiteral("%1 s").arg(whole);
    if (whole < 3600)
        return QStringLiteral("%1 min %2 s")
            .arg(whole / 60)
            .arg(whole % 60, 2, 10, QLatin1Char('0'));
    return QStringLiteral("%1 h %2 min")
        .arg(whole / 3600)
        .arg(whole % 3600 / 60, 2, 10, QLatin1Char('0'));
}

QString numberText(double value) {
    if (!std::isfinite(value))
        return absentText();
    if (value == std::trunc(value) && std::abs(value) < 1e15)
        return QString::number(value, 'f', 0);
    if (std::abs(value) >= 1000)
        return QString::number(value, 'f', 0);
    return QString::number(value, 'g', 4);
}

QString numberText(const std::optional<double>& value) {
    return value ? numberText(*value) : absentText();
}

QString timeText(const QDateTime& time) {
    return time.isValid() ? time.toLocalTime().toString(QStringLiteral("yyyy-MM-dd HH:mm:ss"))
                          : absentText();
}

} // namespace knobscope
