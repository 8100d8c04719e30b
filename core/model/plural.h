// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace knobscope {

/// "sample" for one, "samples" for any other number. `many` where an s does not do.
[[nodiscard]] inline QString nounFor(qint64 count, const QString& one, const QString& many = {}) {
    if (count == 1)
        return one;
    return many.isEmpty() ? one + QLatin1Char('s') : many;
}

/// "1 sample", "2 samples", "1 entry", "2 entries": every count in a message is written by this.
[[nodiscard]] inline QString counted(qint64 count, const QString& one, const QString& many = {}) {
    return QString::number(count) + QLatin1Char(' ') + nounFor(count, one, many);
}

} // namespace knobscope
