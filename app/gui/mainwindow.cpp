// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/mainwindow.h"

#include "app/gui/icons.h"
#include "app/gui/job.h"
#include "app/gui/looks.h"
#include "app/gui/messagebar.h"
#include "app/gui/pages/livepage.h"
#include "app/gui/pages/runlistpage.h"
#include "app/gui/pages/runpage.h"
#include "app/gui/pages/savedhostspage.h"
#include "app/gui/wizard/experimentwizard.h"
#include "core/model/experimentfile.h"
#include "core/model/plural.h"
#include "db/runrepository.h"

#include <QApplication>
#include <QCloseEvent>
#include <QFileDialog>
#include <QMenuBar>
#include <QMessageBox>
#include <QPushButton>
#include <QStackedWidget>
#include <QTimer>
#include <QToolBar>
#include <QVBoxLayout>

namespace knobscope {
namespace {

const QString kReadyExperiment = QStringLiteral(":/knobscope/experiments/loopback-window.json");

} // namespace

MainWindow::MainWindow(const AppContext& context, QWidget* parent)
    : QMainWindow(parent), m_context(context), m_session(context), m_messages(new MessageBar(this)),
      m_pages(new QStackedWidget(this)), m_list(new RunListPage(context, this)),
      m_live(new LivePage(m_session, this)), m_run(new RunPage(context, this)),
      m_hosts(new SavedHostsPage(context, this)), m_refresh(new QTimer(this)) {
    setObjectName("mainWindow");
    setWindowIcon(icon("knobscope"));
    resize(fittingSize(this, QSize(1280, 800)));
    m_pages->setObjectName("pages");
    m_pages->addWidget(m_list);
    m_pages->addWidget(m_live);
    m_pages->addWidget(m_run);
    m_pages->addWidget(m_hosts);
    auto* central = new QWidget(this);
    auto* layout = new QVBoxLayout(central);
    layout->setContentsMargins(6, 6, 6, 6);
    layout->addWidget(m_messages);
    layout->addWidget(m_pages, 1);
    setCentralWidget(central);
    createActions();
    createMenus();
    connectPages();
    showPage(m_list);
    m_list->reload();
}

MainWindow::~MainWindow() = default;

QAction* MainWindow::addAction(const char* name, const char* iconName, const QString& text,
                               const QKeySequence& keys) {
    auto* action = new QAction(icon(iconName), text, this);
    action->setObjectName(name);
    action->setShortcut(keys);
    return action;
}

void MainWindow::createActions() {
    m_new = addAction("actionNew", "new", tr("&New experiment…"), QKeySequence::New);
    m_openFile =
        addAction("actionOpenFile", "open", tr("&Open experiment file…"), QKeySequence::Open);
    m_quit = addAction("actionQuit", "close", tr("&Quit"), QKeySequence::Quit);
    m_runs = addAction("actionRuns", "list", tr("&Runs"), QKeySequence(Qt::ALT | Qt::Key_1));
    m_current =
        addAction("actionCurrent", "live", tr("&Current run"), QKeySequence(Qt::ALT | Qt::Key_2));
    m_showHosts =
        addAction("actionHosts", "hosts", tr("&Hosts"), QKeySequence(Qt::ALT | Qt::Key_3));
    m_stop = addAction("actionStop", "stop", tr("&Stop"), QKeySequence(Qt::CTRL | Qt::Key_Period));
    m_exportFigure = addAction("actionExportFigure", "figure", tr("Export &figure…"),
                               QKeySequence(Qt::CTRL | Qt::Key_E));
    m_exportCsv = addAction("actionExportCsv", "csv", tr("Export &CSV…"),
                            QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_E));
    m_about = addAction("actionAbout", "info", tr("&About Knobscope"));
    m_stop->setToolTip(tr("Stops the run and puts every knob back"));

