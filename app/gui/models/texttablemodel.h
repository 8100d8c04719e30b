// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QIcon>

namespace knobscope {

/// One cell of a read-only table.
struct TableCell {
    QString text;
    QVariant sort; ///< what to sort by; invalid: the text
    QString toolTip = {};
    QIcon icon = {};
    bool number = false; ///< aligned right
    bool strong = false; ///< bold: something the reader must see
};

/// A read-only table of ready-made cells: what the results tabs show. The functions that make the
/// rows know the domain; the model knows Qt.
class TextTableModel : public QAbstractTableModel {
    Q_OBJECT
public:
    static constexpr int kSortRole = Qt::UserRole;
    using Row = QList<TableCell>;

    using QAbstractTableModel::QAbstractTableModel;

    /// Rows shorter than the header have empty cells at the end.
    void setTable(const QStringList& header, const QList<Row>& rows);
    void appendRow(const Row& row);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                      int role) const override;

private:
    QStringList m_header;
    QList<Row> m_rows;
};

} // namespace knobscope
