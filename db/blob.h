// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QtEndian>

#include <bit>

namespace knobscope {

/// Puts numbers one after the other, little endian.
class BlobWriter {
public:
    explicit BlobWriter(qsizetype bytes) { m_bytes.reserve(bytes); }
    void u8(unsigned value) { m_bytes.append(static_cast<char>(value)); }
    void u32(quint32 value) { put(value); }
    void u64(quint64 value) { put(value); }
    void f64(double value) { put(std::bit_cast<quint64>(value)); }
    void raw(const QByteArray& bytes) { m_bytes.append(bytes); }
    [[nodiscard]] QByteArray bytes() const { return m_bytes; }

private:
    template<typename T>
    void put(T value) {
        char raw[sizeof value];
        qToLittleEndian(value, raw);
        m_bytes.append(raw, sizeof raw);
    }
    QByteArray m_bytes;
};

/// Takes them out again. What lies beyond the end is 0, and then ok() is false for good.
class BlobReader {
public:
    /// `bytes` must outlive it.
    explicit BlobReader(const QByteArray& bytes, qsizetype from = 0) : m_bytes(bytes), m_at(from) {}
    quint8 u8() { return take<quint8>(); }
    quint32 u32() { return take<quint32>(); }
    quint64 u64() { return take<quint64>(); }
    double f64() { return std::bit_cast<double>(take<quint64>()); }
    QByteArray raw(qsizetype count) {
        if (left() < count) {
            m_ok = false;
            return {};
        }
        m_at += count;
        return m_bytes.mid(m_at - count, count);
    }
    [[nodiscard]] qsizetype left() const { return m_ok ? m_bytes.size() - m_at : 0; }
    [[nodiscard]] bool ok() const { return m_ok; }

private:
    template<typename T>
    T take() {
        constexpr auto kSize = static_cast<qsizetype>(sizeof(T));
        if (left() < kSize) {
            m_ok = false;
            return {};
        }
        const T value = qFromLittleEndian<T>(m_bytes.constData() + m_at);
        m_at += kSize;
        return value;
    }
    const QByteArray& m_bytes;
    qsizetype m_at;
    bool m_ok = true;
};

} // namespace knobscope
