// SPDX-License-Identifier: GPL-3.0-or-later
#include "guifixture.h"

#include "app/gui/pages/savedhostspage.h"
#include "core/host/savedhosts.h"

#include <QAction>
#include <QComboBox>
#include <QDialog>
#include <QDialogButtonBox>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QRadioButton>
#include <QSpinBox>
#include <QTableView>

using namespace knobscope;
using namespace knobscope::guitest;

/// The page of saved hosts, and how the wizard takes from it. What is behind the buttons is tested
/// against real hosts elsewhere.
class TestGuiHosts : public QObject, private GuiFixture {
    Q_OBJECT
private slots:
    void init() {
        begin();
        m_context.hosts.savedHosts = m_dir->filePath(QStringLiteral("hosts.json"));
    }
    void cleanup() { end(); }
    void savesEditsAndDeletes();
    void saysWhatIsWrongInTheForm();
    void damagedFileStaysAsItIs();
    void testStopsWhereTheHostDoes();
    void recoverTellsOfAnUnreachableHost();
    void wizardTakesSavedHosts();

private:
    SavedHostsPage* openPage() {
        find<QAction>(m_window.get(), "actionHosts")->trigger();
        return find<SavedHostsPage>(m_window.get(), "savedHostsPage");
    }
    QDialog* dialog() { return m_window->findChild<QDialog*>("savedHostDialog"); }
    static void type(QDialog* dialog, const char* field, const QString& text) {
        auto* edit = find<QLineEdit>(dialog, field);
        edit->selectAll();
        QTest::keyClicks(edit, text);
    }
    static void save(QDialog* dialog) {
        QTest::mouseClick(dialog->findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Save),
                          Qt::LeftButton);
    }
    QList<SavedHost> saved() const { return readSavedHosts(m_context.hosts.savedHosts).value(); }
    static constexpr int kClosedPort = 1; ///< nobody listens there
    void keep(const char* name, int port = 0) {
        SavedHost host;
        host.name = QLatin1String(name);
        host.ssh = QStringLiteral("127.0.0.1");
        host.port = port;
        host.interface = QStringLiteral("test0");
        host.address = QStringLiteral("10.77.0.2");
        QList<SavedHost> hosts = saved();
        QVERIFY(writeSavedHosts(m_context.hosts.savedHosts, hosts << host));
    }
};

void TestGuiHosts::savesEditsAndDeletes() {
    SavedHostsPage* page = openPage();
    picture(m_window.get(), "hosts-none");
    QTest::mouseClick(find<QPushButton>(page, "newHostEmpty"), Qt::LeftButton);
    QVERIFY(dialog());
    QVERIFY(QTest::qWaitForWindowExposed(dialog()));
    QCOMPARE(doubleLetters(dialog()), QStringList());
    type(dialog(), "host_name", "dut");
    type(dialog(), "host_ssh", "10.0.0.5");
    type(dialog(), "host_user", "root");
    find<QSpinBox>(dialog(), "hostPort")->setValue(2222);
    type(dialog(), "host_interface", "eth1");
    type(dialog(), "host_address", "10.77.0.1");
    find<QComboBox>(dialog(), "hostSudo")->setCurrentIndex(1);
    picture(dialog(), "hosts-new");
    save(dialog());
    QCOMPARE(saved().size(), 1);
    QCOMPARE(saved().first().login(), QStringLiteral("root@10.0.0.5:2222"));
    QCOMPARE(saved().first().sudo, SudoMode::Password);
    QTRY_VERIFY(!dialog());

    auto* table = find<QTableView>(page, "hostTable");
    QVERIFY(table->isVisible());
    QCOMPARE(doubleLetters(m_window.get()), QStringList());
    picture(m_window.get(), "hosts-one");
    QTest::mouseClick(find<QPushButton>(page, "editHost"), Qt::LeftButton);
    QCOMPARE(find<QLineEdit>(dialog(), "host_name")->text(), QStringLiteral("dut"));
    type(dialog(), "host_name", "dut2");
    save(dialog());
    QCOMPARE(saved().size(), 1);
    QCOMPARE(saved().first().name, QStringLiteral("dut2"));
    QCOMPARE(saved().first().sudo, SudoMode::Password);

    QTest::mouseClick(find<QPushButton>(page, "removeHost"), Qt::LeftButton);
    QTest::keyClick(find<QMessageBox>(page, "removeQuestion"), Qt::Key_Return);
    QCOMPARE(saved().size(), 1); // nothing is deleted by mistake
    QTRY_VERIFY(!page->findChild<QMessageBox*>("removeQuestion"));
    QTest::mouseClick(find<QPushButton>(page, "removeHost"), Qt::LeftButton);
    find<QPushButton>(page, "removeConfirmed")->click();
    QCOMPARE(saved().size(), 0);
    QVERIFY(find<QPushButton>(page, "newHostEmpty")->isVisible());
}

