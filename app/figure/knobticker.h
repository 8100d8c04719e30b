// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <qcustomplot.h>

namespace knobscope {

/// Ticks at the values that were measured, written as people write them (64K, 1M, auto). Labels
/// that would touch are thinned, evenly where the ticks lie evenly; the ticks stay.
class KnobTicker : public QCPAxisTicker {
public:
    /// `axis` must outlive the ticker; its font and plot width decide how many labels fit.
    KnobTicker(const QCPAxis* axis, const QVector<double>& positions, const QStringList& labels);

protected:
    QVector<double> createTickVector(double tickStep, const QCPRange& range) override;
    QVector<QString> createLabelVector(const QVector<double>& ticks, const QLocale& locale,
                                       QChar formatChar, int precision) override;
    int getSubTickCount(double tickStep) override;

private:
    [[nodiscard]] bool fitTogether(double left, double right) const;
    [[nodiscard]] qsizetype labelStep(const QVector<double>& ticks) const;

    const QCPAxis* m_axis;
    QMap<double, QString> m_labels;
};

/// Plain numbers: 1048576 rather than 1.04858e+06.
class PlainTicker : public QCPAxisTicker {
public:
    /// The range widened so that it begins and ends at a tick.
    [[nodiscard]] QCPRange wholeSteps(QCPRange range);

protected:
    QString getTickLabel(double tick, const QLocale& locale, QChar formatChar,
                         int precision) override;
};

/// For knobs whose values are whole numbers: never a tick between two of them.
class WholeTicker : public PlainTicker {
protected:
    double getTickStep(const QCPRange& range) override;
    int getSubTickCount(double tickStep) override;
};

} // namespace knobscope
