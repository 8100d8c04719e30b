// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/matrix.h"

namespace knobscope {

/// The order of cells in block `block` (from 0): every cell once, shuffled by seed and block
/// alone, so that a resumed run goes on as it would have; matrix order where the plan says so.
[[nodiscard]] QList<int> blockOrder(const PlanSpec& plan, int cells, int block);

/// Whether a cell needs a sample in the next block, given the measured values so far.
/// It does until repeatsMin, and then until repeatsMax or until the confidence interval of the
/// mean (Student's t) is within ± halfWidthPercent of the mean.
[[nodiscard]] bool wantsMore(const PlanSpec& plan, const QList<double>& values);

/// Expected wall time of a whole run in seconds, and the fewest and most samples.
struct Estimate {
    int cells = 0;
    int samplesMin = 0;
    int samplesMax = 0;
    double secondsMin = 0;
    double secondsMax = 0;
};
[[nodiscard]] Estimate estimateRun(const Experiment& experiment);

} // namespace knobscope
