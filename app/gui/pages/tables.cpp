// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/pages/tables.h"

#include "app/gui/looks.h"
#include "app/gui/pages/frozencolumns.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>

namespace knobscope {
namespace {

constexpr int kWidestColumn = 360;
constexpr int kRowsFitted = 20;    ///< a table that grows keeps its columns after so many
constexpr int kRowsMeasured = 100; ///< for the widths of the columns

} // namespace

ResultTable::ResultTable(const char* objectName, const QString& accessibleName, QWidget* parent)
    : QTableView(parent), m_model(new TextTableModel(this)),
      m_proxy(new QSortFilterProxyModel(this)) {
    setObjectName(objectName);
    setAccessibleName(accessibleName);
    m_proxy->setSourceModel(m_model);
    m_proxy->setSortRole(TextTableModel::kSortRole);
    m_proxy->setFilterKeyColumn(-1);
    m_proxy->setFilterCaseSensitivity(Qt::CaseInsensitive);
    setModel(m_proxy);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setEditTriggers(QAbstractItemView::NoEditTriggers);
    setAlternatingRowColors(true);
    setShowGrid(false);
    setWordWrap(false);
    setTabKeyNavigation(false);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
    horizontalHeader()->setResizeContentsPrecision(kRowsMeasured);
    horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    horizontalHeader()->setStretchLastSection(true);
    horizontalHeader()->setHighlightSections(false);
    setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
}

void ResultTable::setTable(const Table& table) {
    setSortingEnabled(false);
    m_model->setTable(table.header, table.rows, table.tips);
    m_proxy->sort(m_firstSort, Qt::DescendingOrder);
    fitColumns();
    horizontalHeader()->setSortIndicator(m_firstSort, Qt::DescendingOrder);
    setSortingEnabled(true);
    if (m_frozen != nullptr)
        m_frozen->follow();
    scrollToTop();
}

void ResultTable::fitColumns() {
    horizontalHeader()->setStretchLastSection(false); // else it keeps the width it had
    resizeColumnsToContents();
    constexpr int kSortArrow = 18;
    for (int column = 0; column < m_proxy->columnCount(); ++column) {
        const int room = column == m_firstSort ? kSortArrow : 8;
        setColumnWidth(column, qMin(columnWidth(column) + room, kWidestColumn));
    }
    // A text may use what is left; a number would stand far from all others.
    const QVariant last =
        m_model->headerData(m_model->columnCount() - 1, Qt::Horizontal, Qt::TextAlignmentRole);
    horizontalHeader()->setStretchLastSection((last.toInt() & Qt::AlignRight) == 0);
}

void ResultTable::appendRow(const TextTableModel::Row& row) {
    m_model->appendRow(row);
    if (m_model->rowCount() <= kRowsFitted)
        fitColumns();
}

void ResultTable::setFilter(const QString& text) {
    m_filter = text;
    m_proxy->setFilterFixedString(text);
    viewport()->update();
}

void ResultTable::freeze(int columns) {
    m_frozen = new FrozenColumns(this, columns);
}

void ResultTable::paintEvent(QPaintEvent* event) {
    QTableView::paintEvent(event);
    if (rows() == 0 && m_model->rowCount() > 0)
        paintNote(this, tr("Nothing here matches \"%1\".").arg(m_filter));
}

void ResultTable::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    if (m_frozen != nullptr)
        m_frozen->follow();
}

void ResultTable::updateGeometries() {
    QTableView::updateGeometries();
    if (m_frozen != nullptr)
        m_frozen->follow();
}

int ResultTable::rows() const {
    return m_proxy->rowCount();
}

QString ResultTable::textAt(int row, int column) const {
    return m_proxy->index(row, column).data().toString();
}

void ResultTable::keyPressEvent(QKeyEvent* event) {
    if (event->matches(QKeySequence::Copy))
        copySelection();
    else
        QTableView::keyPressEvent(event);
}

void ResultTable::copySelection() const {
    QStringList lines;
    for (const QModelIndex& first : selectionModel()->selectedRows()) {
        QStringList fields;
        for (int column = 0; column < m_proxy->columnCount(); ++column)
            fields.append(textAt(first.row(), column));
        lines.append(fields.join(QLatin1Char('\t')));
    }
    if (!lines.isEmpty())
        QGuiApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
}

} // namespace knobscope
