// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/frame/undo.h"

#include "agents/agent/kernel/knobs.h"

#include <net/if.h>

#include <algorithm>
#include <exception>

namespace knobscope::agent {

using protocol::UndoReport;

namespace {

void lookAgain(const TouchedKnob& knob, UndoReport& report) {
    try {
        report.now = readKnob(knob.knob);
        report.restored = sameKnobValue(knob.knob.name, *report.now, knob.original);
        if (!report.restored && report.error.empty())
            report.error = "the host took the value but has another one now";
    } catch (const std::exception& error) {
        report.now.reset();
        report.restored = false;
        report.error = error.what();
    }
    if (report.restored)
        report.error.clear();
}

void setOriginal(const TouchedKnob& knob, UndoReport& report) {
    try {
        report.error.clear();
        writeKnob({knob.knob.name, knob.knob.interface, knob.original});
    } catch (const std::exception& error) {
        report.error = error.what();
    }
}

UndoReport undoOne(const TouchedKnob& knob) {
    UndoReport report;
    report.name = knob.knob.name;
    report.interface = knob.knob.interface;
    report.original = knob.original;
    try {
        report.found = readKnob(knob.knob);
        report.changed_by_other = !knob.isOurs(*report.found);
        if (sameKnobValue(knob.knob.name, *report.found, knob.original))
            return report;
    } catch (const std::exception&) {
        // It may still be possible to set it.
    }
    setOriginal(knob, report);
    return report;
}

} // namespace

std::vector<UndoReport> undoKnobs(std::vector<TouchedKnob> knobs) {
    std::reverse(knobs.begin(), knobs.end());
    std::stable_sort(knobs.begin(), knobs.end(), [](const TouchedKnob& a, const TouchedKnob& b) {
        return knobRank(a.knob.name) > knobRank(b.knob.name);
    });
    std::vector<UndoReport> reports;
    for (const TouchedKnob& knob : knobs)
        reports.push_back(undoOne(knob));

    bool all = true;
    for (std::size_t i = 0; i < knobs.size(); ++i) {
        lookAgain(knobs[i], reports[i]);
        all = all && reports[i].restored;
    }
    if (all)
        return reports;
    for (std::size_t i = 0; i < knobs.size(); ++i) {
        if (!reports[i].restored)
            setOriginal(knobs[i], reports[i]);
    }
    for (std::size_t i = 0; i < knobs.size(); ++i)
        lookAgain(knobs[i], reports[i]);
    return reports;
}

bool interfaceIsGone(const protocol::KnobTarget& knob) {
    return !knob.interface.empty() && !knob.name.starts_with("sysctl:") &&
           ::if_nametoindex(knob.interface.c_str()) == 0;
}

} // namespace knobscope::agent
