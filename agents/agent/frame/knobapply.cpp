// SPDX-License-Identifier: GPL-3.0-or-later
// How KnobKeeper sets knobs; knobkeeper.cpp has how it puts them back.
#include "agents/agent/frame/knobkeeper.h"

#include "agents/agent/error.h"
#include "agents/agent/kernel/carrier.h"
#include "agents/agent/kernel/knobs.h"

#include <algorithm>
#include <set>

namespace knobscope::agent {

namespace errorcode = protocol::errorcode;
using protocol::KnobOutcome;
using protocol::KnobReading;
using protocol::KnobSetting;
using protocol::KnobTarget;

namespace {

/// The kernel's calls end at a zero byte: "rmem_max\0x" would set another knob than it names.
void refuseZeroBytes(const KnobTarget& knob, const std::string& value) {
    const protocol::KnobCommands commands = knob.commands.value_or(protocol::KnobCommands{});
    for (const std::string& text :
         {knob.name, knob.interface, value, commands.get, commands.set, commands.restore}) {
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

void addNote(std::string& note, const std::string& text) {
    note += (note.empty() ? "" : "; ") + text;
}

} // namespace

/// One setting on its way.
struct KnobKeeper::Step {
    Step(const KnobSetting& wanted, KnobOutcome& result)
        : setting(wanted), outcome(result), target{wanted.name, wanted.interface, wanted.commands} {
    }
    const KnobSetting& setting;
    KnobOutcome& outcome;
    KnobTarget target;
    std::string before;   ///< read before any knob was set
    std::string previous; ///< read just before it was set
    bool readable = false;
    bool tried = false;    ///< the kernel was asked
    bool repeated = false; ///< the host has what it made of the same request before
    [[nodiscard]] bool meets(const std::string& value) const {
        return meetsKnobValue(target.name, setting.value, value);
    }
    [[nodiscard]] bool failed() const { return tried && !outcome.error.empty(); }
};

std::vector<KnobReading> KnobKeeper::read(const std::vector<KnobTarget>& knobs) {
    std::vector<KnobReading> readings;
    for (const KnobTarget& knob : knobs) {
        KnobReading reading;
        reading.name = knob.name;
        try {
            refuseZeroBytes(knob, {});
            reading.value = readKnob(m_host, knob);
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
    auto dir = JournalDir::lock(true, kLockWait);
    refuseOthers(*dir);

    std::vector<Step> steps;
    for (std::size_t i = 0; i < settings.size(); ++i)
        steps.emplace_back(settings[i], outcomes[i]);
    std::vector<Step*> order;
    for (Step& step : steps)
        order.push_back(&step);
    std::stable_sort(order.begin(), order.end(), [](const Step* a, const Step* b) {
        return knobRank(a->setting.name) < knobRank(b->setting.name);
    });
    // One knob can move another: what is to be put back is read before any is set.
    for (Step* step : order)
        look(*step);
    CarrierWatch links;
    for (Step* step : order)
        setOne(*dir, *step, links);
    tryAgain(*dir, order, links);
    std::vector<std::string> down;
    if (!links.isSettled()) {
        dir.reset(); // for other agents of this host meanwhile
        down = links.wait(kLinkWait);
        dir.emplace(std::move(*JournalDir::lock(true, kLockWait)));
    }
    for (Step* step : order) {
        readBack(*dir, *step);
        const std::string& interface = step->target.interface;
        if (step->tried && knobLinkEffect(step->target.name) != LinkEffect::None &&
            std::find(down.begin(), down.end(), interface) != down.end())
            addNote(step->outcome.note, "the link of " + interface + " did not come back within " +
                                            std::to_string(kLinkWait.count()) + " s");
    }
    removeIdleJournal(*dir);
    return outcomes;
}

void KnobKeeper::look(Step& step) {
    step.outcome.name = step.target.name;
    step.outcome.interface = step.target.interface;
    step.outcome.requested = step.setting.value;
    try {
        refuseZeroBytes(step.target, step.setting.value);
        step.before = readKnob(m_host, step.target);
        step.readable = true;
        TouchedKnob knob{step.target, step.before, {}, {}, std::nullopt};
        adoptOriginal(knob);
        if (const TouchedKnob* known = m_journal ? m_journal->find(step.target) : nullptr)
            knob.original = known->original;
        step.outcome.original = knob.original;
        if (!canPutBack(step.target.name, knob.original)) {
            step.readable = false;
            step.outcome.error =
                "it is \"" + knob.original + "\", which could not be put back; it was not set";
        }
    } catch (const KnobUnsupported& error) {
        step.outcome.error = error.what();
    } catch (const std::exception& error) {
        step.outcome.error =
            std::string(error.what()) + "; it was not set, because it could not be put back";
    }
}

void KnobKeeper::setOne(const JournalDir& dir, Step& step, CarrierWatch& links) {
    if (!step.readable)
        return;
    try {
        step.previous = readKnob(m_host, step.target); // a knob before this one may have moved it
        if (sameKnobValue(step.target.name, step.previous, step.setting.value))
            return;
        // Setting it once more would disturb the host (rings reset the device), for the same value.
        const auto taken = m_taken.find({step.target.name, step.target.interface});
        step.repeated = taken != m_taken.end() && taken->second.requested == step.setting.value &&
                        sameKnobValue(step.target.name, step.previous, taken->second.accepted);
        if (!step.repeated)
            write(dir, step, links);
    } catch (const std::exception& error) {
        step.outcome.error = error.what();
    }
}

void KnobKeeper::write(const JournalDir& dir, Step& step, CarrierWatch& links) {
    openJournal(dir);
    noteCompanions(dir, step.target);
    m_journal->aboutToSet({step.target, step.outcome.original.value_or(step.before), step.previous,
                           step.setting.value, std::nullopt},
                          &dir);
    links.before(step.target.interface, knobLinkEffect(step.target.name));
    step.tried = true;
    writeKnob(m_host, step.target, step.setting.value);
}

/// What setting the knob may move as well is put back with it. The original is on disk before.
void KnobKeeper::noteCompanions(const JournalDir& dir, const KnobTarget& knob) {
    for (const std::string& name : knobsReset(knob.name)) {
        const KnobTarget other{name, knob.interface};
        if (name == knob.name || m_journal->find(other))
            continue;
        try {
            const std::string value = readKnob(m_host, other);
            TouchedKnob companion{other, value, value, value, std::nullopt, true};
            adoptOriginal(companion);
            m_journal->aboutToSet(companion, &dir);
        } catch (const AgentError&) {
            // The interface has no such knob.
        }
    }
}

/// A knob may be refused because of what another had before: a number of channels while the RSS
/// table uses more, a time of zero while the number of frames is zero. And one that is taken late
/// may reset those that were set before it.
void KnobKeeper::tryAgain(const JournalDir& dir, const std::vector<Step*>& order,
                          CarrierWatch& links) {
    const bool failed =
        std::any_of(order.begin(), order.end(), [](const Step* step) { return step->failed(); });
    const bool set = std::any_of(order.begin(), order.end(),
                                 [](const Step* step) { return step->tried && !step->failed(); });
    if (!failed || !set)
        return;
    bool again = false;
    for (Step* step : order) {
        if (!step->readable)
            continue;
        const std::string error = step->outcome.error;
        try {
            if (!step->failed() &&
                (!again || step->repeated || step->meets(readKnob(m_host, step->target))))
                continue;
            write(dir, *step, links);
            again = again || step->failed();
            step->outcome.error.clear();
        } catch (const std::exception& problem) {
            step->outcome.error = error.empty() ? problem.what() : error;
        }
    }
}

void KnobKeeper::readBack(const JournalDir& dir, Step& step) {
    KnobOutcome& outcome = step.outcome;
    if (!step.readable) {
        outcome.status = "rejected";
        return;
    }
    try {
        outcome.accepted = readKnob(m_host, step.target);
        judge(step);
        const bool moved = !sameKnobValue(step.target.name, *outcome.accepted, step.before);
        if (!step.tried && moved) {
            // Another knob of this set has moved it; it is to be put back all the same.
            openJournal(dir);
            m_journal->aboutToSet({step.target, outcome.original.value_or(step.before), step.before,
                                   *outcome.accepted, std::nullopt},
                                  &dir);
        }
        if (!m_journal)
            return;
        m_journal->wasSet(step.target, *outcome.accepted);
        const TouchedKnob* known = m_journal->find(step.target);
        if (known && step.tried && !moved && (step.failed() || !restoresMore(step.target.name)) &&
            sameKnobValue(step.target.name, known->original, *outcome.accepted))
            m_journal->putBack(step.target); // nothing came of it
    } catch (const std::exception& error) {
        if (outcome.status.empty())
            outcome.status = "adjusted";
        outcome.error = std::string("after it was set: ") + error.what();
    }
}

/// Status and note from what was read back.
void KnobKeeper::judge(Step& step) {
    KnobOutcome& outcome = step.outcome;
    const std::pair key(step.target.name, step.target.interface);
    const bool moved = !sameKnobValue(step.target.name, *outcome.accepted, step.before);
    if (step.meets(*outcome.accepted) && (step.tried || outcome.error.empty())) {
        outcome.status = step.tried || moved ? "applied" : "unchanged";
        outcome.error.clear();
    } else {
        outcome.status = outcome.error.empty() ? "adjusted" : "rejected";
    }
    if (step.repeated) {
        outcome.note = m_taken[key].note;
        return;
    }
    if (!step.tried)
        return;
    if (outcome.status == "adjusted" &&
        sameKnobValue(step.target.name, *outcome.accepted, step.previous))
        outcome.note = "the host said yes but has kept the value that it had";
    if (outcome.status != "rejected") {
        if (const std::string mover = knobMover(m_host, step.target); !mover.empty())
            addNote(outcome.note, mover + ", so the host may move this value by itself");
    }
    m_taken.erase(key);
    if (outcome.error.empty())
        m_taken[key] = {step.setting.value, *outcome.accepted, outcome.note};
}

void KnobKeeper::removeIdleJournal(const JournalDir& dir) {
    if (!m_journal)
        return;
    const std::vector<TouchedKnob>& knobs = m_journal->content().knobs;
    if (std::all_of(knobs.begin(), knobs.end(),
                    [](const TouchedKnob& knob) { return knob.companion; })) {
        m_journal->remove(&dir);
        m_journal.reset();
    }
}

} // namespace knobscope::agent
