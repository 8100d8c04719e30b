// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/figure/curvescale.h"

#include <algorithm>
#include <cmath>

namespace knobscope {
namespace {

/// A category label longer than this is broken at its blanks.
constexpr qsizetype kLongLabel = 9;

AxisScale fittingScale(const CurveSet& curves) {
    const auto positive = [](const KnobValue& v) { return v.number && *v.number > 0; };
    const auto numeric = [](const KnobValue& v) { return v.number.has_value(); };
    const auto& values = curves.xValues;
    switch (curves.scale) {
    case AxisScale::Log2:
        return std::all_of(values.begin(), values.end(), positive) ? AxisScale::Log2
                                                                   : AxisScale::Category;
    case AxisScale::Linear:
        return std::all_of(values.begin(), values.end(), numeric) ? AxisScale::Linear
                                                                  : AxisScale::Category;
    case AxisScale::Category:
        break;
    }
    return AxisScale::Category;
}

} // namespace

CurveScale::CurveScale(const CurveSet& curves)
    : m_kind(fittingScale(curves)), m_values(curves.xValues) {
    for (qsizetype i = 0; i < m_values.size(); ++i) {
        const KnobValue& value = m_values[i];
        QString label = value.text;
        if (m_kind == AxisScale::Category) {
            m_positions.append(static_cast<double>(i));
            if (label.size() > kLongLabel)
                label.replace(QLatin1Char(' '), QLatin1Char('\n'));
        } else {
            const auto number = static_cast<double>(*value.number);
            m_positions.append(m_kind == AxisScale::Log2 ? std::log2(number) : number);
        }
        m_labels.append(label);
    }
}

std::optional<double> CurveScale::position(const KnobValue& value) const {
    const qsizetype at = m_values.indexOf(value);
    if (at < 0)
        return std::nullopt;
    return m_positions[at];
}

double CurveScale::padding() const {
    if (m_positions.isEmpty())
        return 0.5;
    const auto [low, high] = std::minmax_element(m_positions.begin(), m_positions.end());
    const double span = *high - *low;
    if (m_kind == AxisScale::Category)
        return 0.4;
    return span > 0 ? span * 0.06 : 0.5;
}

double CurveScale::lower() const {
    if (m_positions.isEmpty())
        return 0;
    return *std::min_element(m_positions.begin(), m_positions.end()) - padding();
}

double CurveScale::narrowestGap() const {
    QVector<double> sorted = m_positions;
    std::sort(sorted.begin(), sorted.end());
    double gap = upper() - lower();
    for (qsizetype i = 1; i < sorted.size(); ++i)
        gap = std::min(gap, sorted[i] - sorted[i - 1]);
    return gap;
}

double CurveScale::upper() const {
    if (m_positions.isEmpty())
        return 1;
    return *std::max_element(m_positions.begin(), m_positions.end()) + padding();
}

} // namespace knobscope
