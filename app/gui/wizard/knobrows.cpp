// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/knobrows.h"

#include "app/gui/icons.h"

#include <QPushButton>
#include <QVBoxLayout>

namespace knobscope {

KnobRows::KnobRows(KnobRow::Kind kind, const QString& addText, QWidget* parent)
    : QWidget(parent), m_kind(kind), m_layout(new QVBoxLayout),
      m_add(new QPushButton(icon("add"), addText, this)) {
    m_add->setObjectName(kind == KnobRow::Kind::Axis ? "addAxis" : "addOption");
    auto* bottom = new QHBoxLayout;
    bottom->addWidget(m_add);
    bottom->addStretch(1);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addLayout(m_layout);
    layout->addLayout(bottom);
    connect(m_add, &QPushButton::clicked, this, [this] {
        addRow()->setFocus();
        emit edited();
    });
}

KnobRow* KnobRows::addRow() {
    auto* row = new KnobRow(m_kind, this);
    row->setTestKind(m_testKind);
    m_rows.append(row);
    m_layout->addWidget(row);
    connect(row, &KnobRow::edited, this, &KnobRows::edited);
    connect(row, &KnobRow::removeRequested, this, [this, row] { removeRow(row); });
    renumber();
    return row;
}

void KnobRows::setTestKind(const QString& testKind) {
    m_testKind = testKind;
    for (KnobRow* row : std::as_const(m_rows))
        row->setTestKind(testKind);
}

void KnobRows::removeRow(KnobRow* row) {
    m_rows.removeOne(row);
    row->hide();
    row->setNumber(-1);
    row->deleteLater(); // its own button is what called
    renumber();
    emit edited();
}

void KnobRows::renumber() {
    for (int i = 0; i < m_rows.size(); ++i)
        m_rows[i]->setNumber(i);
}

void KnobRows::setAxes(const QList<Axis>& axes) {
    const QSignalBlocker quiet(this);
    while (!m_rows.isEmpty())
        removeRow(m_rows.last());
    for (const Axis& axis : axes)
        addRow()->setAxis(axis);
}

QList<Axis> KnobRows::axes() const {
    QList<Axis> axes;
    for (const KnobRow* row : m_rows)
        axes.append(row->axis());
    return axes;
}

void KnobRows::setError(int row, const QString& text) {
    for (int i = 0; i < m_rows.size(); ++i) {
        const QString own = m_rows[i]->valueError();
        m_rows[i]->setError(own.isEmpty() && i == row ? text : own);
    }
}

} // namespace knobscope
