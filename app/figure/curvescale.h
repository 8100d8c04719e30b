// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/report/curves.h"

#include <QVector>

namespace knobscope {

/// Where the values of a knob lie on the x axis. Log2 places a value at its binary logarithm on a
/// linear axis, Category at its place in the list, Linear at itself. A set that does not fit its
/// scale (a zero on log2, a word among numbers) falls back to Category.
class CurveScale {
public:
    explicit CurveScale(const CurveSet& curves);

    [[nodiscard]] AxisScale kind() const { return m_kind; }
    /// Absent for a value that is not on the axis.
    [[nodiscard]] std::optional<double> position(const KnobValue& value) const;
    /// Positions of all values in the order of the axis, and what to write there.
    [[nodiscard]] const QVector<double>& positions() const { return m_positions; }
    [[nodiscard]] const QStringList& labels() const { return m_labels; }
    [[nodiscard]] double lower() const; ///< of the axis, with room for the outermost markers
    [[nodiscard]] double upper() const;
    /// Between two neighbouring positions; of one position, the width of the axis.
    [[nodiscard]] double narrowestGap() const;

private:
    [[nodiscard]] double padding() const;

    AxisScale m_kind;
    QList<KnobValue> m_values;
    QVector<double> m_positions;
    QStringList m_labels;
};

} // namespace knobscope
