// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/pages/frozencolumns.h"

#include <QHeaderView>
#include <QScrollBar>

namespace knobscope {

FrozenColumns::FrozenColumns(QTableView* table, int columns)
    : QTableView(table), m_table(table), m_columns(columns) {
    setObjectName(table->objectName() + QStringLiteral("Frozen"));
    setModel(table->model());
    setSelectionModel(table->selectionModel());
    setFocusProxy(table);
    setFrameShape(QFrame::NoFrame);
    setSelectionBehavior(table->selectionBehavior());
    setEditTriggers(table->editTriggers());
    setAlternatingRowColors(table->alternatingRowColors());
    setShowGrid(table->showGrid());
    setWordWrap(table->wordWrap());
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setHorizontalScrollMode(table->horizontalScrollMode());
    setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    table->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    verticalHeader()->hide();
    verticalHeader()->setDefaultSectionSize(table->verticalHeader()->defaultSectionSize());
    takeHeader();
    connect(table->verticalScrollBar(), &QScrollBar::valueChanged, verticalScrollBar(),
            &QScrollBar::setValue);
    connect(verticalScrollBar(), &QScrollBar::valueChanged, table->verticalScrollBar(),
            &QScrollBar::setValue);
    table->viewport()->stackUnder(this);
    show();
    follow();
}

/// A click here is a click on the table's header.
void FrozenColumns::takeHeader() {
    QHeaderView* own = horizontalHeader();
    QHeaderView* other = m_table->horizontalHeader();
    own->setSectionsClickable(true);
    own->setHighlightSections(false);
    own->setSortIndicatorShown(true);
    own->setDefaultAlignment(other->defaultAlignment());
    own->setStretchLastSection(false);
    connect(other, &QHeaderView::sortIndicatorChanged, own, &QHeaderView::setSortIndicator);
    connect(own, &QHeaderView::sectionClicked, m_table, [this, own, other](int section) {
        const bool again = other->sortIndicatorSection() == section;
        const Qt::SortOrder order = again && other->sortIndicatorOrder() == Qt::DescendingOrder
                                        ? Qt::AscendingOrder
                                        : Qt::DescendingOrder;
        own->setSortIndicator(section, order);
        m_table->sortByColumn(section, order);
    });
    connect(own, &QHeaderView::sectionResized, m_table, [this](int section, int, int size) {
        if (section < m_columns && m_table->columnWidth(section) != size)
            m_table->setColumnWidth(section, size);
    });
    connect(other, &QHeaderView::sectionResized, this, &FrozenColumns::follow);
}

void FrozenColumns::follow() {
    if (model() == nullptr)
        return;
    int width = 0;
    for (int column = 0; column < model()->columnCount(); ++column) {
        const bool hidden = column >= m_columns;
        if (isColumnHidden(column) != hidden)
            setColumnHidden(column, hidden);
        if (hidden)
            continue;
        if (columnWidth(column) != m_table->columnWidth(column))
            setColumnWidth(column, m_table->columnWidth(column));
        width += m_table->columnWidth(column);
    }
    const int header = m_table->horizontalHeader()->height();
    if (horizontalHeader()->height() != header)
        horizontalHeader()->setFixedHeight(header);
    const QRect place(m_table->frameWidth(), m_table->frameWidth(), width,
                      m_table->viewport()->height() + header);
    if (geometry() != place)
        setGeometry(place);
    verticalScrollBar()->setValue(m_table->verticalScrollBar()->value());
}

} // namespace knobscope
