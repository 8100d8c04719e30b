// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/wizard/experimentpage.h"

class QComboBox;
class QDoubleSpinBox;

namespace knobscope {

class KnobRows;

/// What traffic is sent, for how long, with which options held fixed.
class TestPage : public ExperimentPage {
    Q_OBJECT
public:
    explicit TestPage(QWidget* parent = nullptr);

    void load(const Experiment& experiment) override;
    void store(Experiment& experiment) const override;

protected:
    bool owns(const Problem& problem) const override;
    void display(const Experiment& experiment, const Problem* own) override;

private:
    [[nodiscard]] QString duplicateOption() const;
    [[nodiscard]] QString fieldError() const override;
    [[nodiscard]] QWidget* fieldOf(const QString& path) const;

    QFormLayout* m_form;
    QComboBox* m_kind;
    QDoubleSpinBox* m_seconds;
    QDoubleSpinBox* m_warmup;
    KnobRows* m_options;
    QLabel* m_error;
};

} // namespace knobscope
