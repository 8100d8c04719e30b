// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/figure/legendlayout.h"

#include <QCoreApplication>
#include <QFontMetrics>
#include <QGuiApplication>

#include <algorithm>
#include <cmath>

namespace knobscope {
namespace {

int lineCount(const QString& text) {
    return static_cast<int>(text.count(QLatin1Char('\n'))) + 1;
}

int legendRoom(const DrawingScale& scale) {
    return static_cast<int>(scale.widthPt * scale.unit - 2 * kLegendMargin * scale.stroke());
}

int iconRoom(const DrawingScale& scale) {
    return static_cast<int>(
        std::lround((kIconWidth + kIconPadding + kColumnSpacing) * scale.stroke()));
}

/// "message size, nodelay, ..." on as many lines as it takes: a figure would cut it off. Only a
/// single name wider than the figure is shortened.
QString brokenToFit(const QString& text, const QFontMetrics& metrics, int width) {
    QStringList lines;
    for (const QString& part : text.split(QStringLiteral(", "))) {
        const QString longer = lines.isEmpty() ? part : lines.last() + QStringLiteral(", ") + part;
        if (!lines.isEmpty() && metrics.horizontalAdvance(longer + QLatin1Char(',')) <= width)
            lines.last() = longer;
        else
            lines.append(metrics.elidedText(part, Qt::ElideMiddle, width));
    }
    return lines.join(QStringLiteral(",\n"));
}

} // namespace

QFont figureFont(const DrawingScale& scale) {
    QFont font = QGuiApplication::font();
    if (!scale.fontFamily.isEmpty())
        font.setFamily(scale.fontFamily);
    font.setPixelSize(qMax(1, static_cast<int>(std::lround(scale.fontPt * scale.unit))));
    return font;
}

QString legendTitle(const CurveSet& curves, const DrawingScale& scale) {
    return curves.seriesLabel.isEmpty()
               ? QString()
               : brokenToFit(curves.seriesLabel, QFontMetrics(figureFont(scale)),
                             legendRoom(scale));
}

QString legendName(const QString& name, const DrawingScale& scale) {
    return brokenToFit(name, QFontMetrics(figureFont(scale)), legendRoom(scale) - iconRoom(scale));
}

LegendGrid legendGrid(const QStringList& names, const DrawingScale& scale) {
    const QFontMetrics metrics(figureFont(scale));
    int widest = 0;
    for (const QString& name : names)
        widest = std::max(widest, metrics.size(0, name).width());
    const int each = widest + iconRoom(scale);
    const int fitting = legendRoom(scale) / std::max(1, each);
    return {std::clamp(fitting, 1, std::max(1, static_cast<int>(names.size()))), each};
}

QString flaggedName() {
    return QCoreApplication::translate("CurveFigure", "flagged");
}

double legendHeightPt(const CurveSet& curves, const DrawingScale& scale) {
    QStringList names;
    bool flagged = false;
    for (const CurveSeries& series : curves.series) {
        if (!series.name.isEmpty())
            names.append(legendName(series.name, scale));
        flagged = flagged || std::any_of(series.points.begin(), series.points.end(),
                                         [](const CurvePoint& p) { return p.flagged > 0; });
    }
    if (flagged)
        names.append(flaggedName());
    if (names.isEmpty())
        return 0;
    const int columns = legendGrid(names, scale).columns;
    const auto rows = (static_cast<int>(names.size()) + columns - 1) / columns;
    int lines = 1; // of the highest entry
    for (const QString& name : std::as_const(names))
        lines = std::max(lines, lineCount(name));
    const QString title = legendTitle(curves, scale);
    const double line = scale.fontPt * 1.2;
    const double icon = kIconHeight * scale.stroke() / scale.unit;
    return rows * (std::max(icon, lines * line) + 2) +
           (title.isEmpty() ? 0 : lineCount(title) * line + 2);
}

} // namespace knobscope
