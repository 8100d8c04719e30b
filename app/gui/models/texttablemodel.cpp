// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/models/texttablemodel.h"

#include <QFont>

namespace knobscope {

void TextTableModel::setTable(const QStringList& header, const QList<Row>& rows) {
    beginResetModel();
    m_header = header;
    m_rows = rows;
    endResetModel();
}

void TextTableModel::appendRow(const Row& row) {
    const auto at = static_cast<int>(m_rows.size());
    beginInsertRows({}, at, at);
    m_rows.append(row);
    endInsertRows();
}

int TextTableModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int TextTableModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_header.size());
}

QVariant TextTableModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const Row& row = m_rows[index.row()];
    if (index.column() >= row.size())
        return {};
    const TableCell& cell = row[index.column()];
    switch (role) {
    case Qt::DisplayRole:
        return cell.text;
    case kSortRole:
        return cell.sort.isValid() ? cell.sort : QVariant(cell.text);
    case Qt::ToolTipRole:
        return cell.toolTip.isEmpty() ? QVariant() : cell.toolTip;
    case Qt::DecorationRole:
        return cell.icon.isNull() ? QVariant() : QVariant(cell.icon);
    case Qt::TextAlignmentRole:
        return QVariant::fromValue((cell.number ? Qt::AlignRight : Qt::AlignLeft) |
                                   Qt::AlignVCenter);
    case Qt::FontRole:
        if (cell.strong) {
            QFont font;
            font.setBold(true);
            return font;
        }
        return {};
    default:
        return {};
    }
}

QVariant TextTableModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role == Qt::TextAlignmentRole && orientation == Qt::Horizontal && !m_rows.isEmpty()) {
        const Row& first = m_rows.first(); // a heading stands where its numbers stand
        const bool number = section >= 0 && section < first.size() && first[section].number;
        return QVariant::fromValue((number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole || section < 0)
        return {};
    if (orientation == Qt::Vertical)
        return section + 1;
    return section < m_header.size() ? QVariant(m_header[section]) : QVariant();
}

} // namespace knobscope