    connect(m_new, &QAction::triggered, this, &MainWindow::newExperimentRequested);
    connect(m_openFile, &QAction::triggered, this, &MainWindow::askForFile);
    connect(m_quit, &QAction::triggered, this, &QWidget::close);
    connect(m_runs, &QAction::triggered, this, [this] {
        showPage(m_list);
        m_list->reload();
    });
    connect(m_current, &QAction::triggered, this, [this] { showPage(m_live); });
    connect(m_showHosts, &QAction::triggered, this, [this] {
        showPage(m_hosts);
        m_hosts->reload();
    });
    connect(m_stop, &QAction::triggered, &m_session, &RunSession::stop);
    connect(m_exportFigure, &QAction::triggered, m_run, &RunPage::exportFigureAs);
    connect(m_exportCsv, &QAction::triggered, m_run, &RunPage::exportCsvTo);
    connect(m_about, &QAction::triggered, this, &MainWindow::about);
}

void MainWindow::createMenus() {
    QMenu* file = menuBar()->addMenu(tr("&File"));
    file->addActions({m_new, m_openFile});
    file->addSeparator();
    file->addActions({m_exportFigure, m_exportCsv});
    file->addSeparator();
    file->addAction(m_quit);
    QMenu* run = menuBar()->addMenu(tr("&Run"));
    run->addActions({m_runs, m_current, m_showHosts});
    run->addSeparator();
    run->addAction(m_stop);
    menuBar()->addMenu(tr("&Help"))->addAction(m_about);

    auto* bar = QMainWindow::addToolBar(tr("Main"));
    bar->setObjectName("mainToolBar");
    bar->setMovable(false);
    bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    bar->addActions({m_runs, m_current, m_showHosts});
    bar->addSeparator();
    bar->addActions({m_new, m_openFile});
    m_runs->setCheckable(true);
    m_current->setCheckable(true);
    m_showHosts->setCheckable(true);
}

void MainWindow::connectPages() {
    const auto errorsOf = [this](const QWidget* page) {
        return [this, page](const Error& error) {
            m_messages->showError(error);
            m_messages->setPage(page);
        };
    };
    connect(m_list, &RunListPage::failed, this, errorsOf(m_list));
    connect(m_list, &RunListPage::newRequested, this, &MainWindow::newExperimentRequested);
    connect(m_list, &RunListPage::measureHereRequested, this, &MainWindow::measureHere);
    connect(m_list, &RunListPage::openRequested, this, &MainWindow::openRun);
    connect(m_list, &RunListPage::resumeRequested, this, &MainWindow::resume);
    connect(m_list, &RunListPage::deleteRequested, this, &MainWindow::askAndDelete);
    connect(m_hosts, &SavedHostsPage::failed, this, errorsOf(m_hosts));
    connect(m_run, &RunPage::failed, this,
            [this, errorsOf](const Error& error) { errorsOf(m_pages->currentWidget())(error); });
    connect(m_run, &RunPage::resumeRequested, this, &MainWindow::resume);
    connect(m_run, &RunPage::informed, this, [this](const QString& text) {
        m_messages->showMessage(MessageBar::Kind::Information, text);
        m_messages->setPage(m_run);
    });
    connect(m_run, &RunPage::opened, this, [this] {
        showPage(m_run);
        updateActions();
    });
    connect(&m_session, &RunSession::prepared, this, [this](const Experiment& experiment) {
        m_measuring = experiment.name;
        showPage(m_live);
    });
    connect(&m_session, &RunSession::runStarted, this, [this] {
        updateActions();
        refreshList();
    });
    // The list follows a run that goes on, without reading the database at every sample.
    constexpr int kRefreshMs = 1000;
    m_refresh->setInterval(kRefreshMs);
    m_refresh->setSingleShot(true);
    connect(m_refresh, &QTimer::timeout, m_list, &RunListPage::reload);
    connect(&m_session, &RunSession::sampleFinished, this, &MainWindow::refreshList);
    connect(&m_session, &RunSession::stopRequested, this, &MainWindow::updateActions);
    connect(&m_session, &RunSession::finished, this, &MainWindow::runEnded);
}

