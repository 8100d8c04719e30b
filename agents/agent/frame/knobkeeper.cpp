// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/frame/knobkeeper.h"

#include "agents/agent/error.h"
#include "agents/agent/frame/undo.h"
#include "agents/agent/kernel/knobs.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <utility>

namespace knobscope::agent {

namespace errorcode = protocol::errorcode;
using protocol::KnobTarget;
using protocol::UndoReport;

namespace {

constexpr std::chrono::milliseconds kNoWait{0};

/// The interface may have been renamed, or come back with its old name and settings.
UndoReport keptForLater(KnobHost& host, const TouchedKnob& knob, const std::string& journal) {
    UndoReport report;
    report.name = knob.knob.name;
    report.interface = knob.knob.interface;
    report.original = knob.original;
    report.interface_gone = true;
    report.error = "there is no interface " + knob.knob.interface + " now (" + journal +
                   " remembers it; remove that file to forget it)";
    report.command = knobCommand(host, knob.knob, knob.original);
    return report;
}

} // namespace

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
    std::vector<Undone> undone = undoKnobs(m_host, knobs, kLinkWait);
    std::vector<UndoReport> reports;
    m_taken.clear();
    m_restoreFailed = false;
    for (Undone& one : undone) {
        // Another agent of the run may have put the same knob back before.
        if (m_hadCompany && one.report.found &&
            sameKnobValue(one.report.name, *one.report.found, one.report.original))
            one.report.changed_by_other = false;
        m_restoreFailed = m_restoreFailed || !one.report.restored;
        if (!one.quiet)
            reports.push_back(one.report);
    }
    try {
        for (const Undone& one : undone) {
            if (one.report.restored && m_restoreFailed)
                m_journal->putBack({one.report.name, one.report.interface});
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
                reports.push_back(keptForLater(m_host, knob, dir.path() + "/" + found.name));
            else if (!heldByLiving(knob.knob))
                knobs.push_back(knob);
        }
        // Whoever waits for this has not been told yet that there is an agent: no time for links.
        for (const Undone& one : undoKnobs(m_host, std::move(knobs), kNoWait)) {
            if (!one.quiet)
                reports.push_back(one.report);
            if (one.report.restored)
                found.journal->putBack({one.report.name, one.report.interface});
        }
        if (found.journal->content().knobs.empty())
            found.journal->remove(&dir);
    }
}

} // namespace knobscope::agent
