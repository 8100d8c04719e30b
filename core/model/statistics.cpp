// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/statistics.h"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace knobscope {

namespace {

double medianOfSorted(const QList<double>& sorted) {
    const qsizetype middle = sorted.size() / 2;
    if (sorted.size() % 2 == 1)
        return sorted[middle];
    // Halved first: the sum of two large values need not fit a double.
    return sorted[middle - 1] / 2 + sorted[middle] / 2;
}

/// Half-width of Student's interval of the mean, t · s / √n with n − 1 degrees of freedom.
double studentHalfWidth(double deviation, int n, double level) {
    const boost::math::students_t_distribution<double> distribution(n - 1);
    const double t = boost::math::quantile(boost::math::complement(distribution, (1 - level) / 2));
    return t * deviation / std::sqrt(n);
}

} // namespace

Summary summarize(const QList<double>& values, double level) {
    QList<double> finite;
    finite.reserve(values.size());
    std::copy_if(values.begin(), values.end(), std::back_inserter(finite),
                 [](double value) { return std::isfinite(value); });
    std::sort(finite.begin(), finite.end());

    Summary summary;
    summary.level = level;
    summary.n = static_cast<int>(finite.size());
    if (finite.isEmpty())
        return summary;
    const double n = summary.n;
    const double mean = std::accumulate(finite.begin(), finite.end(), 0.0,
                                        [n](double sum, double value) { return sum + value / n; });
    summary.mean = mean;
    summary.median = medianOfSorted(finite);
    summary.minimum = finite.first();
    summary.maximum = finite.last();
    if (summary.n < 2)
        return summary;

    const double squares =
        std::accumulate(finite.begin(), finite.end(), 0.0, [mean](double sum, double value) {
            return sum + (value - mean) * (value - mean);
        });
    const double deviation = std::sqrt(squares / (n - 1));
    summary.standardDeviation = deviation;
    if (mean != 0)
        summary.coefficientOfVariation = deviation / std::abs(mean);
    if (level > 0 && level < 1)
        summary.halfWidth = studentHalfWidth(deviation, summary.n, level);
    return summary;
}

} // namespace knobscope