void MainWindow::refreshList() {
    if (m_pages->currentWidget() == m_list && !m_refresh->isActive())
        m_refresh->start();
}

void MainWindow::showPage(QWidget* page) {
    m_pages->setCurrentWidget(page);
    m_messages->leaveFor(page);
    updateActions();
}

void MainWindow::updateActions() {
    const QWidget* page = m_pages->currentWidget();
    const bool running = m_session.running();
    m_new->setEnabled(!running);
    m_openFile->setEnabled(!running);
    m_current->setEnabled(running || page == m_live);
    m_runs->setChecked(page == m_list);
    m_current->setChecked(page == m_live);
    m_showHosts->setChecked(page == m_hosts);
    m_hosts->setBusy(running);
    m_stop->setEnabled(running && !m_session.stopping());
    m_exportFigure->setEnabled(page == m_run && m_run->hasRun());
    m_exportCsv->setEnabled(page == m_run && m_run->hasRun());
    m_run->setBusy(running);
    m_list->setBusy(running, m_session.run());
    // The platform adds the name of the program, as to all titles.
    setWindowTitle(running ? tr("Measuring %1").arg(m_measuring) : tr("Knobscope"));
}

void MainWindow::newExperimentRequested() {
    openWizard(newExperiment());
}

void MainWindow::openWizard(const Experiment& experiment) {
    if (m_session.running()) {
        m_messages->showMessage(MessageBar::Kind::Information,
                                tr("\"%1\" is being measured").arg(m_measuring),
                                tr("Stop it or wait for its end before the next."));
        m_messages->setPage(m_pages->currentWidget());
        return;
    }
    auto* wizard = new ExperimentWizard(m_context, experiment, this);
    wizard->setAttribute(Qt::WA_DeleteOnClose);
    connect(wizard, &ExperimentWizard::startRequested, this, &MainWindow::start);
    wizard->open();
}

void MainWindow::askForFile() {
    auto* dialog = new QFileDialog(this, tr("Open experiment file"), QString(),
                                   tr("Experiments (*.json);;All files (*)"));
    dialog->setObjectName("openDialog");
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::openExperimentFile);
    dialog->open();
}

void MainWindow::openExperimentFile(const QString& path) {
    startJob(
        *m_context.pool, this, [path] { return readExperimentFile(path); },
        [this, path](const Result<Experiment>& experiment) {
            if (experiment)
                openWizard(*experiment);
            else {
                m_messages->showMessage(MessageBar::Kind::Failure,
                                        tr("%1 is no experiment that can be run").arg(path),
                                        experiment.error().text());
                m_messages->setPage(m_pages->currentWidget());
            }
        });
}

void MainWindow::measureHere() {
    const Result<Experiment> ready = readExperimentFile(kReadyExperiment);
    if (ready)
        start(*ready);
    else
        m_messages->showError(ready.error());
}

void MainWindow::start(const Experiment& experiment, const QList<RefusedValue>& leftOut) {
    m_messages->clear();
    m_session.start(experiment, leftOut);
    updateActions();
}

void MainWindow::resume(qint64 run) {
    m_messages->clear();
    m_measuring = tr("Run %1").arg(run); // until it has been read
    m_session.resume(run);
    updateActions();
}

void MainWindow::openRun(qint64 run) {
    m_messages->clear();
    m_run->open(run);
}

void MainWindow::askAndDelete(const RunInfo& run) {
    if (run.id == m_session.run())
        return; // the list does not offer it
    auto* question =
        new QMessageBox(QMessageBox::Question, tr("Delete run"),
                        tr("Delete \"%1\" with its %2?")
                            .arg(run.name, counted(run.samplesDone, tr("sample"), tr("samples"))),
                        QMessageBox::Cancel, this);
    question->setObjectName("deleteQuestion");
    question->setInformativeText(tr("This cannot be undone."));
    question->setAttribute(Qt::WA_DeleteOnClose);
    QPushButton* remove = question->addButton(tr("&Delete"), QMessageBox::DestructiveRole);
    remove->setObjectName("deleteConfirmed");
    preferCancel(question);
    connect(remove, &QPushButton::clicked, this, [this, id = run.id] { deleteRun(id); });
    question->open();
}

