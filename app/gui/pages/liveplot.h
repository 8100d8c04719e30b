// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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
    void add(const LiveInterval& interval);

private:
    QCPGraph* m_sender;
    QCPGraph* m_receiver;
    bool m_transactions = false;
    double m_high = 0;
};

} // namespace knobscope
