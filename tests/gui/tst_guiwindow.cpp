// SPDX-License-Identifier: GPL-3.0-or-later
#include "guifixture.h"

#include "app/gui/looks.h"
#include "app/gui/pages/liveplot.h"
#include "app/gui/pages/tables.h"

#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QScopeGuard>
#include <QScreen>
#include <QTableView>

#include <qcustomplot.h>

using namespace knobscope;
using namespace knobscope::guitest;

/// What holds for the window whatever is measured: sizes, messages, questions, colours.
class TestWindow : public QObject, private GuiFixture {
    Q_OBJECT

private slots:
    void init() { begin(); }
    void cleanup() { end(); }
    void longTextsDoNotWidenTheWindow();
    void windowsFitTheScreen();
    void runBeingMeasuredIsNotDeleted();
    void messagesGoWithTheirPage();
    void exportsAskBeforeTheyReplace();
    void filtersWithoutMatchSaySo();
    void darkWindowsAreDarkThroughout();
    void leftoverIntervalsAreNotDrawn();

private:
    qint64 storeMeasuredRun();
};

/// Two cells with two samples each, one of them not measured.
qint64 TestWindow::storeMeasuredRun() {
    auto runs = RunRepository::open(m_context.database);
    if (!runs)
        return 0;
    Experiment experiment = newExperiment();
    experiment.axes[0].values = {KnobValue(QStringLiteral("32K")),
                                 KnobValue(QStringLiteral("64K"))};
    const auto id = (*runs)->createRun(experiment, expandMatrix(experiment));
    if (!id)
        return 0;
    for (int order = 0; order < 3; ++order) {
        SampleRecord sample;
        sample.cell = order % 2;
        sample.block = order / 2;
        sample.order = order;
        sample.started = QDateTime(QDate(2026, 1, 1 + order), QTime(12, 0), Qt::UTC);
        sample.ended = sample.started.addSecs(2);
        sample.metrics = {{Side::Whole, QStringLiteral("throughput_mbit_s"), 900.0 + order}};
        sample.deltas = {{Side::Sender, QStringLiteral("netstat"), QStringLiteral("TcpOutSegs"),
                          1000 * (order + 1)}};
        if (!(*runs)->addSample(*id, sample))
            return 0;
    }
    return (*runs)->setRunState(*id, RunState::Cancelled, {}) ? *id : 0;
}

void TestWindow::longTextsDoNotWidenTheWindow() {
    const QString path = QStringLiteral("/a/very/long/path").repeated(60);
    find<QLabel>(m_window.get(), "livePhase")->setText(QString(3000, QLatin1Char('x')));
    find<QLabel>(m_window.get(), "liveCell")->setText(QString(3000, QLatin1Char('x')));
    find<QLabel>(m_window.get(), "runTitle")->setText(QString(3000, QLatin1Char('x')));
    find<QLabel>(m_window.get(), "runSummary")->setText(QString(3000, QLatin1Char('x')));
    find<QLabel>(m_window.get(), "curveNote")->setText(QStringLiteral("words ").repeated(200));
    m_window->findChild<MessageBar*>()->showMessage(MessageBar::Kind::Failure, path, path);
    QCOMPARE(message(), path + QLatin1Char('\n') + path);
    QCoreApplication::processEvents();
    QVERIFY2(m_window->minimumSizeHint().width() <= 800,
             qPrintable(QString::number(m_window->minimumSizeHint().width())));
    m_window->findChild<MessageBar*>()->clear();
    QCoreApplication::processEvents();
    QVERIFY2(m_window->minimumSizeHint().height() <= 600,
             qPrintable(QString::number(m_window->minimumSizeHint().height())));
}

void TestWindow::windowsFitTheScreen() {
    const QSize room = m_window->screen()->availableGeometry().size();
    QVERIFY(m_window->width() <= room.width() && m_window->height() <= room.height());
    ExperimentWizard* wizard = openWizard(newExperiment());
    QVERIFY(wizard);
    QVERIFY(wizard->width() <= room.width() && wizard->height() <= room.height());
}

