// SPDX-License-Identifier: GPL-3.0-or-later
#include "guifixture.h"

#include "app/gui/messagebar.h"
#include "app/gui/pages/tables.h"
#include "core/model/experimentfile.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPointer>
#include <QProgressBar>
#include <QSpinBox>
#include <QTableView>

#include <qcustomplot.h>

using namespace knobscope;
using namespace knobscope::guitest;

class TestGui : public QObject, private GuiFixture {
    Q_OBJECT

private slots:
    void init() { begin(); }
    void cleanup() { end(); }
    void firstStartOffersThisComputer();
    void oneClickMeasuresAndStopKeepsWhatThereIs();
    void wizardToFinishedRunAndExports();
    void brokenFileIsExplained();
    void unusableDatabaseIsExplained();
    void runsAreFilteredAndDeleted();
    void resumesFromTheList();
    void closingWhileMeasuringAsks();
    void lettersOfShortCutsAreUnique();
};

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
    QVERIFY(samples->textAt(0, 2) != QStringLiteral("failed"));
    QVERIFY(!find<QPlainTextEdit>(m_window.get(), "liveLog")->toPlainText().isEmpty());
    picture(m_window.get(), "2-live");

    QTest::mouseClick(stop, Qt::LeftButton);
    QVERIFY(!stop->isEnabled());
    QVERIFY(m_window->findChild<QLabel*>("livePhase")->text().contains("putting knobs back"));
    QTRY_COMPARE_WITH_TIMEOUT(currentPage()->objectName(), QStringLiteral("runPage"), kRun);
    QVERIFY(message().contains(QStringLiteral("can be resumed")));
    QVERIFY(find<QPushButton>(m_window.get(), "resumeThis")->isVisible());
    const QString summary = find<QLabel>(m_window.get(), "runSummary")->text();
    QVERIFY2(summary.contains(QStringLiteral(" of 36 samples")), qPrintable(summary));
    picture(m_window.get(), "3-stopped-run");
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
    const auto curves = [plot] { // without the rings around flagged points
        int count = 0;
        for (int graph = 0; graph < plot->graphCount(); ++graph)
            count += plot->graph(graph)->lineStyle() != QCPGraph::lsNone ? 1 : 0;
        return count;
    };
    QCOMPARE(curves(), 2); // one series a message size
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
    QCOMPARE(curves(), 2);
    const auto* cells = find<ResultTable>(m_window.get(), "cells")->model();
    QCOMPARE(cells->headerData(3, Qt::Horizontal).toString(), "CPU of the sender (%)");
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
    auto* question = find<QMessageBox>(m_window.get(), "deleteQuestion");
    QCOMPARE(question->defaultButton(), question->button(QMessageBox::Cancel));
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
    auto* question = find<QMessageBox>(m_window.get(), "quitQuestion");
    QCOMPARE(question->defaultButton(), question->button(QMessageBox::Cancel));
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
