// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/experiment.h"

#include <QWidget>

class QComboBox;
class QHBoxLayout;
class QListWidget;
class QPushButton;

namespace knobscope {

/// The combinations that are left out: a list, and a line of choices that adds to it. A choice of
/// "any" leaves its knob open.
class ExclusionEditor : public QWidget {
    Q_OBJECT
public:
    explicit ExclusionEditor(QWidget* parent = nullptr);

    void setExclusions(const QList<Exclusion>& exclusions);
    [[nodiscard]] const QList<Exclusion>& exclusions() const { return m_exclusions; }
    /// Offers the values of these axes.
    void setAxes(const QList<Axis>& axes);

signals:
    void edited();

private:
    void refresh();
    void addChosen();
    void removeSelected();
    void updateButtons();

    QList<Exclusion> m_exclusions;
    QList<Axis> m_axes;
    QListWidget* m_list;
    QHBoxLayout* m_choices;
    QList<QComboBox*> m_combos;
    QPushButton* m_add;
    QPushButton* m_remove;
};

} // namespace knobscope
