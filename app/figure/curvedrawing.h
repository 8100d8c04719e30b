// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/report/curves.h"

#include <QColor>

class QCustomPlot;

namespace knobscope {

/// Units of a drawing: all lengths of a figure are multiples of `unit`.
struct DrawingScale {
    double unit = 1;          ///< one point (1/72 inch) in units of the drawing
    double fontPt = 9;        ///< text, in points
    QString fontFamily;       ///< empty: the default sans serif
    double widthPt = 240;     ///< decides how many legend entries share a row
    double heightPt = 0;      ///< 0: enough for any label of the y axis
    QColor paper = Qt::white; ///< a figure is paper; a window has its own colours
    QColor ink = Qt::black;   ///< axes and text

    /// Of lines, markers and gaps: they grow with large type, so that slides are read from afar.
    [[nodiscard]] double stroke() const { return unit * (fontPt > 9 ? fontPt / 9 : 1); }
};

/// Empties the plot and draws the curves into it. GUI thread.
void drawCurves(QCustomPlot& plot, const CurveSet& curves, const DrawingScale& scale);

/// Height of the legend, so that a page can make room for a long one.
[[nodiscard]] double legendHeightPt(const CurveSet& curves, const DrawingScale& scale);

/// Whether there is a point to draw at all.
[[nodiscard]] bool hasPoints(const CurveSet& curves);

} // namespace knobscope
