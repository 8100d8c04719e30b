// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/streamblob.h"

#include "db/blob.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>

namespace knobscope {

namespace {

constexpr quint8 kVersion = 1;
constexpr qsizetype kHeaderBytes = 1 + 4 + 4;
constexpr qsizetype kValueBytes = 8;
constexpr qsizetype kLongestText = 60; ///< characters: less than 256 bytes in UTF-8
/// Most that a host can have: a thousand of each instance, and more than that.
constexpr quint32 kMostStreams = 1U << 20;

using Value = std::optional<quint64>; ///< the bits of a number

/// A column of numbers: what it has for a stream, and how it is put back. False: no such value.
struct Column {
    Value (*get)(const StreamFigures&);
    bool (*set)(StreamFigures&, quint64);
};

template<typename T>
quint64 bitsOf(T value) {
    if constexpr (std::is_same_v<T, double>)
        return std::bit_cast<quint64>(value);
    else
        return static_cast<quint64>(value);
}

template<typename T>
bool fromBits(quint64 bits, T& value) {
    if constexpr (std::is_same_v<T, double>) {
        value = std::bit_cast<double>(bits);
    } else if constexpr (std::is_same_v<T, int>) {
        if (bits > static_cast<quint64>(std::numeric_limits<int>::max()))
            return false;
        value = static_cast<int>(bits);
    } else {
        value = static_cast<T>(bits);
    }
    return true;
}

/// Always known; 0 is left out.
template<auto Member>
constexpr Column plain() {
    return {[](const StreamFigures& stream) {
                const quint64 bits = bitsOf(stream.*Member);
                return bits == 0 ? Value() : Value(bits);
            },
            [](StreamFigures& stream, quint64 bits) { return fromBits(bits, stream.*Member); }};
}

/// Known or not.
template<auto Member>
constexpr Column known() {
    return {[](const StreamFigures& stream) {
                return stream.*Member ? Value(bitsOf(*(stream.*Member))) : Value();
            },
            [](StreamFigures& stream, quint64 bits) {
                return fromBits(bits, (stream.*Member).emplace());
            }};
}

/// Of the datagrams, where the stream has some.
template<auto Member>
constexpr Column counted() {
    return {[](const StreamFigures& stream) {
                const quint64 value = stream.datagrams ? (*stream.datagrams).*Member : 0;
                return value == 0 ? Value() : Value(value);
            },
            [](StreamFigures& stream, quint64 bits) {
                return stream.datagrams && fromBits(bits, (*stream.datagrams).*Member);
            }};
}

constexpr Column kDatagramsSent{[](const StreamFigures& stream) {
                                    return stream.datagrams ? Value(stream.datagrams->sent)
                                                            : Value();
                                },
                                [](StreamFigures& stream, quint64 bits) {
                                    stream.datagrams.emplace().sent = bits;
                                    return true;
                                }};
constexpr Column kJitter{[](const StreamFigures& stream) {
                             return stream.datagrams && stream.datagrams->jitterUs
                                        ? Value(bitsOf(*stream.datagrams->jitterUs))
                                        : Value();
                         },
                         [](StreamFigures& stream, quint64 bits) {
                             return stream.datagrams &&
                                    fromBits(bits, stream.datagrams->jitterUs.emplace());
                         }};

constexpr Column kColumns[] = {plain<&StreamFigures::instance>(),
                               plain<&StreamFigures::number>(),
                               plain<&StreamFigures::bytesSent>(),
                               plain<&StreamFigures::bytesReceived>(),
                               plain<&StreamFigures::sendCalls>(),
                               plain<&StreamFigures::receiveCalls>(),
                               plain<&StreamFigures::elapsedSeconds>(),
                               known<&StreamFigures::transactions>(),
                               known<&StreamFigures::sndbufInitial>(),
                               known<&StreamFigures::rcvbufInitial>(),
                               known<&StreamFigures::sndbufFinal>(),
                               known<&StreamFigures::rcvbufFinal>(),
                               known<&StreamFigures::rcvlowat>(),
                               known<&StreamFigures::mss>(),
                               known<&StreamFigures::retransmits>(),
                               known<&StreamFigures::congestionWindow>(),
                               known<&StreamFigures::roundTripUs>(),
                               known<&StreamFigures::roundTripVariationUs>(),
                               known<&StreamFigures::leastRoundTripUs>(),
                               known<&StreamFigures::pathMtu>(),
                               known<&StreamFigures::deliveryBytesPerSecond>(),
                               known<&StreamFigures::localPort>(),
                               kDatagramsSent,
                               counted<&DatagramFigures::received>(),
                               counted<&DatagramFigures::lost>(),
                               counted<&DatagramFigures::reordered>(),
                               counted<&DatagramFigures::duplicates>(),
                               kJitter};
constexpr std::size_t kNumbers = std::size(kColumns);
constexpr quint32 kTextBit = 1U << kNumbers;
static_assert(kNumbers == 28, "the number of a column is what the stored bytes say");

/// A bit for each stream.
template<typename Has>
QByteArray bitsFor(const QList<StreamFigures>& streams, const Has& has) {
    QByteArray bits((streams.size() + 7) / 8, '\0');
    for (qsizetype i = 0; i < streams.size(); ++i) {
        if (has(streams[i]))
            bits[i / 8] = static_cast<char>(bits[i / 8] | (1 << (i % 8)));
    }
    return bits;
}

bool isSet(const QByteArray& bits, qsizetype i) {
    return (static_cast<quint8>(bits[i / 8]) >> (i % 8)) & 1;
}

bool anySet(const QByteArray& bits) {
    return std::any_of(bits.begin(), bits.end(), [](char c) { return c != 0; });
}

/// Reads the values of one column into the streams that have it. False: it makes no sense.
template<typename Take>
bool readColumn(BlobReader& reader, QList<StreamFigures>& streams, const Take& take) {
    const QByteArray bits = reader.raw((streams.size() + 7) / 8);
    for (qsizetype i = 0; reader.ok() && i < streams.size(); ++i) {
        if (isSet(bits, i) && !take(streams[i]))
            return false;
    }
    return reader.ok();
}

} // namespace

QByteArray encodeStreams(const QList<StreamFigures>& streams) {
    BlobWriter body(kValueBytes * streams.size() * 16);
    quint32 mask = 0;
    for (std::size_t column = 0; column < kNumbers; ++column) {
        const auto get = kColumns[column].get;
        const QByteArray bits =
            bitsFor(streams, [get](const StreamFigures& s) { return get(s).has_value(); });
        if (!anySet(bits))
            continue;
        mask |= 1U << column;
        body.raw(bits);
        for (const StreamFigures& stream : streams) {
            if (const Value value = get(stream))
                body.u64(*value);
        }
    }
    const QByteArray texts =
        bitsFor(streams, [](const StreamFigures& s) { return s.congestionControl.has_value(); });
    if (anySet(texts)) {
        mask |= kTextBit;
        body.raw(texts);
        for (const StreamFigures& stream : streams) {
            if (!stream.congestionControl)
                continue;
            const QByteArray text = stream.congestionControl->left(kLongestText).toUtf8();
            body.u8(static_cast<unsigned>(text.size()));
            body.raw(text);
        }
    }
    BlobWriter whole(kHeaderBytes + body.bytes().size());
    whole.u8(kVersion);
    whole.u32(static_cast<quint32>(streams.size()));
    whole.u32(mask);
    whole.raw(bitsFor(streams, [](const StreamFigures& s) { return s.sends; }));
    whole.raw(body.bytes());
    return whole.bytes();
}

std::optional<QList<StreamFigures>> decodeStreams(const QByteArray& bytes) {
    BlobReader reader(bytes);
    const quint8 version = reader.u8();
    const quint32 count = reader.u32();
    const quint32 mask = reader.u32();
    // Every stream has a number, so the length bounds what is allocated for them.
    if (!reader.ok() || version != kVersion || mask >= kTextBit << 1 || count > kMostStreams ||
        reader.left() < kValueBytes * static_cast<qsizetype>(count))
        return std::nullopt;
    QList<StreamFigures> streams(static_cast<qsizetype>(count));
    bool good =
        readColumn(reader, streams, [](StreamFigures& stream) { return stream.sends = true; });
    for (std::size_t column = 0; good && column < kNumbers; ++column) {
        if (mask & (1U << column))
            good = readColumn(reader, streams, [&](StreamFigures& stream) {
                return kColumns[column].set(stream, reader.u64());
            });
    }
    if (good && (mask & kTextBit))
        good = readColumn(reader, streams, [&](StreamFigures& stream) {
            stream.congestionControl = QString::fromUtf8(reader.raw(reader.u8()));
            return true;
        });
    // What is written anew differs where bits stand that mean nothing, or bytes are left.
    if (!good || encodeStreams(streams) != bytes)
        return std::nullopt;
    return streams;
}

} // namespace knobscope
