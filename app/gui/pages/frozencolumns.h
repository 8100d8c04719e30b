// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTableView>

namespace knobscope {

/// The first columns of a table, laid over it so that they stay where they are when the table is
/// scrolled sideways. It shows the table's own model, selection and order.
class FrozenColumns : public QTableView {
    Q_OBJECT
public:
    FrozenColumns(QTableView* table, int columns);

    /// The table has another model, other sizes, or other widths of columns.
    void follow();

private:
    void takeHeader();

    QTableView* m_table;
    int m_columns;
};

} // namespace knobscope