void MainWindow::deleteRun(qint64 run) {
    if (run == m_session.run()) { // it was resumed while the question was open
        m_messages->showMessage(MessageBar::Kind::Warning,
                                tr("\"%1\" is being measured now").arg(m_measuring),
                                tr("Stop it first."));
        m_messages->setPage(m_list);
        return;
    }
    startJob(
        *m_context.pool, this,
        [database = m_context.database, run]() -> Result<void> {
            const auto runs = RunRepository::open(database);
            if (!runs)
                return tl::unexpected(runs.error());
            return (*runs)->deleteRun(run);
        },
        [this](const Result<void>& deleted) {
            if (!deleted) {
                m_messages->showError(deleted.error());
                m_messages->setPage(m_list);
            }
            m_list->reload();
        });
}

/// Shows what there is of the run, and what went wrong.
void MainWindow::runEnded(const RunOutcome& outcome) {
    updateActions();
    sayHowItEnded(outcome);
    if (m_closeWhenDone) {
        close();
        return;
    }
    m_list->selectRun(outcome.run);
    m_list->reload();
    if (outcome.run != 0 && m_pages->currentWidget() == m_live)
        m_run->open(outcome.run);
}

void MainWindow::sayHowItEnded(const RunOutcome& outcome) {
    if (!outcome.notRestored.isEmpty()) {
        // Of no page: it stays until someone has seen to it.
        m_messages->showMessage(
            MessageBar::Kind::Failure,
            tr("\"%1\": some knobs could not be put back. Set them by hand:").arg(m_measuring),
            outcome.notRestored.join(QLatin1Char('\n')));
        return;
    }
    if (outcome.status == ExitStatus::AllWell)
        return;
    if (outcome.status == ExitStatus::Cancelled)
        m_messages->showMessage(MessageBar::Kind::Information,
                                tr("\"%1\" was stopped. It can be resumed.").arg(m_measuring));
    else
        m_messages->showMessage(MessageBar::Kind::Warning,
                                tr("\"%1\" did not end well").arg(m_measuring), outcome.message);
    const bool opens = outcome.run != 0 && m_pages->currentWidget() == m_live;
    m_messages->setPage(opens ? m_run : m_pages->currentWidget());
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (!m_session.running()) {
        event->accept();
        return;
    }
    event->ignore();
    if (m_closeWhenDone)
        return;
    auto* question =
        new QMessageBox(QMessageBox::Question, tr("Quit"),
                        tr("\"%1\" is being measured. Stop it and quit?").arg(m_measuring),
                        QMessageBox::Cancel, this);
    question->setObjectName("quitQuestion");
    question->setInformativeText(tr("Every knob is put back first. The run can be resumed later."));
    question->setAttribute(Qt::WA_DeleteOnClose);
    QPushButton* stop = question->addButton(tr("&Stop and quit"), QMessageBox::DestructiveRole);
    stop->setObjectName("quitConfirmed");
    preferCancel(question);
    connect(stop, &QPushButton::clicked, this, [this] {
        m_closeWhenDone = true;
        if (m_session.running())
            m_session.stop();
        else
            close(); // the run ended while the question was open
    });
    question->open();
}

void MainWindow::about() {
    auto* box = new QMessageBox(QMessageBox::NoIcon, tr("About Knobscope"),
                                tr("Knobscope %1").arg(QApplication::applicationVersion()),
                                QMessageBox::Close, this);
    box->setIconPixmap(icon("knobscope").pixmap(64, 64));
    box->setInformativeText(tr("Sets knobs on real hosts, measures the network at each setting, "
                               "puts every knob back, and shows which setting won.\n\n"
                               "Free software under the GNU General Public License, version 3 or "
                               "later."));
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
}

} // namespace knobscope
