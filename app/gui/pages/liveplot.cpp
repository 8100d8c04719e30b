// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/pages/liveplot.h"

#include "app/figure/seriesstyle.h"

#include <cmath>

namespace knobscope {

LivePlot::LivePlot(QWidget* parent) : QCustomPlot(parent) {
    setObjectName("livePlot");
    setAccessibleName(tr("Throughput in the current sample"));
    setPlottingHints(QCP::phFastPolylines | QCP::phCacheLabels);
    setMinimumHeight(140);
    setMinimumWidth(200);
    m_sender = addGraph();
    m_receiver = addGraph();
    m_sender->setName(tr("sender"));
    m_receiver->setName(tr("receiver"));
    xAxis->setLabel(tr("Time (s)"));
    m_ticks = QSharedPointer<PlainTicker>::create();
    m_ticks->setTickCount(5);
    yAxis->setTicker(m_ticks);
    legend->setVisible(true);
    legend->setBorderPen(Qt::NoPen);
    axisRect()->insetLayout()->setInsetAlignment(0, Qt::AlignBottom | Qt::AlignRight);
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->setLabelFont(font());
        axis->setTickLabelFont(font());
    }
    followPalette();
    begin(false, 1);
}

void LivePlot::changeEvent(QEvent* event) {
    QCustomPlot::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        followPalette();
}

void LivePlot::followPalette() {
    const QColor paper = palette().color(QPalette::Base);
    const QColor ink = palette().color(QPalette::Text);
    const double unit = logicalDpiX() / 72.0;
    for (QCPGraph* graph : {m_sender, m_receiver}) {
        const SeriesStyle style =
            seriesStyle(graph == m_sender ? 1 : 0, unit, paper.lightness() < 128);
        graph->setPen(style.line);
        graph->setScatterStyle(style.marker);
    }
    setBackground(paper);
    QColor veil = paper;
    veil.setAlpha(200);
    legend->setBrush(veil);
    legend->setTextColor(ink);
    QColor faint = ink;
    faint.setAlpha(50);
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->setLabelColor(ink);
        axis->setTickLabelColor(ink);
        axis->setBasePen(ink);
        axis->setTickPen(ink);
        axis->setSubTickPen(ink);
        axis->grid()->setPen(QPen(faint, 0, Qt::DotLine));
        axis->grid()->setZeroLinePen(QPen(faint, 0));
    }
    replot(QCustomPlot::rpQueuedReplot);
}

void LivePlot::begin(bool transactions, double seconds) {
    m_transactions = transactions;
    m_high = 0;
    m_progress.clear();
    for (QCPGraph* graph : {m_sender, m_receiver})
        graph->data()->clear();
    yAxis->setLabel(transactions ? tr("Transactions/s") : tr("Throughput (Mbit/s)"));
    xAxis->setRange(0, seconds > 0 ? seconds : 1);
    yAxis->setRange(0, 1);
    replot(QCustomPlot::rpQueuedReplot);
}

void LivePlot::add(const LiveInterval& interval) {
    const double value = m_transactions ? interval.transactionsPerSecond : interval.mbitPerSecond;
    if (!std::isfinite(value) || !std::isfinite(interval.seconds))
        return;
    Progress& progress = m_progress[interval.side];
    const double length = interval.seconds - progress.end;
    progress.end = interval.seconds;
    if (length < progress.length / 2)
        return;
    progress.length = std::max(progress.length, length);
    (interval.side == Side::Sender ? m_sender : m_receiver)->addData(interval.seconds, value);
    m_high = std::max(m_high, value);
    yAxis->setRange(m_ticks->wholeSteps(QCPRange(0, m_high > 0 ? m_high * 1.05 : 1)));
    if (interval.seconds > xAxis->range().upper)
        xAxis->setRangeUpper(interval.seconds * 1.05);
    replot(QCustomPlot::rpQueuedReplot);
}

} // namespace knobscope
