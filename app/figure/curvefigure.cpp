// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/figure/curvefigure.h"

#include "app/figure/curvedrawing.h"

#include <qcustomplot.h>

namespace knobscope {

void drawCurves(QCustomPlot& plot, const CurveSet& curves) {
    const double unit = plot.logicalDpiX() / 72.0;
    DrawingScale scale;
    scale.unit = unit;
    scale.fontPt =
        plot.font().pixelSize() > 0 ? plot.font().pixelSize() / unit : plot.font().pointSizeF();
    scale.widthPt = plot.width() / unit;
    scale.heightPt = plot.height() / unit;
    scale.paper = plot.palette().color(QPalette::Base);
    scale.ink = plot.palette().color(QPalette::Text);
    plot.setPlottingHints(QCP::phFastPolylines | QCP::phCacheLabels);
    drawCurves(plot, curves, scale);
    plot.replot(QCustomPlot::rpQueuedReplot);
}

Result<FigureStyle> figureStyle(const QString& name) {
    // Column widths as the classes' \columnwidth measures.
    if (name == QLatin1String("acm"))
        return FigureStyle{84.75, 56, 8, {}};
    if (name == QLatin1String("ieee"))
        return FigureStyle{88.57, 58, 9, {}};
    if (name == QLatin1String("usenix"))
        return FigureStyle{84.71, 56, 8, {}};
    if (name == QLatin1String("slides"))
        return FigureStyle{254, 143, 18, {}};
    return fail(Error::Code::BadInput, QStringLiteral("Unknown figure style \"%1\"").arg(name),
                QStringLiteral("known are acm, ieee, usenix and slides"));
}

} // namespace knobscope
