// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/plan.h"

#include "core/model/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace knobscope {

namespace {

/// Wall time of a sample beside its traffic, warm-up and pause: knobs, snapshots, store.
constexpr double kSampleOverheadSeconds = 0.03;
/// Connecting, checking and restoring, once a run.
constexpr double kRunOverheadSeconds = 1;

/// SplitMix64's finaliser (Steele, Lea, Flood 2014): spreads neighbouring seeds apart.
quint64 mix(quint64 value) {
    value += 0x9e3779b97f4a7c15U;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
}

/// Uniform in [0, bound). The distributions of the standard library differ between libraries,
/// and a run must resume with the order it began with.
quint64 drawBelow(std::mt19937_64& engine, quint64 bound) {
    const quint64 unfair = (0 - bound) % bound; // 2^64 mod bound
    quint64 value = engine();
    while (value < unfair)
        value = engine();
    return value % bound;
}

} // namespace

QList<int> blockOrder(const PlanSpec& plan, int cells, int block) {
    QList<int> order(std::max(cells, 0));
    std::iota(order.begin(), order.end(), 0);
    if (!plan.blocks)
        return order;
    std::mt19937_64 engine(mix(plan.seed ^ mix(static_cast<quint64>(block))));
    for (qsizetype last = order.size() - 1; last > 0; --last) {
        const auto pick = static_cast<qsizetype>(drawBelow(engine, static_cast<quint64>(last) + 1));
        order.swapItemsAt(last, pick);
    }
    return order;
}

bool wantsMore(const PlanSpec& plan, const QList<double>& values) {
    if (values.size() < plan.repeatsMin)
        return true;
    if (values.size() >= plan.repeatsMax)
        return false;
    const Summary summary = summarize(values, plan.confidenceLevel);
    if (!summary.mean || !summary.halfWidth)
        return true;
    return *summary.halfWidth > plan.halfWidthPercent / 100 * std::abs(*summary.mean);
}

Estimate estimateRun(const Experiment& experiment) {
    const PlanSpec& plan = experiment.plan;
    Estimate estimate;
    estimate.cells = countCells(experiment);
    estimate.samplesMin = estimate.cells * plan.repeatsMin;
    estimate.samplesMax = estimate.cells * plan.repeatsMax;
    const double sample = experiment.test.seconds + experiment.test.warmupSeconds +
                          plan.pauseSeconds + kSampleOverheadSeconds;
    estimate.secondsMin = estimate.samplesMin * sample + kRunOverheadSeconds;
    estimate.secondsMax = estimate.samplesMax * sample + kRunOverheadSeconds;
    return estimate;
}

} // namespace knobscope
