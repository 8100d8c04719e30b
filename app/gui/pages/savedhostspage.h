// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/appcontext.h"
#include "core/host/hosttest.h"
#include "core/host/savedhosts.h"
#include "core/run/recovery.h"

#include <QWidget>

#include <functional>
#include <optional>

class QLabel;
class QPushButton;
class QStackedWidget;
class QTableView;

namespace knobscope {

class CheckList;
class TextTableModel;

/// The hosts that the user keeps: new, edit, delete; test each with one click, step by step; and
/// put back what a dead run left there.
class SavedHostsPage : public QWidget {
    Q_OBJECT
public:
    explicit SavedHostsPage(const AppContext& context, QWidget* parent = nullptr);
    ~SavedHostsPage() override; ///< cancels what is under way

    /// Reads the file anew.
    void reload();
    /// A run is going on: its hosts are not to be touched.
    void setBusy(bool busy);

signals:
    void failed(const knobscope::Error& error);

private:
    using Hosts = QList<SavedHost>;

    QWidget* buildList();
    QWidget* buildEmpty();
    void display(const QString& select);
    void updateButtons();
    [[nodiscard]] std::optional<SavedHost> selected() const;
    void edit(const std::optional<SavedHost>& host);
    void askAndRemove(const SavedHost& host);
    /// Changes the file as it is now, which another window may have changed.
    void change(const std::function<void(Hosts&)>& how, const QString& select);

    void test();
    void recover();
    /// Begins an act on the selected host: its steps are shown as they come.
    [[nodiscard]] HostSteps::Observer begin(const QString& title);
    void end(const QString& title);
    void showStep(int turn, const HostStep& step);
    void showSteps(const QList<HostStep>& steps);
    void say(const QString& title, bool strong);

    const AppContext& m_context;
    Hosts m_hosts;
    TextTableModel* m_model;
    QStackedWidget* m_stack;
    QTableView* m_table = nullptr;
    CheckList* m_steps = nullptr;
    QLabel* m_title = nullptr;
    QLabel* m_verdict = nullptr;
    QPushButton* m_edit = nullptr;
    QPushButton* m_remove = nullptr;
    QPushButton* m_test = nullptr;
    QPushButton* m_recover = nullptr;
    QPushButton* m_stop = nullptr;
    CancelToken m_cancel;
    QList<HostStep> m_shown;
    int m_turn = 0; ///< what belongs to an earlier one is old
    bool m_acting = false;
    bool m_busy = false;
    bool m_readable = true;
};

} // namespace knobscope
