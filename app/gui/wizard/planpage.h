// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/wizard/experimentpage.h"

class QComboBox;
class QDoubleSpinBox;
class QLineEdit;
class QSpinBox;

namespace knobscope {

/// How often each cell is measured, in which order, and when it is enough.
class PlanPage : public ExperimentPage {
    Q_OBJECT
public:
    explicit PlanPage(QWidget* parent = nullptr);

    void load(const Experiment& experiment) override;
    void store(Experiment& experiment) const override;

protected:
    bool owns(const Problem& problem) const override;
    void display(const Experiment& experiment, const Problem* own) override;

private:
    void build();
    [[nodiscard]] QString fieldError() const override;
    [[nodiscard]] QWidget* fieldOf(const QString& path) const;

    QFormLayout* m_form;

    QSpinBox* m_repeatsMin;
    QSpinBox* m_repeatsMax;
    QDoubleSpinBox* m_level;
    QDoubleSpinBox* m_halfWidth;
    QComboBox* m_order;
    QLineEdit* m_seed;
    QDoubleSpinBox* m_pause;
    QSpinBox* m_retries;
    QLabel* m_error;
    QLabel* m_estimate;
};

} // namespace knobscope
