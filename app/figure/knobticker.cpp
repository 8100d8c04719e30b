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

bool KnobTicker::fitTogether(double left, double right) const {
    const QFontMetrics metrics(m_axis->tickLabelFont());
    // The axis rect's own width belongs to the last layout; the viewport is already the new one.
    const double width = 0.85 * m_axis->parentPlot()->viewport().width();
    const auto halfWidth = [&](double tick) {
        return metrics.size(0, m_labels.value(tick)).width() / 2.0;
    };
    const double gap = metrics.horizontalAdvance(QLatin1Char('0'));
    return halfWidth(left) + halfWidth(right) + gap <=
           (right - left) * width / m_axis->range().size();
}

qsizetype KnobTicker::labelStep(const QVector<double>& ticks) const {
    for (qsizetype step = 1; step < ticks.size(); ++step) {
        bool fits = true;
        for (qsizetype i = step; i < ticks.size() && fits; i += step)
            fits = fitTogether(ticks[i - step], ticks[i]);
        if (fits)
            return step;
    }
    return qMax<qsizetype>(1, ticks.size());
}

QVector<QString> KnobTicker::createLabelVector(const QVector<double>& ticks, const QLocale&, QChar,
                                               int) {
    QVector<QString> labels(ticks.size());
    bool even = true;
    for (qsizetype i = 2; i < ticks.size() && even; ++i)
        even = qFuzzyCompare(ticks[i] - ticks[i - 1], ticks[1] - ticks[0]);
    const qsizetype step = even ? labelStep(ticks) : 1;
    qsizetype last = -1;
    for (qsizetype i = 0; i < ticks.size(); i += step) {
        if (!even && last >= 0 && !fitTogether(ticks[last], ticks[i]))
            continue;
        labels[i] = m_labels.value(ticks[i]);
        last = i;
    }
    return labels;
}

int KnobTicker::getSubTickCount(double) {
    return 0;
}

QCPRange PlainTicker::wholeSteps(QCPRange range) {
    constexpr int kTurns = 3; // a wider range may have wider steps
    for (int turn = 0; turn < kTurns; ++turn) {
        const double step = getTickStep(range);
        if (!(step > 0) || !std::isfinite(step))
            break;
        constexpr double kSlack = 1e-9; // rounding errors are no reason for another step
        range.lower = step * std::floor(range.lower / step + kSlack);
        range.upper = step * std::ceil(range.upper / step - kSlack);
    }
    return range;
}

QString PlainTicker::getTickLabel(double tick, const QLocale& locale, QChar, int) {
    // Sums of steps may miss zero by a rounding error.
    const double value = std::abs(tick) < 1e-12 ? 0.0 : tick;
    QLocale plain = locale;
    plain.setNumberOptions(QLocale::OmitGroupSeparator);
    return plain.toString(value, 'g', 10);
}

double WholeTicker::getTickStep(const QCPRange& range) {
    return qMax(1.0, std::round(PlainTicker::getTickStep(range)));
}

int WholeTicker::getSubTickCount(double tickStep) {
    return tickStep < 10 ? 0 : PlainTicker::getSubTickCount(tickStep);
}

} // namespace knobscope
