// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/frame/undo.h"

#include "agents/agent/kernel/carrier.h"
#include "agents/agent/kernel/knobs.h"

#include <net/if.h>

#include <algorithm>
#include <exception>

namespace knobscope::agent {

using protocol::UndoReport;

namespace {

/// One knob on its way back.
class Undoing {
public:
    Undoing(KnobHost& host, const TouchedKnob& knob) : m_host(host), m_knob(knob) {
        m_undone.report.name = knob.knob.name;
        m_undone.report.interface = knob.knob.interface;
        m_undone.report.original = knob.original;
    }
    void undo(CarrierWatch& links);
    void setOriginal(CarrierWatch& links);
    void lookAgain();
    void noteLinks(const std::vector<std::string>& down);
    [[nodiscard]] bool restored() const { return m_undone.report.restored; }
    Undone take() && { return std::move(m_undone); }

private:
    KnobHost& m_host;
    const TouchedKnob& m_knob;
    Undone m_undone;
    bool m_tried = false;
};

void Undoing::undo(CarrierWatch& links) {
    UndoReport& report = m_undone.report;
    const std::string& name = m_knob.knob.name;
    try {
        report.found = readKnob(m_host, m_knob.knob);
        const bool same = sameKnobValue(name, *report.found, m_knob.original);
        // The kernel itself takes some back when their agent dies.
        report.changed_by_other = !m_knob.companion && !m_knob.isOurs(*report.found) &&
                                  !(same && restoresMore(name)) &&
                                  knobMover(m_host, m_knob.knob).empty();
        if (same && (m_knob.companion || !restoresMore(name)))
            return;
    } catch (const std::exception&) {
        // It may still be possible to set it.
    }
    setOriginal(links);
}

void Undoing::setOriginal(CarrierWatch& links) {
    UndoReport& report = m_undone.report;
    try {
        report.error.clear();
        links.before(m_knob.knob.interface, knobLinkEffect(m_knob.knob.name));
        m_tried = true;
        restoreKnob(m_host, m_knob.knob, m_knob.original);
    } catch (const std::exception& error) {
        report.error = error.what();
    }
}

void Undoing::lookAgain() {
    UndoReport& report = m_undone.report;
    try {
        report.now = readKnob(m_host, m_knob.knob);
        report.restored = sameKnobValue(m_knob.knob.name, *report.now, m_knob.original);
        const std::string mover =
            report.restored || !report.error.empty() ? "" : knobMover(m_host, m_knob.knob);
        if (!mover.empty()) {
            report.restored = true;
            report.note = mover + ", so the host moves this value by itself";
        } else if (!report.restored && report.error.empty()) {
            report.error = "the host took the value but has another one now";
        }
    } catch (const std::exception& error) {
        report.now.reset();
        report.restored = false;
        report.error = error.what();
    }
    report.command.clear();
    if (report.restored)
        report.error.clear();
    else
        report.command = knobCommand(m_host, m_knob.knob, m_knob.original);
    m_undone.quiet = m_knob.companion && report.restored && !m_tried;
}

void Undoing::noteLinks(const std::vector<std::string>& down) {
    if (m_tried && knobLinkEffect(m_knob.knob.name) != LinkEffect::None &&
        std::find(down.begin(), down.end(), m_knob.knob.interface) != down.end())
        m_undone.report.note =
            "the link of " + m_knob.knob.interface + " has not come back yet after it";
}

} // namespace

std::vector<Undone> undoKnobs(KnobHost& host, std::vector<TouchedKnob> knobs,
                              std::chrono::milliseconds link_wait) {
    std::reverse(knobs.begin(), knobs.end());
    std::stable_sort(knobs.begin(), knobs.end(), [](const TouchedKnob& a, const TouchedKnob& b) {
        return knobUndoRank(a.knob.name) > knobUndoRank(b.knob.name);
    });
    std::vector<Undoing> all;
    for (const TouchedKnob& knob : knobs)
        all.emplace_back(host, knob);

    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + link_wait;
    CarrierWatch links;
    for (const bool again : {false, true}) {
        for (Undoing& one : all) {
            if (!again)
                one.undo(links);
            else if (!one.restored())
                one.setOriginal(links);
        }
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        const auto down = links.wait(std::max(left, std::chrono::milliseconds(0)));
        for (Undoing& one : all) {
            one.lookAgain();
            one.noteLinks(down);
        }
        if (std::all_of(all.begin(), all.end(), [](const Undoing& one) { return one.restored(); }))
            break;
    }
    std::vector<Undone> result;
    for (Undoing& one : all)
        result.push_back(std::move(one).take());
    return result;
}

bool interfaceIsGone(const protocol::KnobTarget& knob) {
    return knobNeedsInterface(knob.name) && ::if_nametoindex(knob.interface.c_str()) == 0;
}

} // namespace knobscope::agent
