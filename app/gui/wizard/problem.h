// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/experiment.h"

#include <optional>

namespace knobscope {

/// What is wrong with an experiment, and where: the path of the experiment file
/// ("axes[1].values[0]") tells which page and row shows it.
struct Problem {
    QString path;
    QString text;

    [[nodiscard]] bool isIn(const QString& part) const;
    /// Row of "axes[1]..." for part "axes"; -1 for another part or none.
    [[nodiscard]] int row(const QString& part) const;
};

/// What is still to be filled in, in the words of the window; empty where the text is an error.
/// A row that is only begun is no mistake.
[[nodiscard]] QString incompleteText(const Axis& row);
/// Nothing: the experiment is sound.
[[nodiscard]] std::optional<Problem> problemOf(const Experiment& experiment);

} // namespace knobscope
