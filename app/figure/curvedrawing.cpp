// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/figure/curvedrawing.h"

#include "app/figure/curvescale.h"
#include "app/figure/knobticker.h"
#include "app/figure/seriesstyle.h"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

namespace knobscope {
namespace {

const QColor kAxisInk(0x26, 0x26, 0x26);
const QColor kGridInk(0xdd, 0xdd, 0xdd);

bool isDrawable(const CurvePoint& point) {
    return point.summary.mean && std::isfinite(*point.summary.mean);
}

double halfWidth(const CurvePoint& point) {
    const double width = point.summary.halfWidth.value_or(0);
    return std::isfinite(width) ? width : 0;
}

QFont figureFont(const DrawingScale& scale) {
    QFont font = QGuiApplication::font();
    if (!scale.fontFamily.isEmpty())
        font.setFamily(scale.fontFamily);
    font.setPixelSize(qMax(1, static_cast<int>(std::lround(scale.fontPt * scale.unit))));
    return font;
}

/// So many values of a knob each have their tick, also on a linear axis; more make a scale.
constexpr qsizetype kFewValues = 8;

constexpr double kIconWidth = 20; ///< of the legend, in points
constexpr double kIconHeight = 10;
constexpr double kIconPadding = 3;
constexpr double kColumnSpacing = 8;
constexpr double kLegendMargin = 4;

/// How legend entries fill the width, in units of the drawing.
struct LegendGrid {
    int columns = 1;
    int columnWidth = 0;
};

int lineCount(const QString& text) {
    return static_cast<int>(text.count(QLatin1Char('\n'))) + 1;
}

int legendRoom(const DrawingScale& scale) {
    return static_cast<int>(scale.widthPt * scale.unit - 2 * kLegendMargin * scale.ink());
}

int iconRoom(const DrawingScale& scale) {
    return static_cast<int>(
        std::lround((kIconWidth + kIconPadding + kColumnSpacing) * scale.ink()));
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
    [[nodiscard]] int px(double points) const {
        return static_cast<int>(std::lround(points * m_scale.ink()));
    }

    void clear() {
        m_plot.clearPlottables();
        m_plot.clearItems();
        m_plot.plotLayout()->clear();
        m_plot.setAutoAddPlottableToLegend(false);
        m_plot.setBackground(QBrush(Qt::white)); // a figure is paper, whatever the desktop's theme
        m_plot.plotLayout()->setRowSpacing(px(2));
    }

    void setUpAxes() {
        m_rect = new QCPAxisRect(&m_plot, true);
        m_rect->setMinimumMargins(QMargins(px(4), px(4), px(8), px(4)));
        m_plot.plotLayout()->addElement(0, 0, m_rect);
        for (QCPAxis* axis : m_rect->axes()) {
            axis->setLayer(QStringLiteral("axes"));
            axis->grid()->setLayer(QStringLiteral("grid"));
            setUpAxis(axis);
        }
        m_key = m_rect->axis(QCPAxis::atBottom);
        m_value = m_rect->axis(QCPAxis::atLeft);
        m_key->setLabel(m_curves.xLabel);
        m_value->setLabel(m_curves.yLabel);
        m_key->grid()->setVisible(false);
        if (m_x.kind() == AxisScale::Linear && m_x.positions().size() > kFewValues)
            m_key->setTicker(QSharedPointer<WholeTicker>::create());
        else
            m_key->setTicker(
                QSharedPointer<KnobTicker>::create(m_key, m_x.positions(), m_x.labels()));
        m_value->setTicker(QSharedPointer<PlainTicker>::create());
        m_key->ticker()->setTickCount(keyTicks());
        m_value->ticker()->setTickCount(5);
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
        const QPen pen(kAxisInk, 0.6 * m_scale.ink(), Qt::SolidLine, Qt::FlatCap);
        axis->setBasePen(pen);
        axis->setTickPen(pen);
        axis->setSubTickPen(pen);
        axis->setTickLength(0, px(3));
        axis->setSubTickLength(0, px(1.5));
        axis->setTickLabelFont(m_font);
        axis->setLabelFont(m_font);
        axis->setTickLabelColor(Qt::black);
        axis->setLabelColor(Qt::black);
        axis->setTickLabelPadding(px(3));
        axis->setLabelPadding(px(3));
        axis->grid()->setPen(QPen(kGridInk, 0.4 * m_scale.ink()));
        axis->grid()->setZeroLinePen(QPen(kGridInk, 0.4 * m_scale.ink()));
    }

    /// Points of a series that can be drawn, from left to right: QCPErrorBars goes by index.
    [[nodiscard]] QList<std::pair<double, CurvePoint>> placed(const CurveSeries& series) const {
        QList<std::pair<double, CurvePoint>> points;
        for (const CurvePoint& point : series.points) {
            const std::optional<double> x = m_x.position(point.x);
            if (x && isDrawable(point))
                points.append({*x, point});
        }
        std::stable_sort(points.begin(), points.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        return points;
    }

    void addSeries(int index) {
        const CurveSeries& series = m_curves.series[index];
        const SeriesStyle style = seriesStyle(index, m_scale.ink());
        auto* graph = new QCPGraph(m_key, m_value);
        graph->setName(legendName(series.name, m_scale));
        graph->setPen(style.line);
        graph->setScatterStyle(style.marker);
        graph->setSelectable(QCP::stNone);

        auto* errors = new QCPErrorBars(m_key, m_value);
        errors->setDataPlottable(graph);
        errors->setPen(QPen(style.line.color(), 0.8 * m_scale.ink(), Qt::SolidLine, Qt::FlatCap));
        errors->setWhiskerWidth(px(4));
        errors->setSymbolGap(0); // else short stems vanish
        errors->setSelectable(QCP::stNone);

        bool anyError = false;
        for (const auto& [x, point] : placed(series)) {
            const double mean = *point.summary.mean;
            const double half = halfWidth(point);
            graph->addData(x, mean);
            errors->addData(half);
            anyError = anyError || half > 0;
            m_lowMean = std::min(m_lowMean, mean);
            m_highMean = std::max(m_highMean, mean);
            m_low = std::min(m_low, mean - half);
            m_high = std::max(m_high, mean + half);
            if (point.flagged > 0)
                m_flags.append({x, mean});
        }
        errors->setVisible(anyError);
        if (!series.name.isEmpty())
            m_entries.append(graph);
    }

    /// A ring around the points whose samples carry a flag.
    void addFlags() {
        if (m_flags.isEmpty())
            return;
        auto* rings = new QCPGraph(m_key, m_value);
        rings->setName(flaggedName());
        rings->setLineStyle(QCPGraph::lsNone);
        rings->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssCircle,
                                               QPen(Qt::darkRed, 0.8 * m_scale.ink()), Qt::NoBrush,
                                               9 * m_scale.ink()));
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
        const double room = (high - low) * 0.06;
        m_value->setRange(low < 0 ? low - room : low, high + room);
    }

