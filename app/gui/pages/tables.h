// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/models/runtables.h"

#include <QSortFilterProxyModel>
#include <QTableView>

namespace knobscope {

/// A read-only table that sorts by value and filters by text: what all results tabs are made of.
/// Ctrl+C copies the selected rows with tabs between the columns.
class ResultTable : public QTableView {
    Q_OBJECT
public:
    explicit ResultTable(const char* objectName, const QString& accessibleName,
                         QWidget* parent = nullptr);

    void setTable(const Table& table);
    void appendRow(const TextTableModel::Row& row);
    /// Shows rows that have the text in any column.
    void setFilter(const QString& text);
    [[nodiscard]] int rows() const; ///< that pass the filter
    [[nodiscard]] QString textAt(int row, int column) const;

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void fitColumns();
    void copySelection() const;

    TextTableModel* m_model;
    QSortFilterProxyModel* m_proxy;
};

} // namespace knobscope
