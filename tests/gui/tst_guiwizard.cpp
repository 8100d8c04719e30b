// SPDX-License-Identifier: GPL-3.0-or-later
#include "guifixture.h"

#include "app/gui/wizard/problem.h"
#include "core/model/experimentfile.h"
#include "core/model/knobcatalogue.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QListWidget>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QPointer>
#include <QProgressBar>
#include <QSpinBox>
#include <QTableView>
#include <QToolButton>

using namespace knobscope;
using namespace knobscope::guitest;

class TestWizard : public QObject, private GuiFixture {
    Q_OBJECT

private slots:
    void init() { begin(); }
    void cleanup() { end(); }
    void refusesUnsoundHosts();
    void showsErrorsWhereTheyAre();
    void countsCellsAndExcludes();
    void keepsFurtherHosts();
    void keepsAnExperiment_data();
    void keepsAnExperiment();
    void preflightFailsForAnAbsentInterface();
    void beginningIsNoError();
    void saysThingsInTheWordsOfTheWindow_data();
    void saysThingsInTheWordsOfTheWindow();
    void errorsStandUnderTheirField();
    void checksOfAnotherHostAreForgotten();
    void nameFollowsTheContent();
    void numbersAreNotCorrectedInSilence();
    void asksBeforeItThrowsAway();
    void picksOnlyKnobsOfTheTest_data();
    void picksOnlyKnobsOfTheTest();
    void placeholdersFitTheKnob();
    void exclusionsStandInTheOrderOfTheAxes();
    void hugeMatrixDoesNotBlock();
};

void TestWizard::refusesUnsoundHosts() {
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
    auto* error = find<QLabel>(wizard, "receiverAddressError");
    QVERIFY(error->isVisible());
    QVERIFY(!wizard->findChild<QLabel*>("senderAddressError")->isVisible());
    QTest::keyClicks(find<QLineEdit>(wizard, "receiverAddress"), "10.77.0.2");
    QTest::keyClicks(wizard->findChild<QLineEdit*>("receiverInterface"), "test0");
    QVERIFY2(nextButton->isEnabled(), qPrintable(error->text()));
    QCOMPARE(wizard->experiment().receiver,
             (HostSpec{false, QStringLiteral("host2"), QStringLiteral("10.77.0.2"),
                       QStringLiteral("test0")}));
}

