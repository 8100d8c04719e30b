// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/models/runtables.h"

#include <QSortFilterProxyModel>
#include <QTableView>

namespace knobscope {

class FrozenColumns;

/// A read-only table that sorts by value and filters by text: what all results tabs are made of.
/// Ctrl+C copies the selected rows with tabs between the columns.
class ResultTable : public QTableView {
    Q_OBJECT
public:
    explicit ResultTable(const char* objectName, const QString& accessibleName,
                         QWidget* parent = nullptr);

    void setTable(const Table& table);
    /// Keeps the first columns in sight.
    void freeze(int columns);
    /// The order that tables have until a header is clicked; -1: as given.
    void sortFirstBy(int column) { m_firstSort = column; }
    void appendRow(const TextTableModel::Row& row);
    /// Shows rows that have the text in any column.
    void setFilter(const QString& text);
    [[nodiscard]] int rows() const; ///< that pass the filter
    [[nodiscard]] QString textAt(int row, int column) const;

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void updateGeometries() override;

private:
    void fitColumns();
    void copySelection() const;

    QString m_filter;
    int m_firstSort = -1;
    FrozenColumns* m_frozen = nullptr;
    TextTableModel* m_model;
    QSortFilterProxyModel* m_proxy;
};

} // namespace knobscope
