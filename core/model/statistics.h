// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QList>

#include <optional>

namespace knobscope {

/// Summary of the repeats of a cell. Values that n does not allow are absent, not 0.
struct Summary {
    int n = 0;
    std::optional<double> mean;
    std::optional<double> median;
    std::optional<double> minimum;
    std::optional<double> maximum;
    std::optional<double> standardDeviation;      ///< n − 1 in the denominator; n ≥ 2
    std::optional<double> coefficientOfVariation; ///< SD / |mean|
    std::optional<double> halfWidth; ///< of Student's interval of the mean: t · s / √n; n ≥ 2
    double level = 0.95;
};

/// Non-finite values are left out of the sample.
[[nodiscard]] Summary summarize(const QList<double>& values, double level = 0.95);

} // namespace knobscope
