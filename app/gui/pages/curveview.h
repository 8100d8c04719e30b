// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/report/curves.h"

#include <QWidget>

#include <memory>

class QComboBox;
class QCustomPlot;
class QLabel;

namespace knobscope {

/// The curve of a run with the choice of x axis, metric, and whose figures they are.
class CurveView : public QWidget {
    Q_OBJECT
public:
    explicit CurveView(QWidget* parent = nullptr);

    void setRun(std::shared_ptr<const StoredRun> run);
    /// What is shown; BadInput when the run has no such curve.
    [[nodiscard]] const Result<CurveSet>& curves() const { return m_curves; }

    [[nodiscard]] QString metric() const;
    [[nodiscard]] HostRef host() const;

signals:
    /// Another metric or another end is shown.
    void metricChanged();

protected:
    void changeEvent(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fillAxes();
    void fillMetrics();
    void fillSides();
    void compute();
    void redraw();
    void explain(const QPoint& position);

    std::shared_ptr<const StoredRun> m_run;
    Result<CurveSet> m_curves;
    QComboBox* m_axis;
    QComboBox* m_metric;
    QComboBox* m_side;
    QList<HostRef> m_hosts; ///< in the order of m_side
    QLabel* m_note;
    QCustomPlot* m_plot;
};

} // namespace knobscope
