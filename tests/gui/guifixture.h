// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/mainwindow.h"
#include "app/gui/messagebar.h"
#include "app/gui/wizard/experimentwizard.h"
#include "db/runrepository.h"

#include <QAbstractButton>
#include <QLabel>
#include <QMenuBar>
#include <QPushButton>
#include <QStackedWidget>
#include <QTabBar>
#include <QTemporaryDir>
#include <QtTest>

#include <memory>

/// A window with a database of its own, and what tests do with it.
namespace knobscope::guitest {

inline constexpr int kMoment = 10000; ///< for what takes no measuring
inline constexpr int kRun = 60000;    ///< for a run of a few short samples

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
inline void picture(QWidget* widget, const char* name) {
    const QString folder = qEnvironmentVariable("KNOBSCOPE_SCREENSHOTS");
    if (folder.isEmpty())
        return;
    QCoreApplication::processEvents(); // what was just added is laid out then
    widget->grab().save(QStringLiteral("%1/%2.png").arg(folder, QLatin1String(name)));
}

/// Letters (after &) that two visible widgets or menus of a window claim, with their texts.
inline QStringList doubleLetters(QWidget* window) {
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

class GuiFixture {
protected:
    void begin() {
        m_dir = std::make_unique<QTemporaryDir>();
        m_pool = std::make_unique<QThreadPool>();
        m_context = AppContext();
        m_context.database = m_dir->filePath(QStringLiteral("runs.db"));
        m_context.pool = m_pool.get();
        m_window = std::make_unique<MainWindow>(m_context);
        m_window->show();
    }

    void end() {
        m_window.reset();
        m_pool->waitForDone();
        m_pool.reset();
        m_dir.reset();
    }

    [[nodiscard]] QWidget* currentPage() const {
        return m_window->findChild<QStackedWidget*>(QStringLiteral("pages"))->currentWidget();
    }

    [[nodiscard]] QString message() const { return m_window->findChild<MessageBar*>()->text(); }

    ExperimentWizard* openWizard(const Experiment& experiment) {
        m_window->openWizard(experiment);
        auto* wizard = m_window->findChild<ExperimentWizard*>();
        if (wizard != nullptr && QTest::qWaitForWindowExposed(wizard))
            return wizard;
        return nullptr;
    }

    void next(ExperimentWizard* wizard) {
        auto* button = wizard->button(QWizard::NextButton);
        QTRY_VERIFY_WITH_TIMEOUT(button->isEnabled(), kMoment);
        const int before = wizard->currentId();
        QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(wizard->currentId(), before + 1);
    }

    /// A finished run without samples, straight into the database.
    qint64 storeRun(const QString& name) {
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

    std::unique_ptr<QTemporaryDir> m_dir;
    std::unique_ptr<QThreadPool> m_pool;
    AppContext m_context;
    std::unique_ptr<MainWindow> m_window;
};

} // namespace knobscope::guitest
