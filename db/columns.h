// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/sample.h"

#include <QVariant>

namespace knobscope {

// How values stand in columns, independent of the order of enumerations, which may change.

/// 0 whole, 1 sender, 2 receiver, 3 both; of one host of a side that has several 4 times its number
/// more: 9 is the second sender.
[[nodiscard]] int sideCode(HostRef host);
/// Absent for a code that sideCode() does not give.
[[nodiscard]] std::optional<HostRef> hostFromCode(qint64 code);

/// "done", "flagged", "failed".
[[nodiscard]] QString sampleStateText(SampleState state);
[[nodiscard]] std::optional<SampleState> sampleStateFromText(const QString& text);

/// Milliseconds since 1970 UTC; NULL for an invalid time, and the other way round.
[[nodiscard]] QVariant sqlTime(const QDateTime& time);
[[nodiscard]] QDateTime timeFromSql(const QVariant& value);

} // namespace knobscope
