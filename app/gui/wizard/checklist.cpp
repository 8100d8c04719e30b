// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/checklist.h"

#include "app/gui/models/checktables.h"

#include <QHeaderView>

namespace knobscope {

CheckList::CheckList(QWidget* parent) : QTableView(parent), m_model(new TextTableModel(this)) {
    setModel(m_model);
    setShowGrid(false);
    setWordWrap(true);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setTabKeyNavigation(false);
    setAccessibleName(tr("Checks"));
    verticalHeader()->hide();
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    horizontalHeader()->setStretchLastSection(true);
    setReport({});
}

void CheckList::setReport(const PreflightReport& report) {
    show(checkTable(report));
}

void CheckList::setChanges(const PreflightReport& report) {
    show(changeTable(report));
}

void CheckList::setSteps(const QList<HostStep>& steps) {
    show(stepTable(steps));
}

/// The last column has what is left.
void CheckList::show(const Table& table) {
    m_model->setTable(table.header, table.rows);
    constexpr int kWidest = 320;
    resizeColumnsToContents();
    for (int column = 0; column + 1 < m_model->columnCount(); ++column)
        setColumnWidth(column, qMin(columnWidth(column) + 8, kWidest));
    resizeRowsToContents();
}

/// Remedies are sentences: they wrap at the width there is.
void CheckList::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    resizeRowsToContents();
}

} // namespace knobscope
