// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/sample.h"

namespace knobscope {

/// The streams of one host as bytes, little endian:
///
///   u8   version, 1
///   u32  number of streams n
///   u32  columns that follow, by bit: 0 instance, 1 number, 2 bytes sent, 3 bytes received, 4 send
///        calls, 5 receive calls, 6 elapsed seconds (f64), 7 transactions, 8 and 9 send and receive
///        buffer at first, 10 and 11 at last, 12 low-water mark of receiving, 13 MSS, 14
///        retransmits, 15 congestion window, 16 round trip µs, 17 its variation, 18 the least, 19
///        path MTU, 20 delivery rate, 21 local port, 22 datagrams sent, 23 received, 24 lost, 25
///        reordered, 26 duplicate, 27 jitter µs (f64), 28 congestion control (text)
///   bits of n streams: which of them send
///   for each column: bits of n streams: which have a value; then these values, 8 bytes each, of
///        text a u8 of its length and UTF-8
///
/// Bits fill bytes from the lowest; the rest of the last byte is 0. A stream without a value has 0
/// in columns 0 to 6 and 23 to 26 and nothing known in the others. One with column 22 has
/// datagrams.
[[nodiscard]] QByteArray encodeStreams(const QList<StreamFigures>& streams);
/// Absent for bytes that encodeStreams does not write.
[[nodiscard]] std::optional<QList<StreamFigures>> decodeStreams(const QByteArray& bytes);

} // namespace knobscope
