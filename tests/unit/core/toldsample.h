// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/sampleresult.h"

/// What one host told of a sample, for tests of a single instance.
struct SideResult {
    knobscope::protocol::TrafficResult traffic;
};

inline void fillSample(knobscope::SampleRecord& sample, const knobscope::Experiment& experiment,
                       const knobscope::Cell& cell, const SideResult& sender,
                       const SideResult& receiver) {
    knobscope::SampleResult result;
    result.instances.push_back({sender.traffic, receiver.traffic});
    knobscope::fillSample(sample, experiment, cell, result);
}
