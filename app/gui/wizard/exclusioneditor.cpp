// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/exclusioneditor.h"

#include "app/gui/format.h"
#include "app/gui/icons.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace knobscope {
namespace {

/// In the order of the axes; what has no axis (any more) at the end.
QString exclusionText(const Exclusion& exclusion, const QList<Axis>& axes) {
    QStringList knobs;
    for (const Axis& axis : axes) {
        if (exclusion.contains(axis.knob) && !knobs.contains(axis.knob))
            knobs.append(axis.knob);
    }
    for (auto it = exclusion.cbegin(); it != exclusion.cend(); ++it) {
        if (!knobs.contains(it.key()))
            knobs.append(it.key());
    }
    QStringList parts;
    for (const QString& knob : std::as_const(knobs))
        parts.append(QStringLiteral("%1 = %2").arg(knobTitle(knob), exclusion.value(knob).text));
    return parts.join(QStringLiteral(",  "));
}

} // namespace

ExclusionEditor::ExclusionEditor(QWidget* parent)
    : QWidget(parent), m_list(new QListWidget(this)), m_choices(new QHBoxLayout),
      m_add(new QPushButton(icon("add"), tr("&Exclude"), this)),
      m_remove(new QPushButton(icon("remove"), tr("Incl&ude again"), this)) {
    m_list->setObjectName("exclusions");
    m_list->setAccessibleName(tr("Excluded combinations"));
    m_add->setObjectName("addExclusion");
    m_remove->setObjectName("removeExclusion");
    m_add->setToolTip(tr("Leaves out all cells with the chosen values"));

    auto* bottom = new QHBoxLayout;
    bottom->addLayout(m_choices, 1);
    bottom->addWidget(m_add);
    bottom->addWidget(m_remove);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_list, 1);
    layout->addLayout(bottom);

    connect(m_add, &QPushButton::clicked, this, &ExclusionEditor::addChosen);
    connect(m_remove, &QPushButton::clicked, this, &ExclusionEditor::removeSelected);
    connect(m_list, &QListWidget::itemSelectionChanged, this, &ExclusionEditor::updateButtons);
    updateButtons();
}

void ExclusionEditor::setExclusions(const QList<Exclusion>& exclusions) {
    m_exclusions = exclusions;
    refresh();
}

void ExclusionEditor::setAxes(const QList<Axis>& axes) {
    if (axes == m_axes)
        return;
    m_axes = axes;
    qDeleteAll(m_combos);
    m_combos.clear();
    for (int i = 0; i < axes.size(); ++i) {
        const auto twins = std::count_if(m_axes.cbegin(), m_axes.cbegin() + i,
                                         [&](const Axis& a) { return a.knob == axes[i].knob; });
        // An exclusion goes by the knob: one choice for both sides, none for a row just begun.
        if (twins > 0 || axes[i].knob.isEmpty())
            continue;
        auto* combo = new QComboBox(this);
        combo->setObjectName(QStringLiteral("excludeValue%1").arg(i));
        combo->setAccessibleName(tr("Value of %1 to exclude").arg(knobTitle(axes[i].knob)));
        combo->setToolTip(axes[i].knob);
        combo->addItem(tr("%1: any").arg(knobTitle(axes[i].knob)));
        for (const KnobValue& value : axes[i].values)
            combo->addItem(value.text, QVariant::fromValue(value));
        combo->setProperty("knob", axes[i].knob);
        connect(combo, &QComboBox::currentIndexChanged, this, &ExclusionEditor::updateButtons);
        m_choices->addWidget(combo, 1);
        m_combos.append(combo);
    }
    refresh();
}

void ExclusionEditor::refresh() {
    m_list->clear();
    for (const Exclusion& exclusion : std::as_const(m_exclusions))
        m_list->addItem(exclusionText(exclusion, m_axes));
    updateButtons();
}

void ExclusionEditor::addChosen() {
    Exclusion exclusion;
    for (QComboBox* combo : std::as_const(m_combos)) {
        if (combo->currentIndex() > 0)
            exclusion.insert(combo->property("knob").toString(),
                             combo->currentData().value<KnobValue>());
        combo->setCurrentIndex(0);
    }
    if (exclusion.isEmpty() || m_exclusions.contains(exclusion))
        return;
    m_exclusions.append(exclusion);
    refresh();
    emit edited();
}

void ExclusionEditor::removeSelected() {
    const int row = m_list->currentRow();
    if (row < 0 || row >= m_exclusions.size())
        return;
    m_exclusions.removeAt(row);
    refresh();
    emit edited();
}

void ExclusionEditor::updateButtons() {
    m_add->setEnabled(std::any_of(m_combos.begin(), m_combos.end(), [](const QComboBox* combo) {
        return combo->currentIndex() > 0;
    }));
    m_remove->setEnabled(!m_list->selectedItems().isEmpty());
}

} // namespace knobscope
