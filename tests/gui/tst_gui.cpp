// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/mainwindow.h"
#include "app/gui/messagebar.h"
#include "app/gui/pages/tables.h"
#include "app/gui/wizard/experimentwizard.h"
#include "core/model/experimentfile.h"
#include "db/runrepository.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>
#include <QPlainTextEdit>
#include <QPointer>
#include <QProgressBar>
#include <QPushButton>
#include <QSpinBox>
#include <QStackedWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QtTest>

#include <qcustomplot.h>

#include <memory>

using namespace knobscope;

namespace {

constexpr int kMoment = 10000; ///< for what takes no measuring
constexpr int kRun = 60000;    ///< for a run of a few short samples

/// Finds by object name. A widget that is not there ends the test program: nothing else would make
/// sense.
template<typename Widget>
Widget* find(const QObject* parent, const char* name) {
    auto* found = parent->findChild<Widget*>(QLatin1String(name));
    if (found == nullptr)
        qFatal("No widget is called %s.", name);
    return found;
}

/// Saves what a page looks like when KNOBSCOPE_SCREENSHOTS names a folder.
void picture(QWidget* widget, const char* name) {
    const QString folder = qEnvironmentVariable("KNOBSCOPE_SCREENSHOTS");
    if (folder.isEmpty())
        return;
    QCoreApplication::processEvents(); // what was just added is laid out then
    widget->grab().save(QStringLiteral("%1/%2.png").arg(folder, QLatin1String(name)));
}

/// Letters (after &) that two visible widgets or menus of a window claim, with their texts.
QStringList doubleLetters(QWidget* window) {
    QMultiMap<QChar, QString> claims;
    const auto claim = [&](const QString& text) {
        const qsizetype at = text.indexOf(QLatin1Char('&'));
        if (at >= 0 && at + 1 < text.size())
            claims.insert(text[at + 1].toLower(), text);
    };
    for (const QAbstractButton* button : window->findChildren<QAbstractButton*>()) {
        if (button->isVisible())
            claim(button->text());
    }
    for (const QLabel* label : window->findChildren<QLabel*>()) {
        if (label->isVisible() && label->buddy() != nullptr)
            claim(label->text());
    }
    for (const QTabBar* bar : window->findChildren<QTabBar*>()) {
        for (int tab = 0; bar->isVisible() && tab < bar->count(); ++tab)
            claim(bar->tabText(tab));
    }
    for (const QMenuBar* bar : window->findChildren<QMenuBar*>()) {
        for (const QAction* action : bar->actions())
            claim(action->text());
    }
    QStringList doubles;
    for (const QChar letter : claims.uniqueKeys()) {
        if (claims.count(letter) > 1)
            doubles.append(QStringList(claims.values(letter)).join(QLatin1Char('|')));
    }
    return doubles;
}

} // namespace

class TestGui : public QObject {
    Q_OBJECT

private slots:
    void init();
    void cleanup();
    void firstStartOffersThisComputer();
    void oneClickMeasuresAndStopKeepsWhatThereIs();
    void wizardRefusesUnsoundHosts();
    void wizardShowsErrorsWhereTheyAre();
    void wizardCountsCellsAndExcludes();
    void wizardKeepsAnExperiment_data();
    void wizardKeepsAnExperiment();
    void preflightFailsForAnAbsentInterface();
    void wizardToFinishedRunAndExports();
    void brokenFileIsExplained();
    void unusableDatabaseIsExplained();
    void runsAreFilteredAndDeleted();
    void resumesFromTheList();
    void closingWhileMeasuringAsks();
    void lettersOfShortCutsAreUnique();

private:
    ExperimentWizard* openWizard(const Experiment& experiment);
    void next(ExperimentWizard* wizard);
    qint64 storeRun(const QString& name);
    QWidget* currentPage() const;
    QString message() const;

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<QThreadPool> m_pool;
    AppContext m_context;
    std::unique_ptr<MainWindow> m_window;
};

