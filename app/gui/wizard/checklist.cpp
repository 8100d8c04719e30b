// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/checklist.h"

#include "app/gui/models/runtables.h"

#include <QHeaderView>

namespace knobscope {

CheckList::CheckList(QWidget* parent) : QTreeView(parent), m_model(new TextTableModel(this)) {
    setModel(m_model);
    setRootIsDecorated(false);
    setWordWrap(true);
    setUniformRowHeights(false);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setAccessibleName(tr("Checks"));
    setReport({});
}

void CheckList::setReport(const PreflightReport& report) {
    const Table table = checkTable(report);
    m_model->setTable(table.header, table.rows);
    header()->setStretchLastSection(true);
    resizeColumnToContents(0);
    resizeColumnToContents(1);
    constexpr int kWidestTitle = 320;
    setColumnWidth(0, qMin(columnWidth(0), kWidestTitle));
}

} // namespace knobscope
