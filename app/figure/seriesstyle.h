// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

namespace knobscope {

/// How series number `index` looks: colour (Okabe–Ito, those that show as thin lines on white),
/// marker and dash all vary, since vermillion and green nearly coincide in grey print. No two of
/// the first 50 are the same.
struct SeriesStyle {
    QPen line;
    QCPScatterStyle marker;
};
/// `unit` is one point in the units of the drawing. On a dark ground the inks are light ones.
[[nodiscard]] SeriesStyle seriesStyle(int index, double unit, bool onDark = false);

} // namespace knobscope