    void addNote(const QString& text) {
        auto* note = new QCPItemText(&m_plot);
        note->setClipToAxisRect(false);
        note->position->setType(QCPItemPosition::ptAxisRectRatio);
        note->position->setAxisRect(m_rect);
        note->position->setCoords(0.5, 0.5);
        note->setFont(m_font);
        note->setColor(Qt::darkGray);
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
        legend->setTextColor(Qt::black);
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
        title->setTextColor(Qt::black);
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
    double m_lowMean = std::numeric_limits<double>::infinity();
    double m_highMean = -std::numeric_limits<double>::infinity();
    double m_low = std::numeric_limits<double>::infinity();
    double m_high = -std::numeric_limits<double>::infinity();
};

} // namespace

void drawCurves(QCustomPlot& plot, const CurveSet& curves, const DrawingScale& scale) {
    CurveDrawing(plot, curves, scale).draw();
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
    const double icon = kIconHeight * scale.ink() / scale.unit;
    return rows * (std::max(icon, lines * line) + 2) +
           (title.isEmpty() ? 0 : lineCount(title) * line + 2);
}

bool hasPoints(const CurveSet& curves) {
    return std::any_of(curves.series.begin(), curves.series.end(), [](const CurveSeries& series) {
        return std::any_of(series.points.begin(), series.points.end(), isDrawable);
    });
}

} // namespace knobscope
