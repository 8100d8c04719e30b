// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/pages/liveplot.h"

#include "app/figure/knobticker.h"
#include "app/figure/seriesstyle.h"

#include <cmath>

namespace knobscope {

LivePlot::LivePlot(QWidget* parent) : QCustomPlot(parent) {
    setObjectName("livePlot");
    setAccessibleName(tr("Throughput in the current sample"));
    setPlottingHints(QCP::phFastPolylines | QCP::phCacheLabels);
    setMinimumHeight(160);
    const double unit = logicalDpiX() / 72.0;
    m_sender = addGraph();
    m_receiver = addGraph();
    m_sender->setName(tr("sender"));
    m_receiver->setName(tr("receiver"));
    for (QCPGraph* graph : {m_sender, m_receiver}) {
        const SeriesStyle style = seriesStyle(graph == m_sender ? 1 : 0, unit);
        graph->setPen(style.line);
        graph->setScatterStyle(style.marker);
    }
    xAxis->setLabel(tr("Time (s)"));
    yAxis->setTicker(QSharedPointer<PlainTicker>::create());
    legend->setVisible(true);
    legend->setBorderPen(Qt::NoPen);
    legend->setBrush(QColor(255, 255, 255, 200));
    axisRect()->insetLayout()->setInsetAlignment(0, Qt::AlignBottom | Qt::AlignRight);
    for (QCPAxis* axis : {xAxis, yAxis}) {
        axis->setLabelFont(font());
        axis->setTickLabelFont(font());
    }
    begin(false, 1);
}

void LivePlot::begin(bool transactions, double seconds) {
    m_transactions = transactions;
    m_high = 0;
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
    (interval.side == Side::Sender ? m_sender : m_receiver)->addData(interval.seconds, value);
    m_high = std::max(m_high, value);
    yAxis->setRange(0, m_high > 0 ? m_high * 1.1 : 1);
    if (interval.seconds > xAxis->range().upper)
        xAxis->setRangeUpper(interval.seconds * 1.05);
    replot(QCustomPlot::rpQueuedReplot);
}

} // namespace knobscope
