// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/checklist.h"

#include "app/gui/models/runtables.h"

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
    const Table table = checkTable(report);
    m_model->setTable(table.header, table.rows);
    constexpr int kWidestTitle = 320;
    resizeColumnsToContents();
    setColumnWidth(0, qMin(columnWidth(0) + 8, kWidestTitle));
    setColumnWidth(1, columnWidth(1) + 8);
    resizeRowsToContents();
}

/// Remedies are sentences: they wrap at the width there is.
void CheckList::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    resizeRowsToContents();
}

} // namespace knobscope
