// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/models/texttablemodel.h"

#include <QFont>

#include <algorithm>
#include <cmath>

namespace knobscope {

namespace {

bool isExact(double value, int decimals) {
    const double scaled = value * std::pow(10, decimals);
    return std::abs(scaled - std::round(scaled)) < 1e-6;
}

} // namespace

void TextTableModel::setTable(const QStringList& header, const QList<Row>& rows,
                              const QStringList& tips) {
    beginResetModel();
    m_header = header;
    m_tips = tips;
    m_rows = rows;
    m_spans = QList<Span>(header.size());
    for (const Row& row : rows)
        countDecimals(row);
    endResetModel();
}

void TextTableModel::countDecimals(const Row& row) {
    for (qsizetype column = 0; column < qMin(row.size(), m_spans.size()); ++column) {
        if (!row[column].value || !std::isfinite(*row[column].value))
            continue;
        const double value = std::abs(*row[column].value);
        Span& span = m_spans[column];
        constexpr int kMostDecimals = 6;
        while (span.needed < kMostDecimals && !isExact(value, span.needed))
            ++span.needed;
        span.most = std::max(span.most, value);
        if (value > 0)
            span.least = span.least > 0 ? std::min(span.least, value) : value;
    }
}

/// Four digits of the largest number, and two of the smallest where that does not get too long.
QString TextTableModel::textOf(const TableCell& cell, int column) const {
    if (!cell.value || !std::isfinite(*cell.value) || column >= m_spans.size())
        return cell.text;
    const Span& span = m_spans[column];
    const auto digits = [](int wanted, double value) {
        return value > 0
                   ? std::clamp(wanted - 1 - static_cast<int>(std::floor(std::log10(value))), 0, 6)
                   : 0;
    };
    constexpr double kLarge = 1000;
    const int forSmall = std::min(digits(2, span.least), span.most >= kLarge ? 1 : 2);
    const int decimals = std::min(span.needed, std::max(digits(4, span.most), forSmall));
    return QString::number(*cell.value, 'f', decimals);
}

void TextTableModel::appendRow(const Row& row) {
    countDecimals(row);
    if (!m_rows.isEmpty()) // the rows above may need as many decimals
        emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1), {Qt::DisplayRole});
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
        return textOf(cell, index.column());
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
    if (role == Qt::ToolTipRole && orientation == Qt::Horizontal && section >= 0 &&
        section < m_tips.size() && !m_tips[section].isEmpty())
        return m_tips[section];
    if (role != Qt::DisplayRole || section < 0)
        return {};
    if (orientation == Qt::Vertical)
        return section + 1;
    return section < m_header.size() ? QVariant(m_header[section]) : QVariant();
}

} // namespace knobscope
