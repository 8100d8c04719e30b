// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/frame/knobkeeper.h"

#include "agents/agent/error.h"
#include "agents/agent/frame/undo.h"
#include "agents/agent/kernel/knobs.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <set>
#include <utility>

namespace knobscope::agent {

namespace errorcode = protocol::errorcode;
using protocol::KnobOutcome;
using protocol::KnobReading;
using protocol::KnobSetting;
using protocol::KnobTarget;
using protocol::UndoReport;

namespace {

constexpr std::chrono::seconds kLockWait{5};

/// The kernel's calls end at a zero byte: "rmem_max\0x" would set another knob than it names.
void refuseZeroBytes(const KnobTarget& knob, const std::string& value) {
    for (const std::string& text : {knob.name, knob.interface, value}) {
        if (text.find('\0') != std::string::npos)
            throw AgentError(errorcode::kKnob, "the name or value of a knob has a zero byte in it");
    }
}

void refuseContradictions(const std::vector<KnobSetting>& settings) {
    std::set<std::pair<std::string, std::string>> names;
    for (const KnobSetting& setting : settings) {
        if (!names.insert({setting.name, setting.interface}).second)
            throw AgentError(errorcode::kInvalidParams,
                             "knob.apply: " + setting.name + " is named twice; name it once");
    }
}

/// The interface may have been renamed, or come back with its old name and settings.
UndoReport keptForLater(const TouchedKnob& knob, const std::string& journal) {
    UndoReport report;
    report.name = knob.knob.name;
    report.interface = knob.knob.interface;
    report.original = knob.original;
    report.interface_gone = true;
    report.error = "there is no interface " + knob.knob.interface + " now (" + journal +
                   " remembers it; remove that file to forget it)";
    return report;
}

} // namespace

/// One setting on its way.
struct KnobKeeper::Step {
    const KnobSetting& setting;
    KnobOutcome& outcome;
    std::string before; ///< read just before
    bool readable = false;
    bool tried = false; ///< the kernel was asked
    [[nodiscard]] KnobTarget target() const { return {setting.name, setting.interface}; }
};

std::vector<KnobReading> KnobKeeper::read(const std::vector<KnobTarget>& knobs) {
    std::vector<KnobReading> readings;
    for (const KnobTarget& knob : knobs) {
        KnobReading reading;
        reading.name = knob.name;
        try {
            refuseZeroBytes(knob, {});
            reading.value = readKnob(knob);
        } catch (const std::exception& error) {
            reading.error = error.what();
        }
        readings.push_back(std::move(reading));
    }
    return readings;
}

std::vector<KnobOutcome> KnobKeeper::apply(const std::vector<KnobSetting>& settings) {
    refuseContradictions(settings);
    std::vector<KnobOutcome> outcomes(settings.size());
    if (settings.empty())
        return outcomes;
    const auto dir = JournalDir::lock(true, kLockWait);
    refuseOthers(*dir);

    std::vector<Step> steps;
    for (std::size_t i = 0; i < settings.size(); ++i)
        steps.push_back({settings[i], outcomes[i], {}, false, false});
    std::vector<Step*> order;
    for (Step& step : steps)
        order.push_back(&step);
    std::stable_sort(order.begin(), order.end(), [](const Step* a, const Step* b) {
        return knobRank(a->setting.name) < knobRank(b->setting.name);
    });
    for (Step* step : order)
        setOne(*dir, *step);
    for (Step* step : order)
        readBack(*dir, *step);
    if (m_journal && m_journal->content().knobs.empty()) {
        m_journal->remove(&*dir);
        m_journal.reset();
    }
    return outcomes;
}

void KnobKeeper::refuseOthers(const JournalDir& dir) {
    std::vector<UndoReport> reports;
    recoverFrom(dir, reports);
    for (const UndoReport& report : reports) {
        if (!report.interface_gone)
            m_log("put back for a dead agent: " + report.name + " " + report.interface + " to " +
                  report.original + (report.restored ? "" : ": failed: " + report.error));
    }

    const HostIdentity here = HostIdentity::here();
    m_sameRun.clear();
    for (const Journal::Found& found : Journal::findAll(dir, m_journal ? m_journal->name() : "")) {
        if (!found.living || !found.content || !found.content->host.sameNetwork(here))
            continue;
        if (found.content->group != m_group)
            throw AgentError(errorcode::kBusy, "the knobs of this host are held by " +
                                                   found.content->owner() +
                                                   "; wait for its end or stop it");
        m_hadCompany = true;
        m_sameRun.insert(m_sameRun.end(), found.content->knobs.begin(), found.content->knobs.end());
    }
}

void KnobKeeper::openJournal(const JournalDir& dir) {
    if (m_journal)
        return;
    JournalContent content;
    content.run = m_run;
    content.group = m_group;
    content.pid = ::getpid();
    content.started = std::time(nullptr);
    content.host = HostIdentity::here();
    m_journal = std::make_unique<Journal>(dir, std::move(content));
}

/// What another agent of this run has set already is not the host's own value; the host's is in
/// that agent's journal.
void KnobKeeper::adoptOriginal(TouchedKnob& knob) const {
    for (const TouchedKnob& other : m_sameRun) {
        if (other.is(knob.knob))
            knob.original = other.original;
    }
}

void KnobKeeper::setOne(const JournalDir& dir, Step& step) {
    const KnobTarget target = step.target();
    step.outcome.name = target.name;
    step.outcome.interface = target.interface;
    step.outcome.requested = step.setting.value;
    try {
        refuseZeroBytes(target, step.setting.value);
        step.before = readKnob(target);
        step.readable = true;
        TouchedKnob knob{target, step.before, step.before, step.setting.value, std::nullopt};
        adoptOriginal(knob);
        if (const TouchedKnob* known = m_journal ? m_journal->find(target) : nullptr)
            knob.original = known->original;
        step.outcome.original = knob.original;
        if (sameKnobValue(target.name, step.before, step.setting.value))
            return;
        openJournal(dir);
        m_journal->aboutToSet(knob, &dir);
        step.tried = true;
        writeKnob(step.setting);
    } catch (const std::exception& error) {
        step.outcome.error = error.what();
        if (!step.readable)
            step.outcome.error += "; it was not set, because it could not be put back";
    }
}

void KnobKeeper::readBack(const JournalDir& dir, Step& step) {
    KnobOutcome& outcome = step.outcome;
    const KnobTarget target = step.target();
    if (!step.readable) {
        outcome.status = "rejected";
        return;
    }
    try {
        outcome.accepted = readKnob(target);
        const bool moved = !sameKnobValue(target.name, *outcome.accepted, step.before);
        const bool asked = sameKnobValue(target.name, *outcome.accepted, outcome.requested);
        if (asked && (step.tried || outcome.error.empty())) {
            outcome.status = step.tried || moved ? "applied" : "unchanged";
            outcome.error.clear();
        } else {
            outcome.status = outcome.error.empty() ? "adjusted" : "rejected";
        }
        if (!step.tried && moved) {
            // Another knob of this set has moved it; it is to be put back all the same.
            openJournal(dir);
            TouchedKnob knob{target, step.before, step.before, *outcome.accepted, std::nullopt};
            adoptOriginal(knob);
            m_journal->aboutToSet(knob, &dir);
        }
        if (!m_journal)
            return;
        m_journal->wasSet(target, *outcome.accepted);
        const TouchedKnob* known = m_journal->find(target);
        if (known && step.tried && !moved &&
            sameKnobValue(target.name, known->original, *outcome.accepted))
            m_journal->putBack(target); // nothing came of it
    } catch (const std::exception& error) {
        if (outcome.status.empty())
            outcome.status = "adjusted";
        outcome.error = std::string("after it was set: ") + error.what();
    }
}

std::optional<JournalDir> KnobKeeper::lockForRestore() const {
    try {
        return JournalDir::lock(true, kLockWait);
    } catch (const std::exception& error) {
        m_log(std::string("putting back without the lock: ") + error.what());
        return std::nullopt;
    }
}

std::vector<UndoReport> KnobKeeper::restore() {
    if (!m_journal)
        return {};
    const std::optional<JournalDir> dir = lockForRestore();
    const std::vector<TouchedKnob> knobs = m_journal->content().knobs;
    std::vector<UndoReport> reports = undoKnobs(knobs);
    m_restoreFailed = false;
    for (UndoReport& report : reports) {
        // Another agent of the run may have put the same knob back before.
        if (m_hadCompany && report.found &&
            sameKnobValue(report.name, *report.found, report.original))
            report.changed_by_other = false;
        m_restoreFailed = m_restoreFailed || !report.restored;
    }
    try {
        for (const UndoReport& report : reports) {
            if (report.restored && m_restoreFailed)
                m_journal->putBack({report.name, report.interface});
        }
    } catch (const std::exception& error) {
        m_log(error.what());
    }
    if (!m_restoreFailed) {
        m_journal->remove(dir ? &*dir : nullptr);
        m_journal.reset();
    }
    return reports;
}

std::vector<UndoReport> KnobKeeper::recover() {
    std::vector<UndoReport> reports;
    try {
        if (const auto dir = JournalDir::lock(false, kLockWait))
            recoverFrom(*dir, reports);
    } catch (const std::exception& error) {
        m_log(std::string("cannot look for knobs left behind: ") + error.what());
    }
    m_looked = true;
    for (const UndoReport& report : reports)
        m_recoverFailed = m_recoverFailed || !(report.restored || report.interface_gone);
    return reports;
}

void KnobKeeper::note(const std::string& text) const {
    if (!m_looked)
        m_log(text);
}

void KnobKeeper::recoverFrom(const JournalDir& dir, std::vector<UndoReport>& reports) {
    const HostIdentity here = HostIdentity::here();
    std::vector<Journal::Found> all = Journal::findAll(dir, m_journal ? m_journal->name() : "");
    const auto heldByLiving = [&](const KnobTarget& knob) {
        return (m_journal && m_journal->find(knob)) ||
               std::any_of(all.begin(), all.end(), [&](const Journal::Found& found) {
                   return found.living && found.content && found.content->host.sameNetwork(here) &&
                          std::any_of(found.content->knobs.begin(), found.content->knobs.end(),
                                      [&](const TouchedKnob& other) { return other.is(knob); });
               });
    };
    for (Journal::Found& found : all) {
        if (found.living) {
            if (found.content && !found.content->knobs.empty())
                note("left alone: the knobs of " + found.content->owner());
            continue;
        }
        if (!found.content || found.content->format != JournalContent::kFormat) {
            note("left alone: " + dir.path() + "/" + found.name + " cannot be read");
            continue;
        }
        // Settings end with the boot.
        if (found.content->host.boot != here.boot || found.content->knobs.empty()) {
            found.journal->remove(&dir);
            continue;
        }
        if (!found.content->host.sameNetwork(here))
            continue;
        std::vector<TouchedKnob> knobs;
        for (const TouchedKnob& knob : found.content->knobs) {
            if (interfaceIsGone(knob.knob))
                reports.push_back(keptForLater(knob, dir.path() + "/" + found.name));
            else if (!heldByLiving(knob.knob))
                knobs.push_back(knob);
        }
        for (const UndoReport& report : undoKnobs(std::move(knobs))) {
            reports.push_back(report);
            if (report.restored)
                found.journal->putBack({report.name, report.interface});
        }
        if (found.journal->content().knobs.empty())
            found.journal->remove(&dir);
    }
}

} // namespace knobscope::agent
