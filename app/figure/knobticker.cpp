// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/figure/knobticker.h"

#include <QFontMetrics>

#include <cmath>

namespace knobscope {

KnobTicker::KnobTicker(const QCPAxis* axis, const QVector<double>& positions,
                       const QStringList& labels)
    : m_axis(axis) {
    const qsizetype count = qMin(positions.size(), labels.size());
    for (qsizetype i = 0; i < count; ++i)
        m_labels.insert(positions[i], labels[i]);
}

QVector<double> KnobTicker::createTickVector(double, const QCPRange& range) {
    QVector<double> ticks;
    for (auto it = m_labels.cbegin(); it != m_labels.cend(); ++it) {
        if (range.contains(it.key()))
            ticks.append(it.key());
    }
    return ticks;
}

qsizetype KnobTicker::labelStep(const QVector<double>& ticks) const {
    const QFontMetrics metrics(m_axis->tickLabelFont());
    // The axis rect's own width belongs to the last layout; the viewport is already the new one.
    const double width = 0.85 * m_axis->parentPlot()->viewport().width();
    const double perUnit = width / m_axis->range().size();
    const double gap = metrics.horizontalAdvance(QLatin1Char('0'));
    for (qsizetype step = 1; step < ticks.size(); ++step) {
        bool fits = true;
        for (qsizetype i = step; i < ticks.size() && fits; i += step) {
            const auto halfWidth = [&](qsizetype at) {
                return metrics.size(0, m_labels.value(ticks[at])).width() / 2.0;
            };
            const double apart = (ticks[i] - ticks[i - step]) * perUnit;
            fits = halfWidth(i - step) + halfWidth(i) + gap <= apart;
        }
        if (fits)
            return step;
    }
    return qMax<qsizetype>(1, ticks.size());
}

QVector<QString> KnobTicker::createLabelVector(const QVector<double>& ticks, const QLocale&, QChar,
                                               int) {
    QVector<QString> labels(ticks.size());
    const qsizetype step = labelStep(ticks);
    for (qsizetype i = 0; i < ticks.size(); i += step)
        labels[i] = m_labels.value(ticks[i]);
    return labels;
}

int KnobTicker::getSubTickCount(double) {
    return 0;
}

QString PlainTicker::getTickLabel(double tick, const QLocale& locale, QChar, int) {
    // Sums of steps may miss zero by a rounding error.
    const double value = std::abs(tick) < 1e-12 ? 0.0 : tick;
    QLocale plain = locale;
    plain.setNumberOptions(QLocale::OmitGroupSeparator);
    return plain.toString(value, 'g', 10);
}

} // namespace knobscope
