// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/figure/curvedrawing.h"

#include "app/figure/curvescale.h"
#include "app/figure/knobticker.h"
#include "app/figure/legendlayout.h"
#include "app/figure/seriesstyle.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace knobscope {
namespace {

/// Between paper (0) and ink (1).
QColor shade(const DrawingScale& scale, double part) {
    const auto mix = [part](int paper, int ink) {
        return static_cast<int>(std::lround(paper + (ink - paper) * part));
    };
    return {mix(scale.paper.red(), scale.ink.red()), mix(scale.paper.green(), scale.ink.green()),
            mix(scale.paper.blue(), scale.ink.blue())};
}

bool isDrawable(const CurvePoint& point) {
    return point.summary.mean && std::isfinite(*point.summary.mean);
}

double halfWidth(const CurvePoint& point) {
    const double width = point.summary.halfWidth.value_or(0);
    return std::isfinite(width) ? width : 0;
}

/// So many values of a knob each have their tick, also on a linear axis; more make a scale.
constexpr qsizetype kFewValues = 8;

/// Builds one figure; lengths in points become units of the drawing here and nowhere else.
class CurveDrawing {
public:
    CurveDrawing(QCustomPlot& plot, const CurveSet& curves, const DrawingScale& scale)
        : m_plot(plot), m_curves(curves), m_scale(scale), m_x(curves), m_font(figureFont(scale)) {}

    void draw() {
        clear();
        setUpAxes();
        for (int i = 0; i < m_curves.series.size(); ++i)
            addSeries(i);
        addFlags();
        setUpRange();
        setUpLegend();
    }

private:
    struct Bar {
        double x = 0;
        double low = 0;
        double high = 0;
        QColor colour;
    };

    [[nodiscard]] int px(double points) const {
        return static_cast<int>(std::lround(points * m_scale.stroke()));
    }

    void clear() {
        m_plot.clearPlottables();
        m_plot.clearItems();
        m_plot.plotLayout()->clear();
        m_plot.setAutoAddPlottableToLegend(false);
        m_plot.setBackground(QBrush(m_scale.paper));
        m_plot.plotLayout()->setRowSpacing(px(2));
    }

    void setUpAxes() {
        m_rect = new QCPAxisRect(&m_plot, true);
        // The topmost number stands half above the axes.
        m_rect->setMinimumMargins(QMargins(px(4), px(2) + m_font.pixelSize() / 2, px(8), px(4)));
        m_plot.plotLayout()->addElement(0, 0, m_rect);
        for (QCPAxis* axis : m_rect->axes()) {
            axis->setLayer(QStringLiteral("axes"));
            axis->grid()->setLayer(QStringLiteral("grid"));
            setUpAxis(axis);
        }
        m_key = m_rect->axis(QCPAxis::atBottom);
        m_value = m_rect->axis(QCPAxis::atLeft);
        m_key->setLabel(m_curves.xLabel);
        m_value->setLabel(valueLabel());
        m_key->grid()->setVisible(false);
        if (m_x.kind() == AxisScale::Linear && m_x.positions().size() > kFewValues)
            m_key->setTicker(QSharedPointer<WholeTicker>::create());
        else
            m_key->setTicker(
                QSharedPointer<KnobTicker>::create(m_key, m_x.positions(), m_x.labels()));
        m_ticks = QSharedPointer<PlainTicker>::create();
        m_ticks->setTickCount(5);
        m_value->setTicker(m_ticks);
        m_key->ticker()->setTickCount(keyTicks());
    }

    /// A label that is longer than the axis is high goes on in a second line.
    [[nodiscard]] QString valueLabel() const {
        constexpr double kAxisPart = 0.6; // of the height; the rest is legend and numbers
        const double room = kAxisPart * m_scale.heightPt * m_scale.unit;
        QString label = m_curves.yLabel;
        if (room <= 0 || QFontMetrics(m_font).horizontalAdvance(label) <= room)
            return label;
        const qsizetype of = label.indexOf(QStringLiteral(" of the "));
        const qsizetype at = of >= 0 ? of : label.lastIndexOf(QStringLiteral(" ("));
        if (at > 0)
            label[at] = QLatin1Char('\n');
        return label;
    }

