// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/sample.h"

namespace knobscope {

/// The intervals of one side as bytes:
///
///   u8   version, 1
///   u8   columns that follow: bit 0 end seconds (always), bit 1 Mbit/s, bit 2 transactions/s
///   u32  number of points n, little endian
///   f64  n values of each such column, little endian
///
/// A column without its bit is all zero (a stream has no transactions).
[[nodiscard]] QByteArray encodeSeries(const QList<SeriesPoint>& points);
/// Absent for bytes that encodeSeries does not write.
[[nodiscard]] std::optional<QList<SeriesPoint>> decodeSeries(const QByteArray& bytes);

} // namespace knobscope
