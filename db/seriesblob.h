// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/sample.h"

namespace knobscope {

/// The intervals of one side as bytes:
///
///   u8   version, 1
///   u8   columns that follow: bit 0 end seconds (always), bit 1 Mbit/s, bit 2 transactions/s,
///        bit 3 congestion window, bit 4 round trip µs, bit 5 retransmits
///   u32  number of points n, little endian
///   f64  n values of each such column, little endian
///
/// Of the first three a column without its bit is all zero (a stream has no transactions), of the
/// others it is all unknown; a single unknown value is a NaN.
[[nodiscard]] QByteArray encodeSeries(const QList<SeriesPoint>& points);
/// Absent for bytes that encodeSeries does not write.
[[nodiscard]] std::optional<QList<SeriesPoint>> decodeSeries(const QByteArray& bytes);

/// A distribution as bytes: u8 version, 1; u64 least, u64 most, f64 mean; u32 number of buckets n;
/// n times u32 index and u64 count, in rising order of the index. All little endian.
[[nodiscard]] QByteArray encodeDistribution(const Distribution& distribution);
/// Side and name are the caller's. Absent for bytes that encodeDistribution does not write.
[[nodiscard]] std::optional<Distribution> decodeDistribution(const QByteArray& bytes);

} // namespace knobscope