void TestWindow::runBeingMeasuredIsNotDeleted() {
    QVERIFY(storeRun(QStringLiteral("An older one")) > 0);
    ExperimentWizard* wizard = openWizard(newExperiment());
    QVERIFY(wizard);
    emit wizard->startRequested(wizard->experiment(), {});
    wizard->close();
    auto* samples = find<ResultTable>(m_window.get(), "liveSamples");
    QTRY_VERIFY_WITH_TIMEOUT(samples->rows() >= 1, kRun);
    find<QAction>(m_window.get(), "actionRuns")->trigger();
    auto* table = find<QTableView>(m_window.get(), "runTable");
    QTRY_COMPARE_WITH_TIMEOUT(table->model()->rowCount(), 2, kMoment);
    const auto rowOf = [&](const QString& state) {
        for (int row = 0; row < table->model()->rowCount(); ++row) {
            if (table->model()->index(row, 1).data().toString() == state)
                return row;
        }
        return -1;
    };
    table->selectRow(rowOf(QStringLiteral("running")));
    auto* remove = find<QPushButton>(m_window.get(), "deleteRun");
    QVERIFY(!remove->isEnabled());
    QVERIFY(!remove->toolTip().isEmpty());
    picture(m_window.get(), "24-runs-while-measuring");
    // The list follows the run.
    const auto samplesText = [&] {
        return table->model()->index(rowOf(QStringLiteral("running")), 5).data().toString();
    };
    const QString before = samplesText();
    QTRY_VERIFY_WITH_TIMEOUT(samplesText() != before, kRun);
    QVERIFY(!remove->isEnabled()); // still selected
    table->selectRow(rowOf(QStringLiteral("finished")));
    QVERIFY(remove->isEnabled());
    find<QAction>(m_window.get(), "actionStop")->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(message().contains(QStringLiteral("was stopped")), kRun);
    QVERIFY2(message().contains(QStringLiteral("\"Window, TCP stream on this computer\"")),
             qPrintable(message()));
}

