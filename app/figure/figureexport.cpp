// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/figure/curvedrawing.h"
#include "app/figure/curvefigure.h"

#include <qcustomplot.h>

#include <QBuffer>
#include <QFileInfo>
#include <QFontDatabase>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>

#include <algorithm>
#include <cmath>

namespace knobscope {
namespace {

constexpr double kMmPerInch = 25.4;
constexpr int kVectorDpi = 720; ///< a tenth of a point, so that sizes in points come out exactly
constexpr int kImageDpi = 300;

struct Canvas {
    int dpi = kVectorDpi;
    QSize size; ///< at that resolution
};

DrawingScale scaleFor(const FigureStyle& style, int dpi) {
    DrawingScale scale;
    scale.unit = dpi / 72.0;
    scale.fontPt = style.fontPt;
    scale.fontFamily = style.fontFamily;
    scale.widthPt = style.widthMm / kMmPerInch * 72;
    scale.heightPt = style.heightMm / kMmPerInch * 72;
    return scale;
}

/// The style's height is for axes and a legend of up to a fifth of it; a longer legend makes the
/// page taller instead of the axes flatter.
FigureStyle withRoomForLegend(const CurveSet& curves, FigureStyle style) {
    const double legend = legendHeightPt(curves, scaleFor(style, kVectorDpi)) / 72 * kMmPerInch;
    style.heightMm += std::max(0.0, legend - style.heightMm / 5);
    return style;
}

Canvas canvasFor(const FigureStyle& style, int dpi) {
    const auto units = [dpi](double mm) {
        return static_cast<int>(std::lround(mm / kMmPerInch * dpi));
    };
    return {dpi, {units(style.widthMm), units(style.heightMm)}};
}

bool paint(const CurveSet& curves, const FigureStyle& style, const Canvas& canvas,
           QPaintDevice& device) {
    QCustomPlot plot; // never shown
    plot.setAntialiasedElements(QCP::aeAll);
    drawCurves(plot, curves, scaleFor(style, canvas.dpi));

    QCPPainter painter;
    if (!painter.begin(&device))
        return false;
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setRenderHint(QPainter::LosslessImageRendering);
    painter.setMode(QCPPainter::pmVectorized, canvas.dpi == kVectorDpi);
    plot.toPainter(&painter, canvas.size.width(), canvas.size.height());
    return painter.end();
}

bool writePdf(const CurveSet& curves, const FigureStyle& style, QIODevice& out) {
    QPdfWriter writer(&out);
    writer.setCreator(QStringLiteral("Knobscope"));
    writer.setTitle(curves.title);
    writer.setResolution(kVectorDpi);
    writer.setPageMargins(QMarginsF(0, 0, 0, 0));
    writer.setPageSize(QPageSize(QSizeF(style.widthMm, style.heightMm), QPageSize::Millimeter, {},
                                 QPageSize::ExactMatch));
    return paint(curves, style, canvasFor(style, kVectorDpi), writer);
}

bool writeSvg(const CurveSet& curves, const FigureStyle& style, QIODevice& out) {
    const Canvas canvas = canvasFor(style, kVectorDpi);
    QSvgGenerator generator;
    generator.setOutputDevice(&out);
    generator.setTitle(curves.title);
    generator.setResolution(kVectorDpi);
    generator.setSize(canvas.size);
    generator.setViewBox(QRect(QPoint(0, 0), canvas.size));
    return paint(curves, style, canvas, generator);
}

bool writePng(const CurveSet& curves, const FigureStyle& style, QIODevice& out) {
    const Canvas canvas = canvasFor(style, kImageDpi);
    QImage image(canvas.size, QImage::Format_RGB32);
    if (image.isNull())
        return false;
    image.fill(Qt::white);
    const int perMetre = static_cast<int>(std::lround(kImageDpi / kMmPerInch * 1000));
    image.setDotsPerMeterX(perMetre);
    image.setDotsPerMeterY(perMetre);
    return paint(curves, style, canvas, image) && image.save(&out, "PNG");
}

Result<void> checkRequest(const CurveSet& curves, const FigureStyle& style) {
    if (qobject_cast<QApplication*>(QCoreApplication::instance()) == nullptr)
        return fail(Error::Code::BadInput, QStringLiteral("Figures need a QApplication"));
    if (!hasPoints(curves))
        return fail(Error::Code::BadInput, QStringLiteral("There is nothing to draw"),
                    QStringLiteral("no cell of the run has a measured value for this figure"));
    const bool sane = style.widthMm >= 20 && style.widthMm <= 1000 && style.heightMm >= 20 &&
                      style.heightMm <= 1000 && style.fontPt >= 4 && style.fontPt <= 72;
    if (!sane)
        return fail(Error::Code::BadInput, QStringLiteral("The figure's size is out of range"),
                    QStringLiteral("width and height may be 20 to 1000 mm, text 4 to 72 points"));
    // A font that is absent would silently become another.
    if (!style.fontFamily.isEmpty() &&
        !QFontDatabase::families().contains(style.fontFamily, Qt::CaseInsensitive))
        return fail(Error::Code::BadInput,
                    QStringLiteral("The font \"%1\" is not installed").arg(style.fontFamily));
    return {};
}

} // namespace

Result<void> exportFigure(const CurveSet& curves, const FigureStyle& style, const QString& path) {
    using Writer = bool (*)(const CurveSet&, const FigureStyle&, QIODevice&);
    const QString ending = QFileInfo(path).suffix().toLower();
    Writer write = nullptr;
    if (ending == QLatin1String("pdf"))
        write = writePdf;
    else if (ending == QLatin1String("svg"))
        write = writeSvg;
    else if (ending == QLatin1String("png"))
        write = writePng;
    else
        return fail(Error::Code::BadInput,
                    QStringLiteral("Cannot tell the kind of figure from the name \"%1\"").arg(path),
                    QStringLiteral("end it in .pdf, .svg or .png"));
    if (auto ok = checkRequest(curves, style); !ok)
        return ok;

    // The writers do not tell of a full disk; a buffer has room, and the file tells.
    QBuffer figure;
    figure.open(QIODevice::WriteOnly);
    if (!write(curves, withRoomForLegend(curves, style), figure))
        return fail(Error::Code::Storage, QStringLiteral("Could not draw %1").arg(path));
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly))
        return fail(Error::Code::Storage, QStringLiteral("Cannot write %1").arg(path),
                    file.errorString());
    if (file.write(figure.data()) != figure.size() || !file.flush() || !file.commit())
        return fail(Error::Code::Storage, QStringLiteral("Could not write %1").arg(path),
                    file.errorString());
    return {};
}

} // namespace knobscope
