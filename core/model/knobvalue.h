// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/result.h"

#include <QMetaType>
#include <QString>

#include <optional>

namespace knobscope {

/// One value of a knob, as people write it: "64K", "auto", "cubic", "4096 131072 6291456".
/// `text` is what is shown and stored; `number` is its value where it is one (64K is 65536:
/// suffixes K, M, G are powers of 1024). Two values are equal when their numbers are, or, where
/// one has none, their texts.
struct KnobValue {
    QString text;
    std::optional<qint64> number;

    KnobValue() = default;
    explicit KnobValue(const QString& text);
    explicit KnobValue(qint64 value);

    [[nodiscard]] bool isAuto() const { return text == QLatin1String("auto"); }
    /// For the agent: digits where it is a number, else the text.
    [[nodiscard]] QString plain() const;

    bool operator==(const KnobValue& other) const;
};

/// "64K" → 65536; "1.5M" → 1572864; "0" → 0. Absent for text that is no whole number of units.
[[nodiscard]] std::optional<qint64> parseQuantity(const QString& text);
/// 65536 → "64K", 1000 → "1000": with a suffix only where it is exact.
[[nodiscard]] QString formatQuantity(qint64 value);

} // namespace knobscope

Q_DECLARE_METATYPE(knobscope::KnobValue)
