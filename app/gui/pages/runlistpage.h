// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/appcontext.h"
#include "core/model/run.h"
#include "core/result.h"

#include <QWidget>

#include <optional>

class QLineEdit;
class QPushButton;
class QSortFilterProxyModel;
class QStackedWidget;

namespace knobscope {

class RunListModel;
class RunTable;

/// First page: the runs of the database, or, when there are none, how to make one.
class RunListPage : public QWidget {
    Q_OBJECT
public:
    explicit RunListPage(const AppContext& context, QWidget* parent = nullptr);

    /// Reads the list anew, in the background.
    void reload();
    void selectRun(qint64 run);
    /// What this program is doing: no second run may begin, and `measured` (0: not known) is not
    /// to be deleted.
    void setBusy(bool busy, qint64 measured);
    [[nodiscard]] std::optional<RunInfo> selected() const;

signals:
    void loaded(int runs);
    void failed(const knobscope::Error& error);
    void selectionChanged();
    void openRequested(qint64 run);
    void resumeRequested(qint64 run);
    void deleteRequested(const knobscope::RunInfo& run);
    void newRequested();
    void measureHereRequested();

private:
    QWidget* buildList();
    QWidget* buildEmpty();
    void display(const QList<RunInfo>& runs);
    void updateButtons();
    void fitColumns();
    void openSelected();

    const AppContext& m_context;
    RunListModel* m_model;
    QSortFilterProxyModel* m_proxy;
    QStackedWidget* m_stack;
    RunTable* m_table = nullptr;
    QLineEdit* m_filter = nullptr;
    QPushButton* m_open = nullptr;
    QPushButton* m_resume = nullptr;
    QPushButton* m_delete = nullptr;
    QPushButton* m_create = nullptr;
    bool m_busy = false;
    qint64 m_measured = 0;
    qint64 m_wanted = 0; ///< to be selected when the list arrives
};

} // namespace knobscope
