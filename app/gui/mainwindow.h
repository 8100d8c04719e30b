// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/appcontext.h"
#include "app/gui/runsession.h"

#include <QMainWindow>

class QStackedWidget;
class QTimer;

namespace knobscope {

class LivePage;
class MessageBar;
class RunListPage;
class RunPage;
class SavedHostsPage;

/// Joins the pages: which one is shown, what the menus do. Knows no model and no plot.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    explicit MainWindow(const AppContext& context, QWidget* parent = nullptr);
    ~MainWindow() override;

    /// Opens the wizard with the file's experiment, or says what is wrong with the file.
    void openExperimentFile(const QString& path);
    void openWizard(const Experiment& experiment);

protected:
    void closeEvent(QCloseEvent* event) override;

private:
    void createActions();
    void createMenus();
    void connectPages();
    QAction* addAction(const char* name, const char* iconName, const QString& text,
                       const QKeySequence& keys = {});
    void showPage(QWidget* page);
    void updateActions();

    void newExperimentRequested();
    void askForFile();
    void measureHere();
    void start(const Experiment& experiment, const QList<RefusedValue>& leftOut = {});
    void resume(qint64 run);
    void openRun(qint64 run);
    void askAndDelete(const RunInfo& run);
    void deleteRun(qint64 run);
    void runEnded(const RunOutcome& outcome);
    void sayHowItEnded(const RunOutcome& outcome);
    void refreshList();
    void about();

    const AppContext& m_context;
    RunSession m_session;
    MessageBar* m_messages;
    QStackedWidget* m_pages;
    RunListPage* m_list;
    LivePage* m_live;
    RunPage* m_run;
    SavedHostsPage* m_hosts;
    QString m_measuring; ///< name of the run that is going on
    QTimer* m_refresh;
    bool m_closeWhenDone = false;

    QAction* m_new = nullptr;
    QAction* m_openFile = nullptr;
    QAction* m_quit = nullptr;
    QAction* m_runs = nullptr;
    QAction* m_current = nullptr;
    QAction* m_showHosts = nullptr;
    QAction* m_stop = nullptr;
    QAction* m_exportFigure = nullptr;
    QAction* m_exportCsv = nullptr;
    QAction* m_about = nullptr;
};

} // namespace knobscope