void TestGui::init() {
    m_dir = std::make_unique<QTemporaryDir>();
    m_pool = std::make_unique<QThreadPool>();
    m_context = AppContext();
    m_context.database = m_dir->filePath(QStringLiteral("runs.db"));
    m_context.pool = m_pool.get();
    m_window = std::make_unique<MainWindow>(m_context);
    m_window->show();
}

void TestGui::cleanup() {
    m_window.reset();
    m_pool->waitForDone();
    m_pool.reset();
    m_dir.reset();
}

QWidget* TestGui::currentPage() const {
    return m_window->findChild<QStackedWidget*>(QStringLiteral("pages"))->currentWidget();
}

QString TestGui::message() const {
    return m_window->findChild<MessageBar*>()->text();
}

ExperimentWizard* TestGui::openWizard(const Experiment& experiment) {
    m_window->openWizard(experiment);
    auto* wizard = m_window->findChild<ExperimentWizard*>();
    if (wizard != nullptr && QTest::qWaitForWindowExposed(wizard))
        return wizard;
    return nullptr;
}

void TestGui::next(ExperimentWizard* wizard) {
    auto* button = wizard->button(QWizard::NextButton);
    QTRY_VERIFY_WITH_TIMEOUT(button->isEnabled(), kMoment);
    const int before = wizard->currentId();
    QTest::mouseClick(button, Qt::LeftButton);
    QCOMPARE(wizard->currentId(), before + 1);
}

/// A finished run without samples, straight into the database.
qint64 TestGui::storeRun(const QString& name) {
    auto runs = RunRepository::open(m_context.database);
    if (!runs)
        return 0;
    Experiment experiment = newExperiment();
    experiment.name = name;
    const auto id = (*runs)->createRun(experiment, expandMatrix(experiment));
    if (!id || !(*runs)->setRunState(*id, RunState::Finished, {}))
        return 0;
    return *id;
}

