// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/figure/knobticker.h"
#include "core/run/runcontroller.h"

#include <qcustomplot.h>

namespace knobscope {

/// Throughput (or transactions/s) of both ends within the current sample.
class LivePlot : public QCustomPlot {
    Q_OBJECT
public:
    explicit LivePlot(QWidget* parent = nullptr);

    /// A new sample: empties the plot. `transactions`: what is drawn.
    void begin(bool transactions, double seconds);
    /// What is left over at the end of a sample is too short to make a rate, and left out.
    void add(const LiveInterval& interval);

protected:
    void changeEvent(QEvent* event) override;

private:
    /// How far one end has come.
    struct Progress {
        double end = 0;    ///< of its last interval
        double length = 0; ///< of its longest
    };
    void followPalette();

    QMap<Side, Progress> m_progress;
    QCPGraph* m_sender;
    QCPGraph* m_receiver;
    QSharedPointer<PlainTicker> m_ticks;
    bool m_transactions = false;
    double m_high = 0;
};

} // namespace knobscope
