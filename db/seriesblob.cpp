// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/seriesblob.h"

#include "db/blob.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace knobscope {

namespace {

constexpr quint8 kVersion = 1;
constexpr qsizetype kHeaderBytes = 6;
constexpr qsizetype kValueBytes = 8;
constexpr qsizetype kDistributionHeader = 1 + 3 * 8 + 4;
constexpr qsizetype kBucketBytes = 4 + 8;
constexpr std::array kColumns{&SeriesPoint::endSeconds, &SeriesPoint::mbitPerSecond,
                              &SeriesPoint::transactionsPerSecond};

constexpr std::array kOptionals{&SeriesPoint::congestionWindow, &SeriesPoint::roundTripUs,
                                &SeriesPoint::retransmits};
constexpr std::size_t kAllColumns = kColumns.size() + kOptionals.size();

/// By its bits, so that -0.0 and NaN come back as they were.
bool isZero(double value) {
    return std::bit_cast<quint64>(value) == 0;
}

} // namespace

QByteArray encodeSeries(const QList<SeriesPoint>& points) {
    // The first column is always there, so that the length tells the number of points.
    unsigned mask = 1;
    const auto any = [&](const auto& used) {
        return std::any_of(points.begin(), points.end(), used);
    };
    for (std::size_t i = 1; i < kColumns.size(); ++i) {
        if (any([i](const SeriesPoint& point) { return !isZero(point.*kColumns[i]); }))
            mask |= 1U << i;
    }
    for (std::size_t i = 0; i < kOptionals.size(); ++i) {
        if (any([i](const SeriesPoint& point) { return (point.*kOptionals[i]).has_value(); }))
            mask |= 1U << (kColumns.size() + i);
    }
    BlobWriter writer(kHeaderBytes + std::popcount(mask) * kValueBytes * points.size());
    writer.u8(kVersion);
    writer.u8(mask);
    writer.u32(static_cast<quint32>(points.size()));
    for (std::size_t i = 0; i < kAllColumns; ++i) {
        if (!(mask & (1U << i)))
            continue;
        for (const SeriesPoint& point : points)
            writer.f64(i < kColumns.size()
                           ? point.*kColumns[i]
                           : (point.*kOptionals[i - kColumns.size()]).value_or(std::nan("")));
    }
    return writer.bytes();
}

std::optional<QList<SeriesPoint>> decodeSeries(const QByteArray& bytes) {
    if (bytes.size() < kHeaderBytes || static_cast<quint8>(bytes[0]) != kVersion)
        return std::nullopt;
    const unsigned mask = static_cast<quint8>(bytes[1]);
    if (!(mask & 1U) || mask >= 1U << kAllColumns)
        return std::nullopt;
    const auto count = static_cast<qsizetype>(qFromLittleEndian<quint32>(bytes.constData() + 2));
    // Checked against the length before anything is allocated for it.
    if (bytes.size() - kHeaderBytes != std::popcount(mask) * kValueBytes * count)
        return std::nullopt;

    QList<SeriesPoint> points(count);
    BlobReader reader(bytes, kHeaderBytes);
    for (std::size_t i = 0; i < kAllColumns; ++i) {
        if (!(mask & (1U << i)))
            continue;
        for (SeriesPoint& point : points) {
            const double value = reader.f64();
            if (i < kColumns.size())
                point.*kColumns[i] = value;
            else if (!std::isnan(value))
                point.*kOptionals[i - kColumns.size()] = value;
        }
    }
    return points;
}

QByteArray encodeDistribution(const Distribution& distribution) {
    const auto& buckets = distribution.buckets;
    BlobWriter writer(kDistributionHeader + kBucketBytes * buckets.size());
    writer.u8(kVersion);
    writer.u64(distribution.minimum);
    writer.u64(distribution.maximum);
    writer.f64(distribution.mean);
    writer.u32(static_cast<quint32>(buckets.size()));
    for (const auto& [index, count] : buckets) {
        writer.u32(index);
        writer.u64(count);
    }
    return writer.bytes();
}

std::optional<Distribution> decodeDistribution(const QByteArray& bytes) {
    if (bytes.size() < kDistributionHeader || static_cast<quint8>(bytes[0]) != kVersion ||
        (bytes.size() - kDistributionHeader) % kBucketBytes != 0)
        return std::nullopt;
    Distribution distribution;
    BlobReader reader(bytes, 1);
    distribution.minimum = reader.u64();
    distribution.maximum = reader.u64();
    distribution.mean = reader.f64();
    const auto count = static_cast<qsizetype>(reader.u32());
    if (count != (bytes.size() - kDistributionHeader) / kBucketBytes)
        return std::nullopt;
    for (qsizetype i = 0; i < count; ++i) {
        const quint32 index = reader.u32();
        const quint64 number = reader.u64();
        if (!distribution.buckets.isEmpty() && index <= distribution.buckets.last().first)
            return std::nullopt;
        distribution.buckets.append({index, number});
    }
    return distribution;
}

} // namespace knobscope
