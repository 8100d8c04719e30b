// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/figure/curvedrawing.h"

#include <QFont>

namespace knobscope {

// Of the legend, in points.
inline constexpr double kIconWidth = 20;
inline constexpr double kIconHeight = 10;
inline constexpr double kIconPadding = 3;
inline constexpr double kColumnSpacing = 8;
inline constexpr double kLegendMargin = 4;

/// How legend entries fill the width, in units of the drawing.
struct LegendGrid {
    int columns = 1;
    int columnWidth = 0;
};

[[nodiscard]] QFont figureFont(const DrawingScale& scale);
/// The knobs that make the series, on as many lines as it takes.
[[nodiscard]] QString legendTitle(const CurveSet& curves, const DrawingScale& scale);
[[nodiscard]] QString legendName(const QString& name, const DrawingScale& scale);
[[nodiscard]] LegendGrid legendGrid(const QStringList& names, const DrawingScale& scale);
/// What the ring around a point is called.
[[nodiscard]] QString flaggedName();

} // namespace knobscope
