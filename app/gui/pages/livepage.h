// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/models/runtables.h"
#include "core/run/runcontroller.h"

#include <QWidget>

class QLabel;
class QPlainTextEdit;
class QProgressBar;
class QPushButton;

namespace knobscope {

class LivePlot;
class ResultTable;
class RunSession;

/// A run as it goes on: progress, current knobs, throughput so far, samples, log, stop.
class LivePage : public QWidget {
    Q_OBJECT
public:
    explicit LivePage(RunSession& session, QWidget* parent = nullptr);

private:
    void build();
    void connectSession();
    void begin(const Experiment& experiment, const QList<SampleRecord>& samples);
    void showSample(const SampleStart& sample);
    void showProgress(const RunProgress& progress);
    void addSample(const SampleRecord& sample);
    void log(const QString& line);
    void showStopping();
    void end(const RunOutcome& outcome);

    RunSession& m_session;
    Experiment m_experiment;
    QList<Cell> m_cells;
    Table m_knobsShown;
    QMap<int, QList<KnobState>> m_accepted; ///< by cell: as its last sample read them back
    QLabel* m_title;
    QLabel* m_phase;
    QProgressBar* m_progress;
    QLabel* m_remaining;
    QPushButton* m_stop;
    QLabel* m_cell;
    ResultTable* m_knobs;
    LivePlot* m_plot;
    ResultTable* m_samples;
    QPlainTextEdit* m_log;
};

} // namespace knobscope
