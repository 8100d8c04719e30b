// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/pages/curveview.h"

#include "app/figure/curvefigure.h"
#include "app/gui/format.h"
#include "app/gui/looks.h"
#include "core/model/metrics.h"

#include <qcustomplot.h>

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolTip>

#include <cmath>
#include <set>
#include <tuple>

namespace knobscope {
namespace {

/// The sample first, then the sides as a whole, then single hosts.
struct ByWidth {
    bool operator()(HostRef a, HostRef b) const {
        const auto key = [](HostRef host) {
            return std::tuple(host.number > 0, host.side != Side::Whole, host.side, host.number);
        };
        return key(a) < key(b);
    }
};
/// Whose figures there are of each metric.
using MetricHosts = QMap<QString, std::set<HostRef, ByWidth>>;

MetricHosts measuredMetrics(const StoredRun& run) {
    MetricHosts metrics;
    for (const SampleRecord& sample : run.samples) {
        for (const Metric& metric : sample.metrics)
            metrics[metric.name].insert(metric.host);
    }
    return metrics;
}

/// Known metrics in their own order, the rest by name.
QStringList inReadingOrder(const MetricHosts& metrics) {
    QStringList names;
    for (const MetricInfo& info : knownMetrics()) {
        if (metrics.contains(info.name) && !names.contains(info.name))
            names.append(info.name);
    }
    for (auto it = metrics.cbegin(); it != metrics.cend(); ++it) {
        if (!names.contains(it.key()))
            names.append(it.key());
    }
    return names;
}

QString hostTitle(HostRef host) {
    return host.side == Side::Whole ? CurveView::tr("whole sample") : hostName(host);
}

} // namespace

CurveView::CurveView(QWidget* parent)
    : QWidget(parent), m_curves(fail(Error::Code::BadInput, tr("No run"))),
      m_axis(new QComboBox(this)), m_metric(new QComboBox(this)), m_side(new QComboBox(this)),
      m_note(new QLabel(this)), m_plot(new QCustomPlot(this)) {
    m_axis->setObjectName("curveAxis");
    m_metric->setObjectName("curveMetric");
    m_side->setObjectName("curveSide");
    m_note->setObjectName("curveNote");
    m_plot->setObjectName("curvePlot");
    m_plot->setAccessibleName(tr("Curve of the run"));
    m_plot->setMinimumHeight(140);
    m_plot->setMinimumWidth(200);
    m_plot->setMouseTracking(true);
    makeHint(m_note);
    letWrap(m_note);
    m_note->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_metric->setMaxVisibleItems(25);

    auto* choices = new QHBoxLayout;
    const auto add = [&](const QString& title, QComboBox* combo) {
        auto* label = new QLabel(title, this);
        label->setBuddy(combo);
        combo->setSizeAdjustPolicy(QComboBox::AdjustToContents);
        choices->addWidget(label);
        choices->addWidget(combo);
        choices->addSpacing(8);
    };
    add(tr("Me&tric:"), m_metric);
    add(tr("&Of:"), m_side);
    add(tr("A&gainst:"), m_axis);
    choices->addWidget(m_note, 1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addLayout(choices);
    layout->addWidget(m_plot, 1);

    connect(m_axis, &QComboBox::currentIndexChanged, this, &CurveView::compute);
    connect(m_metric, &QComboBox::currentIndexChanged, this, [this] {
        fillSides();
        compute();
    });
    connect(m_side, &QComboBox::currentIndexChanged, this, &CurveView::compute);
    connect(m_plot, &QCustomPlot::mouseMove, this,
            [this](const QMouseEvent* event) { explain(event->pos()); });
}

void CurveView::setRun(std::shared_ptr<const StoredRun> run) {
    m_run = std::move(run);
    fillAxes();
    fillMetrics();
    fillSides();
    compute();
}

void CurveView::fillAxes() {
    const QSignalBlocker quiet(m_axis);
    m_axis->clear();
    for (const Axis& axis : m_run->experiment.axes) {
        m_axis->addItem(knobTitle(axis.knob));
    }
    m_axis->setCurrentIndex(defaultXAxis(m_run->experiment));
    m_axis->setEnabled(m_axis->count() > 1);
}

void CurveView::fillMetrics() {
    const QSignalBlocker quiet(m_metric);
    const QString before = m_metric->currentData().toString();
    const QString main = mainMetric(m_run->experiment.test.kind);
    m_metric->clear();
    for (const QString& name : inReadingOrder(measuredMetrics(*m_run))) {
        const MetricInfo info = metricInfo(name);
        m_metric->addItem(info.title, name);
        m_metric->setItemData(m_metric->count() - 1, info.help, Qt::ToolTipRole);
    }
    if (m_metric->count() == 0)
        m_metric->addItem(metricInfo(main).title, main);
    const int kept = m_metric->findData(before);
    m_metric->setCurrentIndex(kept >= 0 ? kept : qMax(0, m_metric->findData(main)));
}

void CurveView::fillSides() {
    const QSignalBlocker quiet(m_side);
    const QString before = m_side->currentText();
    const MetricHosts metrics = measuredMetrics(*m_run);
    const auto measured = metrics.constFind(m_metric->currentData().toString());
    m_hosts.clear();
    m_side->clear();
    if (measured == metrics.cend())
        m_hosts.append(HostRef());
    else
        m_hosts = QList<HostRef>(measured->begin(), measured->end());
    for (const HostRef host : std::as_const(m_hosts))
        m_side->addItem(hostTitle(host));
    m_side->setCurrentIndex(qMax(0, m_side->findText(before)));
    m_side->setEnabled(m_side->count() > 1);
}

void CurveView::compute() {
    if (!m_run)
        return;
    m_curves = curvesOf(*m_run, qMax(0, m_axis->currentIndex()), metric(), host());
    m_note->setText(m_curves ? tr("bars: %1 % confidence interval of the mean")
                                   .arg(numberText(m_curves->level * 100))
                             : m_curves.error().text());
    redraw();
    emit metricChanged();
}

QString CurveView::metric() const {
    return m_metric->currentData().toString();
}

HostRef CurveView::host() const {
    return m_hosts.value(m_side->currentIndex());
}

void CurveView::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        redraw();
}

void CurveView::redraw() {
    drawCurves(*m_plot, m_curves ? *m_curves : CurveSet());
}

void CurveView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    redraw(); // the legend fills the width
}

/// Tool tip of the point under the mouse.
void CurveView::explain(const QPoint& position) {
    constexpr double kNear = 10;
    double nearest = kNear * kNear;
    QString text;
    for (int g = 0; g < m_plot->graphCount(); ++g) {
        const QCPGraph* graph = m_plot->graph(g);
        for (const QCPGraphData& point : *graph->data()) {
            const double dx = graph->keyAxis()->coordToPixel(point.key) - position.x();
            const double dy = graph->valueAxis()->coordToPixel(point.value) - position.y();
            const double distance = dx * dx + dy * dy;
            if (!(distance < nearest)) // also at gaps, which are nowhere
                continue;
            nearest = distance;
            text = graph->name().isEmpty()
                       ? numberText(point.value)
                       : QStringLiteral("%1: %2").arg(graph->name(), numberText(point.value));
        }
    }
    if (text.isEmpty())
        QToolTip::hideText();
    else
        QToolTip::showText(m_plot->mapToGlobal(position), text, m_plot);
}

} // namespace knobscope