    /// Long numbers need their room. The ticker may draw some more ticks than it is told.
    [[nodiscard]] int keyTicks() const {
        int widest = 1;
        for (const QString& label : m_x.labels())
            widest = std::max(widest, QFontMetrics(m_font).horizontalAdvance(label));
        const double room = 0.85 * m_scale.widthPt * m_scale.unit;
        return std::clamp(static_cast<int>(room / (1.6 * widest)), 3, 7);
    }

    void setUpAxis(QCPAxis* axis) const {
        const QPen pen(shade(m_scale, 0.85), 0.6 * m_scale.stroke(), Qt::SolidLine, Qt::FlatCap);
        axis->setBasePen(pen);
        axis->setTickPen(pen);
        axis->setSubTickPen(pen);
        axis->setTickLength(0, px(3));
        axis->setSubTickLength(0, px(1.5));
        axis->setTickLabelFont(m_font);
        axis->setLabelFont(m_font);
        axis->setTickLabelColor(m_scale.ink);
        axis->setLabelColor(m_scale.ink);
        axis->setTickLabelPadding(px(3));
        axis->setLabelPadding(px(3));
        const QPen faint(shade(m_scale, 0.13), 0.4 * m_scale.stroke());
        axis->grid()->setPen(faint);
        axis->grid()->setZeroLinePen(faint);
    }

    /// Points of a series from left to right. One that cannot be drawn leaves a gap: no line may
    /// lead over a cell that was not measured.
    [[nodiscard]] QList<std::pair<double, const CurvePoint*>>
    placed(const CurveSeries& series) const {
        QMap<double, const CurvePoint*> byPosition;
        for (const double position : m_x.positions())
            byPosition.insert(position, nullptr);
        for (const CurvePoint& point : series.points) {
            const std::optional<double> x = m_x.position(point.x);
            if (x && isDrawable(point))
                byPosition[*x] = &point;
        }
        QList<std::pair<double, const CurvePoint*>> points;
        for (auto it = byPosition.cbegin(); it != byPosition.cend(); ++it)
            points.append({it.key(), it.value()});
        while (!points.isEmpty() && points.first().second == nullptr)
            points.removeFirst();
        while (!points.isEmpty() && points.last().second == nullptr)
            points.removeLast();
        return points;
    }

    /// Series with intervals stand a little beside each other, so that no bar hides another. The x
    /// axis is linear in its positions, also where they are logarithms.
    [[nodiscard]] double dodge(qsizetype index) const {
        const auto withBars = std::count_if(
            m_curves.series.begin(), m_curves.series.end(), [](const CurveSeries& series) {
                return std::any_of(series.points.begin(), series.points.end(),
                                   [](const CurvePoint& p) { return halfWidth(p) > 0; });
            });
        const auto count = static_cast<double>(m_curves.series.size());
        if (withBars < 2)
            return 0;
        constexpr double kStepPt = 5;         // a whisker and a little air
        constexpr double kMostOfTheGap = 0.4; // neighbours must not be mistaken for each other
        const double range = m_x.upper() - m_x.lower();
        const double step =
            std::min(kStepPt * m_scale.stroke() / m_scale.unit / (0.85 * m_scale.widthPt) * range,
                     kMostOfTheGap * m_x.narrowestGap() / (count - 1));
        return (static_cast<double>(index) - (count - 1) / 2) * step;
    }