void TestWizard::showsErrorsWhereTheyAre() {
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

void TestWizard::countsCellsAndExcludes() {
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

/// They are shown and stay, though they cannot be edited here.
void TestWizard::keepsFurtherHosts() {
    Experiment experiment = newExperiment();
    const auto remote = [](int number) {
        return HostSpec{false, QStringLiteral("host%1").arg(number),
                        QStringLiteral("10.77.0.%1").arg(number), QStringLiteral("test0")};
    };
    experiment.sender = remote(1);
    experiment.moreSenders = {remote(2), remote(3)};
    experiment.receiver = remote(4);
    ExperimentWizard* wizard = openWizard(experiment);
    QVERIFY(wizard);
    auto* further = find<QLabel>(wizard, "senderFurther");
    QVERIFY(further->isVisible());
    QCOMPARE(further->text(), QStringLiteral("and 2 more: host2 (10.77.0.2), host3 (10.77.0.3)"));
    QVERIFY(!find<QLabel>(wizard, "receiverFurther")->isVisible());
    picture(wizard, "12-wizard-further-hosts");
    QVERIFY(wizard->button(QWizard::NextButton)->isEnabled());
    auto* ssh = find<QLineEdit>(wizard, "senderSsh");
    ssh->selectAll();
    QTest::keyClicks(ssh, "host3");
    QVERIFY(!wizard->button(QWizard::NextButton)->isEnabled());
    const auto* error = find<QLabel>(wizard, "senderSshError");
    QVERIFY2(error->isVisible() && error->text().contains("Host 3"), qPrintable(error->text()));
    ssh->selectAll();
    QTest::keyClicks(ssh, "host9");
    QVERIFY2(wizard->button(QWizard::NextButton)->isEnabled(), qPrintable(error->text()));
    find<QLineEdit>(wizard, "senderAddress")->clear();
    QTest::keyClicks(find<QLineEdit>(wizard, "senderAddress"), "x");
    QVERIFY(find<QLabel>(wizard, "senderAddressError")->isVisible());
    find<QLineEdit>(wizard, "senderAddress")->clear();
    QTest::keyClicks(find<QLineEdit>(wizard, "senderAddress"), "10.77.0.1");
    Experiment expected = experiment;
    expected.sender.ssh = QStringLiteral("host9");
    QVERIFY(wizard->experiment().hosts(Side::Sender) == expected.hosts(Side::Sender));
    QVERIFY(wizard->experiment().receiver == experiment.receiver);
}

void TestWizard::keepsAnExperiment_data() {
    QTest::addColumn<QString>("file");
    QTest::newRow("loopback-window") << ":/knobscope/experiments/loopback-window.json";
    QTest::newRow("burst-rr") << ":/knobscope/experiments/burst-rr.json";
    QTest::newRow("tcp-small-queues") << ":/knobscope/experiments/tcp-small-queues.json";
}

void TestWizard::keepsAnExperiment() {
    QFETCH(QString, file);
    const auto experiment = readExperimentFile(file);
    QVERIFY2(experiment, experiment ? "" : qPrintable(experiment.error().text()));
    ExperimentWizard* wizard = openWizard(*experiment);
    QVERIFY(wizard);
    QCOMPARE(wizard->experiment(), *experiment);
}

void TestWizard::preflightFailsForAnAbsentInterface() {
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

void TestWizard::beginningIsNoError() {
    ExperimentWizard* wizard = openWizard(newExperiment());
    QVERIFY(wizard);
    next(wizard);
    QTest::mouseClick(find<QPushButton>(wizard, "addOption"), Qt::LeftButton);
    QVERIFY(!find<QLabel>(wizard, "optionError0")->isVisible());
    QTRY_VERIFY(find<QLabel>(wizard, "optionTodo0")->isVisible());
    QVERIFY(!wizard->button(QWizard::NextButton)->isEnabled());
    find<QComboBox>(wizard, "optionKnob0")->setCurrentText(QStringLiteral("mss"));
    QVERIFY(!find<QLabel>(wizard, "optionError0")->isVisible());
    find<QLineEdit>(wizard, "optionValues0")->setText(QStringLiteral("x"));
    auto* error = find<QLabel>(wizard, "optionError0");
    QVERIFY(error->isVisible());
    QVERIFY2(error->text().startsWith(QStringLiteral("mss ")), qPrintable(error->text()));
    QTest::mouseClick(find<QToolButton>(wizard, "optionRemove0"), Qt::LeftButton);
    next(wizard);
    QTest::mouseClick(find<QPushButton>(wizard, "addAxis"), Qt::LeftButton);
    QVERIFY(!find<QLabel>(wizard, "axisError1")->isVisible());
    QTRY_VERIFY(find<QLabel>(wizard, "axisTodo1")->isVisible());
    QVERIFY(wizard->findChild<QComboBox*>("excludeValue1") == nullptr);
    QVERIFY(!wizard->button(QWizard::NextButton)->isEnabled());
    picture(wizard, "19-wizard-row-begun");
}

void TestWizard::saysThingsInTheWordsOfTheWindow_data() {
    QTest::addColumn<QString>("what");
    QTest::addColumn<QString>("said");
    QTest::newRow("no host") << "ssh"
                             << "Give a name that ssh knows, or choose this computer.";
    QTest::newRow("no address") << "address"
                                << "Give the address of the sender in the test network.";
    QTest::newRow("no interface") << "interface"
                                  << "Give the interface that has the test address.";
    QTest::newRow("value twice") << "twice"
                                 << "\"32768\" is there already: it is the same as value 1, "
                                    "\"32K\".";
    QTest::newRow("repeats") << "repeats"
                             << "The most, 2, are fewer than the fewest, 5.";
    QTest::newRow("no time") << "seconds"
                             << "The measured time must be 0.01 or more";
    QTest::newRow("other test") << "kind"
                                << "burst means nothing to a TCP stream test; it belongs to TCP "
                                   "request/response or UDP request/response.";
}

void TestWizard::saysThingsInTheWordsOfTheWindow() {
    QFETCH(QString, what);
    QFETCH(QString, said);
    Experiment experiment = newExperiment();
    if (what == "ssh")
        experiment.sender.local = false;
    else if (what == "address")
        experiment.sender.address.clear();
    else if (what == "interface")
        experiment.sender.interface.clear();
    else if (what == "twice")
        experiment.axes[0].values.append(KnobValue(qint64{32768}));
    else if (what == "repeats")
        experiment.plan.repeatsMax = 2;
    else if (what == "seconds")
        experiment.test.seconds = 0;
    else if (what == "kind")
        experiment.axes[0].knob = QStringLiteral("burst");
    const auto problem = problemOf(experiment);
    QVERIFY(problem);
    QVERIFY2(problem->text.startsWith(said), qPrintable(problem->text));
    QVERIFY2(!problem->text.contains(QStringLiteral("[")), qPrintable(problem->text));
}

void TestWizard::errorsStandUnderTheirField() {
    ExperimentWizard* wizard = openWizard(newExperiment());
    QVERIFY(wizard);
    auto* check = find<QPushButton>(wizard, "senderCheck");
    const QPoint before = check->mapTo(wizard, QPoint());
    find<QLineEdit>(wizard, "senderAddress")->clear();
    QTest::keyClicks(find<QLineEdit>(wizard, "senderAddress"), "x");
    auto* error = find<QLabel>(wizard, "senderAddressError");
    QVERIFY(error->isVisible());
    QVERIFY(!find<QLabel>(wizard, "senderInterfaceError")->isVisible());
    QCoreApplication::processEvents();
    const int under = error->mapTo(wizard, QPoint()).y();
    QVERIFY(under > find<QLineEdit>(wizard, "senderAddress")->mapTo(wizard, QPoint()).y());
    QVERIFY(under < find<QLineEdit>(wizard, "senderInterface")->mapTo(wizard, QPoint()).y());
    QCOMPARE(check->mapTo(wizard, QPoint()), before); // nothing moves under the mouse
    picture(wizard, "20-wizard-host-error");
}

void TestWizard::checksOfAnotherHostAreForgotten() {
    ExperimentWizard* wizard = openWizard(newExperiment());
    QVERIFY(wizard);
    auto* check = find<QPushButton>(wizard, "senderCheck");
    auto* busy = find<QProgressBar>(wizard, "hostBusy");
    auto* checks = find<QTableView>(wizard, "hostChecks");
    check->setFocus();
    QTest::mouseClick(check, Qt::LeftButton);
    QVERIFY(busy->isVisible());
    QVERIFY(check->text().contains(QStringLiteral("Checking")));
    QVERIFY(check->hasFocus());
    QTRY_VERIFY_WITH_TIMEOUT(checks->model()->rowCount() > 0, kMoment);
    QVERIFY(!busy->isVisible());
    QVERIFY(check->hasFocus());
    QTest::keyClicks(find<QLineEdit>(wizard, "receiverInterface"), "1");
    QVERIFY(checks->model()->rowCount() > 0); // nothing was said about the receiver
    QTest::keyClicks(find<QLineEdit>(wizard, "senderInterface"), "1");
    QCOMPARE(checks->model()->rowCount(), 0);
    QTest::mouseClick(check, Qt::LeftButton);
    QTest::keyClick(find<QLineEdit>(wizard, "senderInterface"), Qt::Key_Backspace);
    QVERIFY(!busy->isVisible()); // what that check finds is of no interest any more
    m_pool->waitForDone();
    QCoreApplication::processEvents();
    QCOMPARE(checks->model()->rowCount(), 0);
}

void TestWizard::nameFollowsTheContent() {
    ExperimentWizard* wizard = openWizard(newExperiment());
    QVERIFY(wizard);
    auto* name = find<QLineEdit>(wizard, "experimentName");
    QCOMPARE(name->text(), "Window, TCP stream on this computer");
    next(wizard);
    find<QComboBox>(wizard, "testKind")->setCurrentIndex(1);
    QCOMPARE(name->text(), "Window, TCP request/response on this computer");
    next(wizard);
    find<QComboBox>(wizard, "axisKnob0")->setCurrentText(QStringLiteral("burst"));
    QCOMPARE(name->text(), "Burst, TCP request/response on this computer");
    name->setText(QStringLiteral("Mine"));
    find<QComboBox>(wizard, "axisKnob0")->setCurrentText(QStringLiteral("streams"));
    QCOMPARE(wizard->experiment().name, "Mine");
}

void TestWizard::numbersAreNotCorrectedInSilence() {
    ExperimentWizard* wizard = openWizard(newExperiment());
    QVERIFY(wizard);
    next(wizard);
    auto* seconds = find<QDoubleSpinBox>(wizard, "testSeconds");
    seconds->setFocus();
    seconds->selectAll();
    QTest::keyClicks(seconds, "0");
    QTest::keyClick(seconds, Qt::Key_Tab);
    QCOMPARE(seconds->value(), 0.0);
    QVERIFY(find<QLabel>(wizard, "testError")->isVisible());
    QVERIFY(!wizard->button(QWizard::NextButton)->isEnabled());
    picture(wizard, "21-wizard-no-time");
    seconds->setValue(0.25);
    QVERIFY(seconds->text().startsWith(QStringLiteral("0.25 ")));
    next(wizard);
    next(wizard);
    auto* seed = find<QLineEdit>(wizard, "seed");
    seed->setFocus();
    seed->selectAll();
    QTest::keyClick(seed, Qt::Key_Delete);
    auto* error = find<QLabel>(wizard, "planError");
    QVERIFY(error->isVisible());
    QVERIFY(!wizard->button(QWizard::NextButton)->isEnabled());
    picture(wizard, "22-wizard-no-seed");
    QTest::keyClicks(seed, "99999999999999999999"); // more than 64 bits
    QVERIFY(error->isVisible());
    seed->selectAll();
    QTest::keyClicks(seed, "18446744073709551615");
    QVERIFY(!error->isVisible());
    QCOMPARE(wizard->experiment().plan.seed, std::numeric_limits<quint64>::max());
    find<QSpinBox>(wizard, "repeatsMin")->setValue(0);
    QVERIFY2(error->text().startsWith(QStringLiteral("The fewest repeats must be")),
             qPrintable(error->text()));
}

void TestWizard::asksBeforeItThrowsAway() {
    QPointer<ExperimentWizard> wizard = openWizard(newExperiment());
    QVERIFY(wizard);
    QTest::keyClick(wizard, Qt::Key_Escape);
    QTRY_VERIFY_WITH_TIMEOUT(wizard.isNull(), kMoment); // nothing was entered
    wizard = openWizard(newExperiment());
    QVERIFY(wizard);
    QTest::keyClicks(find<QLineEdit>(wizard, "senderInterface"), "1");
    QTest::keyClick(wizard, Qt::Key_Escape);
    auto* question = find<QMessageBox>(wizard, "discardQuestion");
    QVERIFY(wizard->isVisible());
    QCOMPARE(question->defaultButton(), question->button(QMessageBox::Cancel));
    QTest::mouseClick(question->button(QMessageBox::Cancel), Qt::LeftButton);
    QVERIFY(wizard->isVisible());
    QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    QTest::keyClick(wizard, Qt::Key_Escape);
    QTest::mouseClick(find<QPushButton>(wizard, "discardConfirmed"), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(wizard.isNull(), kMoment);
}

void TestWizard::picksOnlyKnobsOfTheTest_data() {
    QTest::addColumn<QString>("kind");
    for (const char* kind : {"tcp_stream", "tcp_rr", "tcp_crr", "udp_stream", "udp_rr"})
        QTest::newRow(kind) << kind;
}

void TestWizard::picksOnlyKnobsOfTheTest() {
    QFETCH(QString, kind);
    ExperimentWizard* wizard = openWizard(newExperiment());
    QVERIFY(wizard);
    next(wizard);
    auto* kinds = find<QComboBox>(wizard, "testKind");
    kinds->setCurrentIndex(kinds->findData(kind));
    QTest::mouseClick(find<QPushButton>(wizard, "addOption"), Qt::LeftButton);
    for (const char* picker : {"optionKnob0", "axisKnob0"}) {
        auto* knobs = find<QComboBox>(wizard, picker);
        QVERIFY(knobs->count() > 10);
        for (int i = 0; i < knobs->count(); ++i) {
            const auto knob = findKnob(knobs->itemText(i));
            QVERIFY2(knob && fitsTest(*knob, kind), qPrintable(knobs->itemText(i)));
        }
    }
    QCOMPARE(find<QComboBox>(wizard, "axisKnob0")->currentText(), "window"); // as it was
    QVERIFY(find<QComboBox>(wizard, "optionKnob0")->currentText().isEmpty());
    picture(wizard, qPrintable(QStringLiteral("23-wizard-test-%1").arg(kind)));
}

void TestWizard::placeholdersFitTheKnob() {
    ExperimentWizard* wizard = openWizard(newExperiment());
    QVERIFY(wizard);
    next(wizard);
    QTest::mouseClick(find<QPushButton>(wizard, "addOption"), Qt::LeftButton);
    auto* knob = find<QComboBox>(wizard, "optionKnob0");
    auto* value = find<QLineEdit>(wizard, "optionValues0");
    QVERIFY(value->placeholderText().isEmpty());
    for (int i = 0; i < knob->count(); ++i) {
        const auto info = knobInfo(knob->itemText(i));
        QVERIFY(info);
        knob->setCurrentIndex(i);
        const QString example = value->placeholderText();
        QVERIFY2(example.isEmpty() || checkKnobValue(*info, KnobValue(example)),
                 qPrintable(info->name));
    }
}

void TestWizard::exclusionsStandInTheOrderOfTheAxes() {
    Experiment experiment = newExperiment();
    experiment.axes[0].values = {KnobValue(QStringLiteral("32K"))};
    experiment.axes.append({QStringLiteral("sysctl:net.ipv4.tcp_limit_output_bytes"),
                            Side::Sender,
                            {KnobValue(qint64{16384}), KnobValue(qint64{65536})}});
    experiment.axes.append(
        {QStringLiteral("message_size"), Side::Both, {KnobValue(QStringLiteral("4K"))}});
    experiment.exclude = {
        {{QStringLiteral("message_size"), KnobValue(QStringLiteral("4K"))},
         {QStringLiteral("sysctl:net.ipv4.tcp_limit_output_bytes"), KnobValue(qint64{16384})},
         {QStringLiteral("window"), KnobValue(QStringLiteral("32K"))}}};
    ExperimentWizard* wizard = openWizard(experiment);
    QVERIFY(wizard);
    QCOMPARE(find<QListWidget>(wizard, "exclusions")->item(0)->text(),
             "Window = 32K,  tcp_limit_output_bytes = 16384,  Message size = 4K");
}

/// Two knobs of a thousand values each, and an exclusion that has to be looked for.
void TestWizard::hugeMatrixDoesNotBlock() {
    Experiment experiment = newExperiment();
    experiment.axes = {{QStringLiteral("window"), Side::Both, {}},
                       {QStringLiteral("message_size"), Side::Both, {}}};
    for (Axis& axis : experiment.axes) {
        for (qint64 value = 1; value <= 1000; ++value)
            axis.values.append(KnobValue(value * 1000));
    }
    experiment.exclude = {{{QStringLiteral("window"), KnobValue(qint64{1000})},
                           {QStringLiteral("message_size"), KnobValue(qint64{1000})}}};
    ExperimentWizard* wizard = openWizard(experiment);
    QVERIFY(wizard);
    QElapsedTimer timer;
    timer.start();
    auto* values = find<QLineEdit>(wizard, "axisValues1");
    for (int key = 0; key < 20; ++key)
        values->setText(values->text() + QStringLiteral(" %1").arg(2000000 + key));
    QVERIFY2(timer.elapsed() < 2000, qPrintable(QString::number(timer.elapsed())));
    QTRY_VERIFY_WITH_TIMEOUT(
        find<QLabel>(wizard, "matrixEstimate")->text().contains(QStringLiteral("not complete")),
        kMoment);
}

QTEST_MAIN(TestWizard)
#include "tst_guiwizard.moc"
