// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/gui/wizard/experimentpage.h"

namespace knobscope {

class ExclusionEditor;
class KnobRows;

/// The knob matrix: axes, exclusions, and what they come to in cells and time.
class MatrixPage : public ExperimentPage {
    Q_OBJECT
public:
    explicit MatrixPage(QWidget* parent = nullptr);

    void load(const Experiment& experiment) override;
    void store(Experiment& experiment) const override;

protected:
    bool owns(const Problem& problem) const override;
    void display(const Experiment& experiment, const Problem* own) override;

private:
    KnobRows* m_axes;
    ExclusionEditor* m_exclusions;
    QLabel* m_error;
    QLabel* m_estimate;
};

/// "9 cells, 27 samples, about 45 s"; what it is instead while the matrix is not sound.
[[nodiscard]] QString estimateText(const Experiment& experiment);

} // namespace knobscope