void TestGui::firstStartOffersThisComputer() {
    auto* here = find<QPushButton>(m_window.get(), "measureHere");
    auto* create = find<QPushButton>(m_window.get(), "newExperimentEmpty");
    QTRY_VERIFY_WITH_TIMEOUT(here->isVisible(), kMoment);
    QVERIFY(create->isVisible());
    QVERIFY(!m_window->findChild<QTableView*>("runTable")->isVisible());
    picture(m_window.get(), "1-first-start");
    QTest::mouseClick(create, Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(m_window->findChild<ExperimentWizard*>() != nullptr, kMoment);
}

void TestGui::oneClickMeasuresAndStopKeepsWhatThereIs() {
    auto* here = find<QPushButton>(m_window.get(), "measureHere");
    QTRY_VERIFY_WITH_TIMEOUT(here->isVisible(), kMoment);
    QTest::mouseClick(here, Qt::LeftButton);
    QCOMPARE(currentPage()->objectName(), "livePage");
    auto* samples = find<ResultTable>(m_window.get(), "liveSamples");
    auto* stop = find<QPushButton>(m_window.get(), "liveStop");
    auto* plot = find<QCustomPlot>(m_window.get(), "livePlot");
    auto* progress = find<QProgressBar>(m_window.get(), "liveProgress");
    QTRY_VERIFY_WITH_TIMEOUT(samples->rows() >= 4, kRun);
    QTRY_VERIFY_WITH_TIMEOUT(plot->graph(1)->dataCount() > 2, kRun);
    QCOMPARE(progress->maximum(), 36);
    QVERIFY(progress->value() >= 1);
    QCOMPARE(samples->textAt(0, 2), "done");
    QVERIFY(!find<QPlainTextEdit>(m_window.get(), "liveLog")->toPlainText().isEmpty());
    picture(m_window.get(), "2-live");

    QTest::mouseClick(stop, Qt::LeftButton);
    QVERIFY(!stop->isEnabled());
    QVERIFY(m_window->findChild<QLabel*>("livePhase")->text().contains("putting knobs back"));
    QTRY_COMPARE_WITH_TIMEOUT(currentPage()->objectName(), QStringLiteral("runPage"), kRun);
    QVERIFY(message().contains(QStringLiteral("can be resumed")));
    QVERIFY(find<QPushButton>(m_window.get(), "resumeThis")->isVisible());
    picture(m_window.get(), "3-stopped-run");
}

void TestGui::wizardRefusesUnsoundHosts() {
    ExperimentWizard* wizard = openWizard(newExperiment());
    QVERIFY(wizard);
    auto* nextButton = wizard->button(QWizard::NextButton);
    QVERIFY(nextButton->isEnabled());
    picture(wizard, "4-wizard-hosts");

    auto* name = find<QLineEdit>(wizard, "experimentName");
    name->selectAll();
    QTest::keyClick(name, Qt::Key_Delete);
    QVERIFY(!nextButton->isEnabled());
    QVERIFY(find<QLabel>(wizard, "nameError")->isVisible());
    QTest::keyClicks(name, "Test");
    QVERIFY(nextButton->isEnabled());
    QVERIFY(!wizard->findChild<QLabel*>("nameError")->isVisible());

    auto* ssh = find<QLineEdit>(wizard, "receiverSsh");
    QTest::keyClicks(ssh, "host2");
    QVERIFY(!nextButton->isEnabled()); // it has no address yet
    auto* error = find<QLabel>(wizard, "receiverError");
    QVERIFY(error->isVisible());
    QVERIFY(!wizard->findChild<QLabel*>("senderError")->isVisible());
    QTest::keyClicks(find<QLineEdit>(wizard, "receiverAddress"), "10.77.0.2");
    QTest::keyClicks(wizard->findChild<QLineEdit*>("receiverInterface"), "test0");
    QVERIFY2(nextButton->isEnabled(), qPrintable(error->text()));
    QCOMPARE(wizard->experiment().receiver,
             (HostSpec{false, QStringLiteral("host2"), QStringLiteral("10.77.0.2"),
                       QStringLiteral("test0")}));
}

void TestGui::wizardShowsErrorsWhereTheyAre() {
    ExperimentWizard* wizard = openWizard(newExperiment());
    QVERIFY(wizard);
    next(wizard);
    next(wizard);
    QCOMPARE(wizard->currentId(), static_cast<int>(ExperimentWizard::MatrixId));
    auto* values = find<QLineEdit>(wizard, "axisValues0");
    values->setText(QStringLiteral("32K nonsense"));
    auto* error = find<QLabel>(wizard, "axisError0");
    QVERIFY(error->isVisible());
    QVERIFY2(error->text().contains(QStringLiteral("nonsense")), qPrintable(error->text()));
    QVERIFY(!wizard->button(QWizard::NextButton)->isEnabled());
    picture(wizard, "5-wizard-matrix-error");
    values->setText(QStringLiteral("\"32K"));
    QVERIFY(error->text().contains(QStringLiteral("not closed")));
    values->setText(QStringLiteral("32K 64K"));
    QVERIFY(!error->isVisible());

    QTest::mouseClick(find<QPushButton>(wizard, "addAxis"), Qt::LeftButton);
    auto* knob = find<QComboBox>(wizard, "axisKnob1");
    knob->setCurrentText(QStringLiteral("windw"));
    auto* second = find<QLabel>(wizard, "axisError1");
    QVERIFY2(second->text().contains(QStringLiteral("window")), qPrintable(second->text()));
    QVERIFY(!error->isVisible());
    QTest::mouseClick(find<QToolButton>(wizard, "axisRemove1"), Qt::LeftButton);
    QVERIFY(wizard->button(QWizard::NextButton)->isEnabled());
    QCOMPARE(wizard->experiment().axes.size(), 1);
}

void TestGui::wizardCountsCellsAndExcludes() {
    ExperimentWizard* wizard = openWizard(newExperiment());
    QVERIFY(wizard);
    next(wizard);
    picture(wizard, "6-wizard-test");
    QTest::mouseClick(find<QPushButton>(wizard, "addOption"), Qt::LeftButton);
    find<QComboBox>(wizard, "optionKnob0")->setCurrentText(QStringLiteral("nodelay"));
    auto* option = find<QLineEdit>(wizard, "optionValues0");
    option->setText(QStringLiteral("perhaps"));
    QTRY_VERIFY(find<QLabel>(wizard, "optionError0")->isVisible());
    QVERIFY(!wizard->button(QWizard::NextButton)->isEnabled());
    option->setText(QStringLiteral("on"));
    QVERIFY(!wizard->findChild<QLabel*>("optionError0")->isVisible());
    next(wizard);

    auto* estimate = find<QLabel>(wizard, "matrixEstimate");
    QVERIFY2(estimate->text().startsWith(QStringLiteral("6 cells")), qPrintable(estimate->text()));
    QTest::mouseClick(find<QPushButton>(wizard, "addAxis"), Qt::LeftButton);
    find<QComboBox>(wizard, "axisKnob1")->setCurrentText(QStringLiteral("message_size"));
    find<QLineEdit>(wizard, "axisValues1")->setText(QStringLiteral("4K 64K"));
    QVERIFY2(estimate->text().startsWith(QStringLiteral("12 cells")), qPrintable(estimate->text()));
    auto* add = find<QPushButton>(wizard, "addExclusion");
    QVERIFY(!add->isEnabled());
    find<QComboBox>(wizard, "excludeValue1")->setCurrentIndex(2);
    QTest::mouseClick(add, Qt::LeftButton);
    QVERIFY2(estimate->text().startsWith(QStringLiteral("6 cells")), qPrintable(estimate->text()));
    picture(wizard, "7-wizard-matrix");
    auto* list = find<QListWidget>(wizard, "exclusions");
    QCOMPARE(list->count(), 1);
    list->setCurrentRow(0);
    QTest::mouseClick(find<QPushButton>(wizard, "removeExclusion"), Qt::LeftButton);
    QVERIFY(estimate->text().startsWith(QStringLiteral("12 cells")));

    next(wizard);
    find<QSpinBox>(wizard, "repeatsMin")->setValue(4);
    find<QSpinBox>(wizard, "repeatsMax")->setValue(2);
    QVERIFY(find<QLabel>(wizard, "planError")->isVisible());
    QVERIFY(!wizard->button(QWizard::NextButton)->isEnabled());
    wizard->findChild<QSpinBox*>("repeatsMax")->setValue(4);
    QVERIFY(!wizard->findChild<QLabel*>("planError")->isVisible());
    QVERIFY(!find<QDoubleSpinBox>(wizard, "halfWidth")->isEnabled()); // a fixed number of repeats
    picture(wizard, "8-wizard-plan");
}

void TestGui::wizardKeepsAnExperiment_data() {
    QTest::addColumn<QString>("file");
    QTest::newRow("loopback-window") << ":/knobscope/experiments/loopback-window.json";
    QTest::newRow("burst-rr") << ":/knobscope/experiments/burst-rr.json";
    QTest::newRow("tcp-small-queues") << ":/knobscope/experiments/tcp-small-queues.json";
}

void TestGui::wizardKeepsAnExperiment() {
    QFETCH(QString, file);
    const auto experiment = readExperimentFile(file);
    QVERIFY2(experiment, experiment ? "" : qPrintable(experiment.error().text()));
    ExperimentWizard* wizard = openWizard(*experiment);
    QVERIFY(wizard);
    QCOMPARE(wizard->experiment(), *experiment);
}

void TestGui::preflightFailsForAnAbsentInterface() {
    Experiment experiment = newExperiment();
    experiment.receiver.interface = QStringLiteral("absent0");
    ExperimentWizard* wizard = openWizard(experiment);
    QVERIFY(wizard);
    QTest::mouseClick(find<QPushButton>(wizard, "senderCheck"), Qt::LeftButton);
    auto* hostChecks = find<QAbstractItemView>(wizard, "hostChecks");
    QTRY_VERIFY_WITH_TIMEOUT(hostChecks->model()->rowCount() > 0, kMoment);
    QTRY_VERIFY_WITH_TIMEOUT(wizard->findChild<QPushButton*>("senderCheck")->isEnabled(), kMoment);
    picture(wizard, "9-wizard-hosts-checked");
    for (int page = 0; page < 4; ++page)
        next(wizard);
    QCOMPARE(wizard->currentId(), static_cast<int>(ExperimentWizard::PreflightId));
    auto* again = find<QPushButton>(wizard, "preflightAgain");
    QTRY_VERIFY_WITH_TIMEOUT(again->isEnabled(), kRun);
    QVERIFY(!wizard->button(QWizard::NextButton)->isEnabled());
    QVERIFY(find<QLabel>(wizard, "preflightVerdict")->text().contains(QStringLiteral("failed")));
    picture(wizard, "10-wizard-preflight-failed");
}

void TestGui::wizardToFinishedRunAndExports() {
    Experiment experiment = newExperiment();
    experiment.plan.repeatsMin = 2;
    experiment.plan.repeatsMax = 2;
    ExperimentWizard* wizard = openWizard(experiment);
    QVERIFY(wizard);
    QPointer<ExperimentWizard> guard(wizard);
    find<QLineEdit>(wizard, "experimentName")->setText(QStringLiteral("Driven by a test"));
    next(wizard);
    find<QDoubleSpinBox>(wizard, "testSeconds")->setValue(0.2);
    find<QDoubleSpinBox>(wizard, "testWarmup")->setValue(0);
    next(wizard);
    find<QLineEdit>(wizard, "axisValues0")->setText(QStringLiteral("16K 64K 256K"));
    QTest::mouseClick(find<QPushButton>(wizard, "addAxis"), Qt::LeftButton);
    find<QComboBox>(wizard, "axisKnob1")->setCurrentText(QStringLiteral("message_size"));
    find<QLineEdit>(wizard, "axisValues1")->setText(QStringLiteral("4K 64K"));
    next(wizard);
    next(wizard);
    auto* verdict = find<QLabel>(wizard, "preflightVerdict");
    QTRY_VERIFY2_WITH_TIMEOUT(verdict->text().contains(QStringLiteral("can run")),
                              qPrintable(verdict->text()), kRun);
    picture(wizard, "11-wizard-preflight");
    next(wizard);
    const QString json = find<QPlainTextEdit>(wizard, "summaryJson")->toPlainText();
    const auto parsed = parseExperiment(json.toUtf8());
    QVERIFY2(parsed, parsed ? "" : qPrintable(parsed.error().text()));
    QCOMPARE(*parsed, wizard->experiment());
    picture(wizard, "12-wizard-start");
    QTest::mouseClick(wizard->button(QWizard::FinishButton), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(guard.isNull(), kMoment);
    QCOMPARE(currentPage()->objectName(), "livePage");

    QTRY_COMPARE_WITH_TIMEOUT(currentPage()->objectName(), QStringLiteral("runPage"), kRun);
    QVERIFY2(message().isEmpty(), qPrintable(message()));
    QCOMPARE(find<QLabel>(m_window.get(), "runTitle")->text(), "Driven by a test");
    QVERIFY(find<QLabel>(m_window.get(), "runSummary")->text().contains("finished"));
    auto* plot = find<QCustomPlot>(m_window.get(), "curvePlot");
    QCOMPARE(plot->graphCount(), 2); // one series a message size
    QCOMPARE(plot->graph(0)->dataCount(), 3);
    for (const QCPGraphData& point : *plot->graph(0)->data())
        QVERIFY(point.value > 1);
    QVERIFY(find<ResultTable>(m_window.get(), "counters")->rows() > 0);
    QCOMPARE(find<ResultTable>(m_window.get(), "cells")->rows(), 6);
    QCOMPARE(find<ResultTable>(m_window.get(), "samples")->rows(), 12);
    QVERIFY(find<ResultTable>(m_window.get(), "environment")->rows() > 5);
    picture(m_window.get(), "13-run");
    auto* tabs = find<QTabWidget>(m_window.get(), "runTabs");
    for (int tab = 1; tab < tabs->count(); ++tab) {
        tabs->setCurrentIndex(tab);
        picture(m_window.get(), qPrintable(QStringLiteral("14-run-tab-%1").arg(tab)));
    }

    auto* metric = find<QComboBox>(m_window.get(), "curveMetric");
    const int cpu = metric->findData(QStringLiteral("cpu_percent"));
    QVERIFY(cpu >= 0);
    metric->setCurrentIndex(cpu);
    QCOMPARE(find<QComboBox>(m_window.get(), "curveSide")->count(), 2);
    QCOMPARE(plot->graphCount(), 2);
    metric->setCurrentIndex(metric->findData(QStringLiteral("throughput_mbit_s")));

    QTest::mouseClick(find<QPushButton>(m_window.get(), "exportFigure"), Qt::LeftButton);
    auto* figure = find<QDialog>(m_window.get(), "figureDialog");
    auto* path = find<QLineEdit>(figure, "figurePath");
    path->setText(m_dir->filePath(QStringLiteral("absent/figure.pdf")));
    QTest::mouseClick(find<QPushButton>(figure, "exportButton"), Qt::LeftButton);
    QVERIFY(find<QLabel>(figure, "figureError")->isVisible());
    picture(figure, "15-export-figure");
    const QString pdf = m_dir->filePath(QStringLiteral("figure.pdf"));
    path->setText(pdf);
    QTest::mouseClick(figure->findChild<QPushButton*>("exportButton"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(QFileInfo(pdf).size() > 1000, kMoment);
    QVERIFY(message().contains(pdf));

    QTest::mouseClick(find<QPushButton>(m_window.get(), "exportCsv"), Qt::LeftButton);
    auto* csv = find<QDialog>(m_window.get(), "csvDialog");
    const QString folder = m_dir->filePath(QStringLiteral("csv"));
    find<QLineEdit>(csv, "csvFolder")->setText(folder);
    QTest::mouseClick(find<QPushButton>(csv, "exportButton"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(message().contains(folder), kMoment);
    QFile rows(folder + QStringLiteral("/samples.csv"));
    QVERIFY(rows.open(QIODevice::ReadOnly));
    QCOMPARE(rows.readAll().trimmed().count('\n'), 12); // a header and 12 samples
}

void TestGui::brokenFileIsExplained() {
    const QString path = m_dir->filePath(QStringLiteral("broken.json"));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QVERIFY(file.write("{ \"format\": \"knobscope-experiment\", \"version\": 1, \"nmae\": 1 }") >
            0);
    file.close();
    m_window->openExperimentFile(path);
    QTRY_VERIFY_WITH_TIMEOUT(message().contains(path), kMoment);
    QVERIFY2(message().contains(QStringLiteral("nmae")), qPrintable(message()));
    QVERIFY(m_window->findChild<ExperimentWizard*>() == nullptr);
}

void TestGui::unusableDatabaseIsExplained() {
    m_window.reset();
    QFile file(m_context.database);
    m_pool->waitForDone();
    QVERIFY(file.remove());
    QVERIFY(file.open(QIODevice::WriteOnly));
    QVERIFY(file.write(QByteArray(4096, 'x')) > 0);
    file.close();
    m_window = std::make_unique<MainWindow>(m_context);
    m_window->show();
    QTRY_VERIFY_WITH_TIMEOUT(message().contains(m_context.database), kMoment);
    picture(m_window.get(), "16-unusable-database");
}

void TestGui::runsAreFilteredAndDeleted() {
    QVERIFY(storeRun(QStringLiteral("Window sweep")) > 0);
    QVERIFY(storeRun(QStringLiteral("Burst sweep")) > 0);
    find<QAction>(m_window.get(), "actionRuns")->trigger();
    auto* table = find<QTableView>(m_window.get(), "runTable");
    QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), 2, kMoment);
    picture(m_window.get(), "17-runs");
    auto* filter = find<QLineEdit>(m_window.get(), "runFilter");
    QTest::keyClicks(filter, "burst");
    QCOMPARE(table->model()->rowCount(), 1);
    table->selectRow(0);
    QTest::mouseClick(find<QPushButton>(m_window.get(), "deleteRun"), Qt::LeftButton);
    QTest::mouseClick(find<QPushButton>(m_window.get(), "deleteConfirmed"), Qt::LeftButton);
    filter->clear();
    QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), 1, kMoment);
    QCOMPARE(table->model()->index(0, 0).data().toString(), "Window sweep");

    QTest::mouseClick(find<QPushButton>(m_window.get(), "openRun"), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(currentPage()->objectName(), QStringLiteral("runPage"), kMoment);
    picture(m_window.get(), "18-run-without-samples");
}

void TestGui::resumesFromTheList() {
    Experiment experiment = newExperiment();
    experiment.name = QStringLiteral("To be resumed");
    experiment.axes[0].values = {KnobValue(QStringLiteral("16K")),
                                 KnobValue(QStringLiteral("64K"))};
    experiment.test.seconds = 0.1;
    experiment.test.warmupSeconds = 0;
    experiment.plan.repeatsMin = experiment.plan.repeatsMax = 2;
    {
        auto runs = RunRepository::open(m_context.database);
        QVERIFY(runs);
        const auto id = (*runs)->createRun(experiment, expandMatrix(experiment));
        QVERIFY(id);
        QVERIFY((*runs)->setRunState(*id, RunState::Cancelled, {}));
    }
    find<QAction>(m_window.get(), "actionRuns")->trigger();
    auto* resume = find<QPushButton>(m_window.get(), "resumeRun");
    QTRY_VERIFY_WITH_TIMEOUT(resume->isEnabled(), kMoment);
    QTest::mouseClick(resume, Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(currentPage()->objectName(), QStringLiteral("livePage"), kMoment);
    QTRY_COMPARE_WITH_TIMEOUT(currentPage()->objectName(), QStringLiteral("runPage"), kRun);
    QVERIFY2(message().isEmpty(), qPrintable(message()));
    QCOMPARE(find<ResultTable>(m_window.get(), "samples")->rows(), 4);
    QVERIFY(!find<QPushButton>(m_window.get(), "resumeThis")->isVisible());
}

void TestGui::closingWhileMeasuringAsks() {
    auto* here = find<QPushButton>(m_window.get(), "measureHere");
    QTRY_VERIFY_WITH_TIMEOUT(here->isVisible(), kMoment);
    QTest::mouseClick(here, Qt::LeftButton);
    auto* samples = find<ResultTable>(m_window.get(), "liveSamples");
    QTRY_VERIFY_WITH_TIMEOUT(samples->rows() >= 1, kRun);
    m_window->close();
    QVERIFY(m_window->isVisible());
    auto* yes = find<QPushButton>(m_window.get(), "quitConfirmed");
    QTest::mouseClick(yes, Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!m_window->isVisible(), kRun);
    auto runs = RunRepository::open(m_context.database);
    QVERIFY(runs);
    const auto list = (*runs)->listRuns();
    QVERIFY(list);
    QCOMPARE(list->size(), 1);
    QCOMPARE(list->first().state, RunState::Cancelled);
    QVERIFY(list->first().samplesDone >= 1);
}

void TestGui::lettersOfShortCutsAreUnique() {
    QTRY_VERIFY_WITH_TIMEOUT(find<QPushButton>(m_window.get(), "measureHere")->isVisible(),
                             kMoment);
    QCOMPARE(doubleLetters(m_window.get()), QStringList());
    QVERIFY(storeRun(QStringLiteral("Window sweep")) > 0);
    find<QAction>(m_window.get(), "actionRuns")->trigger();
    auto* open = find<QPushButton>(m_window.get(), "openRun");
    QTRY_VERIFY_WITH_TIMEOUT(open->isEnabled(), kMoment);
    QCOMPARE(doubleLetters(m_window.get()), QStringList());
    QTest::mouseClick(open, Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(currentPage()->objectName(), QStringLiteral("runPage"), kMoment);
    QCOMPARE(doubleLetters(m_window.get()), QStringList());
    ExperimentWizard* wizard = openWizard(newExperiment());
    QVERIFY(wizard);
    for (int page = 0; page < 4; ++page) {
        QCOMPARE(doubleLetters(wizard), QStringList());
        next(wizard);
    }
    QCOMPARE(doubleLetters(wizard), QStringList());
}

QTEST_MAIN(TestGui)
#include "tst_gui.moc"
