// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/sample.h"

#include <QVariant>

namespace knobscope {

// How values stand in columns, independent of the order of enumerations, which may change.

/// 0 whole, 1 sender, 2 receiver, 3 both.
[[nodiscard]] int sideCode(Side side);
[[nodiscard]] std::optional<Side> sideFromCode(qint64 code);

/// "done", "flagged", "failed".
[[nodiscard]] QString sampleStateText(SampleState state);
[[nodiscard]] std::optional<SampleState> sampleStateFromText(const QString& text);

/// Milliseconds since 1970 UTC; NULL for an invalid time, and the other way round.
[[nodiscard]] QVariant sqlTime(const QDateTime& time);
[[nodiscard]] QDateTime timeFromSql(const QVariant& value);

} // namespace knobscope