void TestGuiHosts::saysWhatIsWrongInTheForm() {
    keep("other");
    SavedHostsPage* page = openPage();
    find<QPushButton>(page, "newHost")->click();
    save(dialog());
    QVERIFY(dialog()->isVisible());
    QVERIFY(find<QLabel>(dialog(), "host_name_error")->isVisible());
    type(dialog(), "host_name", "other");
    type(dialog(), "host_ssh", "root@x");
    save(dialog());
    QVERIFY(find<QLabel>(dialog(), "host_ssh_error")->isVisible());
    QVERIFY(!find<QLabel>(dialog(), "host_name_error")->isVisible());
    type(dialog(), "host_ssh", "x");
    save(dialog());
    QVERIFY(find<QLabel>(dialog(), "host_name_error")->text().contains("\"other\""));
    picture(dialog(), "hosts-error");
    dialog()->reject();
    QCOMPARE(saved().size(), 1);
}

void TestGuiHosts::damagedFileStaysAsItIs() {
    const QByteArray text = "{ \"knobscope_hosts\": 1, \"hosts\": [";
    QFile file(m_context.hosts.savedHosts);
    QVERIFY(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
    file.close();
    SavedHostsPage* page = openPage();
    QVERIFY2(message().contains(file.fileName()), qPrintable(message()));
    find<QPushButton>(page, "newHost")->click();
    type(dialog(), "host_name", "a");
    type(dialog(), "host_ssh", "a");
    save(dialog());
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), text);
    QVERIFY2(message().contains(file.fileName()), qPrintable(message()));
}

void TestGuiHosts::testStopsWhereTheHostDoes() {
    keep("closed", kClosedPort);
    SavedHostsPage* page = openPage();
    find<QPushButton>(page, "testHost")->click();
    auto* title = find<QLabel>(page, "hostActTitle");
    QTRY_COMPARE_WITH_TIMEOUT(title->text(), QStringLiteral("closed cannot be used"), kMoment);
    const QAbstractItemModel* steps = find<QTableView>(page, "hostSteps")->model();
    QCOMPARE(steps->rowCount(), 9);
    QCOMPARE(steps->index(1, 0).data().toString(), QStringLiteral("Connection"));
    QVERIFY(steps->index(1, 3).data().toString().contains("refuses the connection"));
    QCOMPARE(steps->index(2, 3).data().toString(), QStringLiteral("not reached"));
    picture(m_window.get(), "hosts-test");
    QVERIFY(find<QPushButton>(page, "testHost")->isEnabled());
}

void TestGuiHosts::recoverTellsOfAnUnreachableHost() {
    keep("closed", kClosedPort);
    SavedHostsPage* page = openPage();
    find<QPushButton>(page, "recoverHost")->click();
    auto* title = find<QLabel>(page, "hostActTitle");
    QTRY_COMPARE_WITH_TIMEOUT(title->text(), QStringLiteral("closed cannot be reached"), kMoment);
    const QAbstractItemModel* steps = find<QTableView>(page, "hostSteps")->model();
    QVERIFY(steps->index(1, 3).data().toString().contains("refuses the connection"));
}

void TestGuiHosts::wizardTakesSavedHosts() {
    keep("dut");
    ExperimentWizard* wizard = openWizard(newExperiment());
    QVERIFY(wizard);
    auto* choose = find<QAction>(wizard, "senderChoose");
    QVERIFY(choose->isVisible());
    QCOMPARE(choose->menu()->actions().size(), 1);
    choose->menu()->actions().first()->trigger();
    QVERIFY(find<QRadioButton>(wizard, "senderRemote")->isChecked());
    QCOMPARE(find<QLineEdit>(wizard, "senderSsh")->text(), QStringLiteral("dut"));
    QCOMPARE(find<QLineEdit>(wizard, "senderAddress")->text(), QStringLiteral("10.77.0.2"));
    QCOMPARE(find<QLineEdit>(wizard, "senderInterface")->text(), QStringLiteral("test0"));
    picture(wizard, "hosts-wizard");
}

QTEST_MAIN(TestGuiHosts)
#include "tst_guihosts.moc"
