// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractTableModel>
#include <QIcon>

#include <optional>

namespace knobscope {

/// One cell of a read-only table.
struct TableCell {
    QString text;
    QVariant sort; ///< what to sort by; invalid: the text
    QString toolTip = {};
    QIcon icon = {};
    bool number = false; ///< aligned right
    /// What `text` writes, where it is a plain number: a column has one number of decimals.
    std::optional<double> value = {};
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

    /// Rows shorter than the header have empty cells at the end. `tips` explain the headings.
    void setTable(const QStringList& header, const QList<Row>& rows, const QStringList& tips = {});
    void appendRow(const Row& row);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                      int role) const override;

private:
    [[nodiscard]] QString textOf(const TableCell& cell, int column) const;
    void countDecimals(const Row& row);

    /// What a column's numbers need.
    struct Span {
        int needed = 0;   ///< decimals that write all of them exactly, up to 6
        double least = 0; ///< not counting zeros
        double most = 0;
    };
    QStringList m_header;
    QStringList m_tips;
    QList<Span> m_spans;
    QList<Row> m_rows;
};

} // namespace knobscope
