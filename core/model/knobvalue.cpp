// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/knobvalue.h"

#include <limits>

namespace knobscope {

namespace {

constexpr qint64 kMaximum = std::numeric_limits<qint64>::max();

/// Digit of an ASCII character; QChar::isDigit would take those of other scripts too.
std::optional<int> digitOf(QChar c) {
    if (c < QLatin1Char('0') || c > QLatin1Char('9'))
        return std::nullopt;
    return c.unicode() - u'0';
}

std::optional<qint64> unitOf(QChar suffix) {
    switch (suffix.toUpper().unicode()) {
    case u'K':
        return qint64{1} << 10;
    case u'M':
        return qint64{1} << 20;
    case u'G':
        return qint64{1} << 30;
    default:
        return std::nullopt;
    }
}

} // namespace

std::optional<qint64> parseQuantity(const QString& text) {
    QStringView rest(text);
    qint64 unit = 1;
    if (!rest.isEmpty()) {
        if (const auto suffix = unitOf(rest.back())) {
            unit = *suffix;
            rest.chop(1);
        }
    }
    // The number is mantissa / scale, kept as integers: "1.5" is 15 / 10.
    qint64 mantissa = 0;
    qint64 scale = 1;
    bool digitSeen = false;
    bool pointSeen = false;
    for (const QChar c : rest) {
        if (c == QLatin1Char('.') && digitSeen && !pointSeen) {
            pointSeen = true;
            digitSeen = false;
            continue;
        }
        const auto digit = digitOf(c);
        if (!digit || mantissa > (kMaximum - *digit) / 10 || (pointSeen && scale > kMaximum / 10))
            return std::nullopt;
        mantissa = mantissa * 10 + *digit;
        if (pointSeen)
            scale *= 10;
        digitSeen = true;
    }
    if (!digitSeen || mantissa > kMaximum / unit || (mantissa * unit) % scale != 0)
        return std::nullopt;
    return mantissa * unit / scale;
}

QString formatQuantity(qint64 value) {
    for (const auto& [shift, suffix] : {std::pair{30, 'G'}, {20, 'M'}, {10, 'K'}}) {
        const qint64 unit = qint64{1} << shift;
        if (value != 0 && value % unit == 0)
            return QString::number(value / unit) + QLatin1Char(suffix);
    }
    return QString::number(value);
}

// The kernel writes several numbers with tabs between them; people with spaces.
KnobValue::KnobValue(const QString& value)
    : text(value.simplified()), number(parseQuantity(text)) {}

KnobValue::KnobValue(qint64 value) : KnobValue(QString::number(value)) {}

QString KnobValue::plain() const {
    return number ? QString::number(*number) : text;
}

bool KnobValue::operator==(const KnobValue& other) const {
    if (number && other.number)
        return *number == *other.number;
    return text == other.text;
}

} // namespace knobscope