void TestWindow::messagesGoWithTheirPage() {
    const qint64 run = storeMeasuredRun();
    QVERIFY(run > 0);
    find<QAction>(m_window.get(), "actionRuns")->trigger();
    auto* open = find<QPushButton>(m_window.get(), "openRun");
    QTRY_VERIFY_WITH_TIMEOUT(open->isEnabled(), kMoment);
    QTest::mouseClick(open, Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(currentPage()->objectName(), QStringLiteral("runPage"), kMoment);
    const QString summary = find<QLabel>(m_window.get(), "runSummary")->text();
    QVERIFY2(summary.contains(QStringLiteral("3 of 10 samples")), qPrintable(summary));
    QVERIFY2(summary.contains(QStringLiteral("measured for 6 s")), qPrintable(summary));
    QVERIFY2(summary.contains(QStringLiteral("TCP stream")), qPrintable(summary));
    QTest::mouseClick(find<QPushButton>(m_window.get(), "exportCsv"), Qt::LeftButton);
    auto* csv = find<QDialog>(m_window.get(), "csvDialog");
    find<QLineEdit>(csv, "csvFolder")->setText(m_dir->filePath(QStringLiteral("csv")));
    QTest::mouseClick(find<QPushButton>(csv, "exportButton"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(!message().isEmpty(), kMoment);
    find<QAction>(m_window.get(), "actionRuns")->trigger();
    QVERIFY2(message().isEmpty(), qPrintable(message()));
}

void TestWindow::exportsAskBeforeTheyReplace() {
    QVERIFY(storeMeasuredRun() > 0);
    find<QAction>(m_window.get(), "actionRuns")->trigger();
    auto* open = find<QPushButton>(m_window.get(), "openRun");
    QTRY_VERIFY_WITH_TIMEOUT(open->isEnabled(), kMoment);
    QTest::mouseClick(open, Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(currentPage()->objectName(), QStringLiteral("runPage"), kMoment);
    const QString path = m_dir->filePath(QStringLiteral("figure.pdf"));
    const auto writeFile = [](const QString& name) {
        QFile file(name);
        return file.open(QIODevice::WriteOnly) && file.write("mine") == 4;
    };
    QVERIFY(writeFile(path));
    QTest::mouseClick(find<QPushButton>(m_window.get(), "exportFigure"), Qt::LeftButton);
    auto* figure = find<QDialog>(m_window.get(), "figureDialog");
    find<QLineEdit>(figure, "figurePath")->setText(path);
    auto* write = find<QPushButton>(figure, "exportButton");
    QTest::mouseClick(write, Qt::LeftButton);
    auto* question = find<QMessageBox>(figure, "replaceQuestion");
    QCOMPARE(question->defaultButton(), question->button(QMessageBox::Cancel));
    picture(question, "25-export-replace");
    QTest::mouseClick(question->button(QMessageBox::Cancel), Qt::LeftButton);
    QCOMPARE(QFileInfo(path).size(), 4);
    QVERIFY(figure->isVisible());
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    QTest::mouseClick(write, Qt::LeftButton);
    QTest::mouseClick(find<QPushButton>(figure, "replaceConfirmed"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(QFileInfo(path).size() > 1000, kMoment);

    QVERIFY(writeFile(m_dir->filePath(QStringLiteral("cells.csv"))));
    QTest::mouseClick(find<QPushButton>(m_window.get(), "exportCsv"), Qt::LeftButton);
    auto* csv = find<QDialog>(m_window.get(), "csvDialog");
    auto* replaced = find<QLabel>(csv, "csvReplaced");
    QVERIFY(!replaced->isVisible());
    find<QLineEdit>(csv, "csvFolder")->setText(m_dir->path());
    QVERIFY(replaced->isVisible());
    QVERIFY2(replaced->text().endsWith(QStringLiteral(": cells.csv")),
             qPrintable(replaced->text()));
    QVERIFY(!find<QPushButton>(csv, "exportButton")->isDefault());
    picture(csv, "26-export-csv-replaces");
}

void TestWindow::filtersWithoutMatchSaySo() {
    QVERIFY(storeMeasuredRun() > 0);
    find<QAction>(m_window.get(), "actionRuns")->trigger();
    auto* open = find<QPushButton>(m_window.get(), "openRun");
    QTRY_VERIFY_WITH_TIMEOUT(open->isEnabled(), kMoment);
    auto* filter = find<QLineEdit>(m_window.get(), "runFilter");
    filter->setText(QStringLiteral("no such run"));
    QVERIFY(!open->isEnabled());
    picture(m_window.get(), "27-no-run-matches");
    filter->clear();
    find<QTableView>(m_window.get(), "runTable")->selectRow(0);
    QTest::mouseClick(open, Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(currentPage()->objectName(), QStringLiteral("runPage"), kMoment);
    auto* counters = find<ResultTable>(m_window.get(), "counters");
    auto* frozen = find<QTableView>(m_window.get(), "countersFrozen");
    QVERIFY(frozen->isVisible());
    QVERIFY(!frozen->isColumnHidden(3) && frozen->isColumnHidden(4));
    QCOMPARE(counters->horizontalHeader()->sortIndicatorSection(), 3);
    QCOMPARE(counters->rows(), 1);
    find<QLineEdit>(m_window.get(), "counterFilter")->setText(QStringLiteral("nothing"));
    QCOMPARE(counters->rows(), 0);
    picture(m_window.get(), "28-no-counter-matches");
}

/// A dark theme without a colour for hints, as some are.
void TestWindow::darkWindowsAreDarkThroughout() {
    const QPalette before = QApplication::palette();
    QPalette dark(QColor(0x31, 0x36, 0x3b));
    dark.setColor(QPalette::Base, QColor(0x23, 0x26, 0x29));
    dark.setColor(QPalette::AlternateBase, QColor(0x2b, 0x2f, 0x33));
    dark.setColor(QPalette::PlaceholderText, QColor(0, 0, 0, 128));
    QApplication::setPalette(withReadableHints(dark));
    const auto restore = qScopeGuard([&] { QApplication::setPalette(before); });
    end();
    begin(); // icons are drawn when the window is made
    QVERIFY(storeMeasuredRun() > 0);
    find<QAction>(m_window.get(), "actionRuns")->trigger();
    auto* open = find<QPushButton>(m_window.get(), "openRun");
    QTRY_VERIFY_WITH_TIMEOUT(open->isEnabled(), kMoment);
    picture(m_window.get(), "29-dark-runs");
    QTest::mouseClick(open, Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(currentPage()->objectName(), QStringLiteral("runPage"), kMoment);
    picture(m_window.get(), "30-dark-run");
    auto* plot = find<QCustomPlot>(m_window.get(), "curvePlot");
    QVERIFY(plot->grab().toImage().pixelColor(3, 3).lightness() < 80);
    auto* live = find<QCustomPlot>(m_window.get(), "livePlot");
    QVERIFY(live->grab().toImage().pixelColor(3, 3).lightness() < 80);
    QVERIFY(live->xAxis->tickLabelColor().lightness() > 150);
    ExperimentWizard* wizard = openWizard(newExperiment());
    QVERIFY(wizard);
    picture(wizard, "31-dark-wizard");
}

/// The last interval of a sample may be a sliver: its rate is noise, and would look like a spike.
void TestWindow::leftoverIntervalsAreNotDrawn() {
    LivePlot plot;
    plot.begin(false, 0.31);
    for (const double end : {0.1, 0.2, 0.3, 0.301}) {
        for (const Side side : {Side::Sender, Side::Receiver})
            plot.add({side, end, end > 0.3 ? 90000.0 : 900.0, 0});
    }
    QCOMPARE(plot.graph(0)->dataCount(), 3);
    QCOMPARE(plot.graph(1)->dataCount(), 3);
    QVERIFY(plot.yAxis->range().upper < 2000);
    plot.begin(false, 0.31); // a new sample begins anew
    plot.add({Side::Sender, 0.1, 900, 0});
    QCOMPARE(plot.graph(0)->dataCount(), 1);
}

QTEST_MAIN(TestWindow)
#include "tst_guiwindow.moc"