    void addSeries(int index) {
        const CurveSeries& series = m_curves.series[index];
        const SeriesStyle style =
            seriesStyle(series.place, m_scale.stroke(), m_scale.paper.lightness() < 128);
        auto* graph = new QCPGraph(m_key, m_value);
        graph->setName(legendName(series.name, m_scale));
        graph->setPen(style.line);
        graph->setScatterStyle(style.marker);
        graph->setSelectable(QCP::stNone);

        auto* errors = new QCPErrorBars(m_key, m_value);
        errors->setDataPlottable(graph);
        errors->setPen(
            QPen(style.line.color(), 0.8 * m_scale.stroke(), Qt::SolidLine, Qt::FlatCap));
        errors->setWhiskerWidth(px(4));
        errors->setSymbolGap(0); // else short stems vanish
        errors->setSelectable(QCP::stNone);

        bool anyError = false;
        const double aside = dodge(index);
        for (const auto& [position, point] : placed(series)) {
            const double x = position + aside;
            if (point == nullptr) {
                graph->addData(x, std::numeric_limits<double>::quiet_NaN());
                errors->addData(0); // bars go with the points by their number
                continue;
            }
            const double mean = *point->summary.mean;
            const double half = halfWidth(*point);
            // What cannot be negative is not shown to be: its bar ends at zero.
            const double below = mean >= 0 ? std::min(half, mean) : half;
            graph->addData(x, mean);
            errors->addData(below, half);
            anyError = anyError || half > 0;
            m_bars.append({x, mean - below, mean + half, style.line.color()});
            m_lowMean = std::min(m_lowMean, mean);
            m_highMean = std::max(m_highMean, mean);
            m_low = std::min(m_low, mean - below);
            m_high = std::max(m_high, mean + half);
            if (point->flagged > 0)
                m_flags.append({x, mean});
        }
        errors->setVisible(anyError);
        if (!series.name.isEmpty())
            m_entries.append(graph);
    }

    [[nodiscard]] QColor ringColour() const {
        return m_scale.paper.lightness() < 128 ? QColor(0xff, 0x8a, 0x80) : QColor(Qt::darkRed);
    }

