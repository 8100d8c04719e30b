// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/figure/seriesstyle.h"

#include <array>

namespace knobscope {
namespace {

constexpr int kVariants = 5;
constexpr std::array<QRgb, kVariants> kColours = {0xff0072b2, 0xffd55e00, 0xff009e73, 0xffcc79a7,
                                                  0xff000000};
constexpr std::array<QRgb, kVariants> kLightColours = {0xff56b4e9, 0xffff8b3d, 0xff2ec79b,
                                                       0xffe39ac4, 0xfff0e442};
constexpr std::array<QCPScatterStyle::ScatterShape, kVariants> kShapes = {
    QCPScatterStyle::ssCircle, QCPScatterStyle::ssSquare, QCPScatterStyle::ssTriangle,
    QCPScatterStyle::ssDiamond, QCPScatterStyle::ssTriangleInverted};

QVector<qreal> dashes(int variant) {
    switch (variant) {
    case 1:
        return {6, 2};
    case 2:
        return {2, 2};
    case 3:
        return {6, 2, 1, 2};
    case 4:
        return {10, 3};
    default:
        return {};
    }
}

} // namespace

SeriesStyle seriesStyle(int index, double unit, bool onDark) {
    const int turn = index / kVariants; // colours repeat; marker and dash move on at other paces
    const int colour = index % kVariants;
    const int shape = (index + turn) % kVariants;
    const int dash = (index + 2 * turn) % kVariants;
    const bool hollow = (turn / kVariants) % 2 == 1;

    const auto& colours = onDark ? kLightColours : kColours;
    const QColor ink = QColor::fromRgb(colours[static_cast<std::size_t>(colour)]);
    SeriesStyle style;
    style.line = QPen(ink, 1.0 * unit);
    style.line.setCapStyle(Qt::FlatCap);
    style.line.setJoinStyle(Qt::RoundJoin);
    if (const QVector<qreal> pattern = dashes(dash); !pattern.isEmpty())
        style.line.setDashPattern(pattern);
    style.marker =
        QCPScatterStyle(kShapes[static_cast<std::size_t>(shape)], QPen(ink, 0.8 * unit),
                        hollow ? QBrush(onDark ? Qt::black : Qt::white) : QBrush(ink), 4.5 * unit);
    return style;
}

} // namespace knobscope
