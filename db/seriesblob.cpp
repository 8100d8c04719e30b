// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/seriesblob.h"

#include <QtEndian>

#include <algorithm>
#include <array>
#include <bit>

namespace knobscope {

namespace {

constexpr quint8 kVersion = 1;
constexpr qsizetype kHeaderBytes = 6;
constexpr qsizetype kValueBytes = 8;
constexpr std::array kColumns{&SeriesPoint::endSeconds, &SeriesPoint::mbitPerSecond,
                              &SeriesPoint::transactionsPerSecond};

/// By its bits, so that -0.0 and NaN come back as they were.
bool isZero(double value) {
    return std::bit_cast<quint64>(value) == 0;
}

} // namespace

QByteArray encodeSeries(const QList<SeriesPoint>& points) {
    // The first column is always there, so that the length tells the number of points.
    unsigned mask = 1;
    for (std::size_t i = 1; i < kColumns.size(); ++i) {
        const bool used = std::any_of(points.begin(), points.end(), [&](const SeriesPoint& point) {
            return !isZero(point.*kColumns[i]);
        });
        mask |= used ? 1U << i : 0U;
    }
    QByteArray bytes(kHeaderBytes + std::popcount(mask) * kValueBytes * points.size(),
                     Qt::Uninitialized);
    char* at = bytes.data();
    *at++ = static_cast<char>(kVersion);
    *at++ = static_cast<char>(mask);
    qToLittleEndian(static_cast<quint32>(points.size()), at);
    at += sizeof(quint32);
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
        if (!(mask & (1U << i)))
            continue;
        for (const SeriesPoint& point : points) {
            qToLittleEndian(std::bit_cast<quint64>(point.*kColumns[i]), at);
            at += kValueBytes;
        }
    }
    return bytes;
}

std::optional<QList<SeriesPoint>> decodeSeries(const QByteArray& bytes) {
    if (bytes.size() < kHeaderBytes || static_cast<quint8>(bytes[0]) != kVersion)
        return std::nullopt;
    const unsigned mask = static_cast<quint8>(bytes[1]);
    if (!(mask & 1U) || mask >= 1U << kColumns.size())
        return std::nullopt;
    const auto count = static_cast<qsizetype>(qFromLittleEndian<quint32>(bytes.constData() + 2));
    // Checked against the length before anything is allocated for it.
    if (bytes.size() - kHeaderBytes != std::popcount(mask) * kValueBytes * count)
        return std::nullopt;

    QList<SeriesPoint> points(count);
    const char* at = bytes.constData() + kHeaderBytes;
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
        if (!(mask & (1U << i)))
            continue;
        for (SeriesPoint& point : points) {
            point.*kColumns[i] = std::bit_cast<double>(qFromLittleEndian<quint64>(at));
            at += kValueBytes;
        }
    }
    return points;
}

} // namespace knobscope
