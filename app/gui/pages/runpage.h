// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/appcontext.h"
#include "core/model/run.h"
#include "core/report/curves.h"

#include <QWidget>

#include <memory>

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QTabWidget;

namespace knobscope {

class CurveView;
class ResultTable;

/// A stored run: its curve above the counters that moved, cells, samples, environment, remarks.
class RunPage : public QWidget {
    Q_OBJECT
public:
    explicit RunPage(const AppContext& context, QWidget* parent = nullptr);

    /// Reads the run in the background and shows it. An earlier one that is still being read is
    /// forgotten.
    void open(qint64 run);
    [[nodiscard]] bool hasRun() const { return m_run != nullptr; }
    [[nodiscard]] qint64 run() const { return m_wanted; }
    /// A run goes on somewhere: no second one may begin.
    void setBusy(bool busy);

    void exportFigureAs();
    void exportCsvTo();

signals:
    void opened(qint64 run);
    void failed(const knobscope::Error& error);
    void informed(const QString& text);
    void resumeRequested(qint64 run);

private:
    struct Content; ///< what the background job brings
    QWidget* buildHead();
    QWidget* buildCounters();
    void build();
    void display(const Content& content);
    void showCells();
    void writeCsv(const QString& folder);
    [[nodiscard]] QString suggestedName() const;

    const AppContext& m_context;
    std::shared_ptr<const StoredRun> m_run;
    qint64 m_wanted = 0;
    bool m_busy = false;
    QLabel* m_title;
    QLabel* m_summary;
    QPushButton* m_figureButton;
    QPushButton* m_csvButton;
    QPushButton* m_resume;
    CurveView* m_curve;
    QTabWidget* m_tabs;
    QLineEdit* m_counterFilter;
    QLabel* m_counterHint;
    ResultTable* m_counters;
    ResultTable* m_cells;
    ResultTable* m_samples;
    ResultTable* m_environment;
    QPlainTextEdit* m_remarks;
};

} // namespace knobscope