    /// A ring around the points whose samples carry a flag.
    void addFlags() {
        if (m_flags.isEmpty())
            return;
        auto* rings = new QCPGraph(m_key, m_value);
        rings->setName(flaggedName());
        rings->setLineStyle(QCPGraph::lsNone);
        rings->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle,
                                               QPen(ringColour(), 0.8 * m_scale.stroke()),
                                               Qt::NoBrush, 9 * m_scale.stroke()));
        rings->setSelectable(QCP::stNone);
        for (const QPointF& flag : std::as_const(m_flags))
            rings->addData(flag.x(), flag.y());
        m_entries.append(rings);
    }

    void setUpRange() {
        m_key->setRange(m_x.lower(), m_x.upper());
        if (m_low > m_high) { // nothing to draw
            m_value->setRange(0, 1);
            addNote(QCoreApplication::translate("CurveFigure", "No measured samples yet"));
            return;
        }
        // From zero, so that heights compare; below it only where the means are. The interval of
        // two repeats may be many times the mean: it leaves the plot rather than flatten all.
        constexpr double kMostRoom = 3;
        const double low = m_lowMean < 0 ? std::max(m_low, kMostRoom * m_lowMean) : 0;
        double high = m_highMean > 0 ? std::min(m_high, kMostRoom * m_highMean) : 0;
        if (high - low <= 0)
            high = low + 1;
        const double room = (high - low) * 0.04;
        m_value->setRange(m_ticks->wholeSteps(QCPRange(low < 0 ? low - room : low, high + room)));
        for (const Bar& bar : std::as_const(m_bars))
            markCut(bar);
    }

    /// An arrow says that a bar goes on beyond the axes.
    void markCut(const Bar& bar) {
        const QCPRange range = m_value->range();
        for (const bool up : {true, false}) {
            if (up ? bar.high <= range.upper : bar.low >= range.lower)
                continue;
            auto* arrow = new QCPItemLine(&m_plot);
            arrow->setSelectable(false);
            arrow->setPen(QPen(bar.colour, 0.8 * m_scale.stroke()));
            arrow->setHead(QCPLineEnding(QCPLineEnding::esSpikeArrow, px(5), px(5)));
            const double edge = up ? range.upper : range.lower;
            for (QCPItemPosition* end : {arrow->start, arrow->end}) {
                end->setAxes(m_key, m_value);
                end->setAxisRect(m_rect);
            }
            arrow->start->setCoords(bar.x, edge + (up ? -0.03 : 0.03) * range.size());
            arrow->end->setCoords(bar.x, edge);
        }
    }

    void addNote(const QString& text) {
        auto* note = new QCPItemText(&m_plot);
        note->setClipToAxisRect(false);
        note->position->setType(QCPItemPosition::ptAxisRectRatio);
        note->position->setAxisRect(m_rect);
        note->position->setCoords(0.5, 0.5);
        note->setFont(m_font);
        note->setColor(shade(m_scale, 0.6));
        note->setText(text);
        note->setSelectable(false);
    }

    /// Above the axes, in as many columns as the width holds.
    void setUpLegend() {
        if (m_entries.isEmpty())
            return;
        auto* legend = new QCPLegend;
        m_plot.plotLayout()->insertRow(0);
        m_plot.plotLayout()->addElement(0, 0, legend);
        m_plot.plotLayout()->setRowStretchFactor(0, 0.001);
        legend->setLayer(QStringLiteral("legend"));
        legend->setFont(m_font);
        legend->setTextColor(m_scale.ink);
        legend->setBorderPen(Qt::NoPen);
        legend->setBrush(Qt::NoBrush);
        legend->setIconSize(px(kIconWidth), px(kIconHeight));
        legend->setIconTextPadding(px(kIconPadding));
        legend->setColumnSpacing(px(kColumnSpacing));
        legend->setRowSpacing(0);
        QStringList names;
        for (const QCPAbstractPlottable* entry : std::as_const(m_entries))
            names.append(entry->name());
        const LegendGrid grid = legendGrid(names, m_scale);
        // Centred: the layout would else spread the columns over the whole width.
        const int spare =
            static_cast<int>(m_scale.widthPt * m_scale.unit) - grid.columns * grid.columnWidth;
        const int side = std::max(px(kLegendMargin), spare / 2);
        legend->setMargins(QMargins(side, px(1), side, 0));
        legend->setFillOrder(QCPLayoutGrid::foColumnsFirst);
        legend->setWrap(grid.columns);
        for (QCPAbstractPlottable* entry : std::as_const(m_entries)) {
            auto* item = new QCPPlottableLegendItem(legend, entry);
            item->setMargins(QMargins(0, px(1), 0, px(1))); // else descenders are clipped
            legend->addItem(item);
        }
        addLegendTitle();
    }

    void addLegendTitle() {
        if (m_curves.seriesLabel.isEmpty())
            return;
        m_plot.plotLayout()->insertRow(0);
        auto* title = new QCPTextElement(&m_plot, legendTitle(m_curves, m_scale), m_font);
        title->setTextColor(m_scale.ink);
        title->setMargins(QMargins(px(4), px(2), px(4), 0));
        m_plot.plotLayout()->addElement(0, 0, title);
        m_plot.plotLayout()->setRowStretchFactor(0, 0.001);
    }

    QCustomPlot& m_plot;
    const CurveSet& m_curves;
    DrawingScale m_scale;
    CurveScale m_x;
    QFont m_font;
    QCPAxisRect* m_rect = nullptr;
    QCPAxis* m_key = nullptr;
    QCPAxis* m_value = nullptr;
    QList<QCPAbstractPlottable*> m_entries;
    QList<QPointF> m_flags;
    QList<Bar> m_bars;
    QSharedPointer<PlainTicker> m_ticks;
    double m_lowMean = std::numeric_limits<double>::infinity();
    double m_highMean = -std::numeric_limits<double>::infinity();
    double m_low = std::numeric_limits<double>::infinity();
    double m_high = -std::numeric_limits<double>::infinity();
};

} // namespace

void drawCurves(QCustomPlot& plot, const CurveSet& curves, const DrawingScale& scale) {
    CurveDrawing(plot, curves, scale).draw();
}

bool hasPoints(const CurveSet& curves) {
    return std::any_of(curves.series.begin(), curves.series.end(), [](const CurveSeries& series) {
        return std::any_of(series.points.begin(), series.points.end(), isDrawable);
    });
}

} // namespace knobscope
