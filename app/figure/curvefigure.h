// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/report/curves.h"

class QCustomPlot;

namespace knobscope {

/// Draws a curve set: series as lines with markers (colour, marker and dash all differ), error
/// bars where there is an interval, log2 or category x axis with ticks as people write them
/// (64K, 1M). GUI thread. The same drawing on screen and in exports.
void drawCurves(QCustomPlot& plot, const CurveSet& curves);

/// Size and type of an exported figure.
struct FigureStyle {
    double widthMm = 84.7;
    double heightMm = 60;
    double fontPt = 8;
    QString fontFamily; ///< empty: the default sans serif
};
/// "acm", "ieee", "usenix" (column width), "slides". BadInput names the known ones.
[[nodiscard]] Result<FigureStyle> figureStyle(const QString& name);

/// Writes .pdf (fonts embedded, real point sizes), .svg or .png (300 dpi), by the ending of
/// `path`. A legend of many series makes the figure taller than the style says. The file is written
/// beside and renamed. Needs a QApplication (offscreen will do), since a plot is a widget; GUI
/// thread. BadInput: unknown ending, nothing to draw, font not installed; Storage: the file cannot
/// be written.
[[nodiscard]] Result<void> exportFigure(const CurveSet& curves, const FigureStyle& style,
                                        const QString& path);

} // namespace knobscope
