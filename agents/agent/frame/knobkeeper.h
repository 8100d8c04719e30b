// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/frame/journal.h"
#include "agents/agent/kernel/knobhost.h"

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace knobscope::agent {

class CarrierWatch;

/// Sets knobs so that each can be put back, whatever dies: the value to put back is on disk before
/// a knob is touched. Lives in the guardian; one thread. Knobs that dead agents left behind are
/// put back on the way.
class KnobKeeper {
public:
    using Log = std::function<void(const std::string&)>;
    explicit KnobKeeper(Log log) : m_log(std::move(log)) {}

    /// Name of the run, for the journal. Agents of one group may set knobs of the same host.
    void setRun(const std::string& run, const std::string& group) {
        m_run = run;
        m_group = group;
    }

    [[nodiscard]] std::vector<protocol::KnobReading>
    read(const std::vector<protocol::KnobTarget>& knobs);
    /// Sets the knobs in the order of knobRank(), waits up to 10 s for links that went down with
    /// it, and then reads all back. A knob that the host rejects keeps its value; the rest goes
    /// on. Outcomes are in the order of the settings. Throws AgentError: kBusy while another run's
    /// agent has set knobs here, kInvalidParams for settings that contradict each other, kKnob
    /// when no journal can be kept.
    std::vector<protocol::KnobOutcome> apply(const std::vector<protocol::KnobSetting>& settings);
    /// Puts all back; the journal is removed, or keeps what could not be
    /// put back. Waits for links as apply() does. Never throws.
    std::vector<protocol::UndoReport> restore();
    /// Puts back what dead agents left behind in this network namespace, reports it. Never throws.
    std::vector<protocol::UndoReport> recover();

    /// Whether a knob could not be put back, now or at the start.
    [[nodiscard]] bool failed() const { return m_recoverFailed || m_restoreFailed; }

private:
    static constexpr std::chrono::seconds kLockWait{5};
    static constexpr std::chrono::seconds kLinkWait{10};
    struct Step;
    /// What the host made of a request the last time.
    struct Taken {
        std::string requested;
        std::string accepted;
        std::string note;
    };
    void refuseOthers(const JournalDir& dir);
    void recoverFrom(const JournalDir& dir, std::vector<protocol::UndoReport>& reports);
    void look(Step& step);
    void setOne(const JournalDir& dir, Step& step, CarrierWatch& links);
    void write(const JournalDir& dir, Step& step, CarrierWatch& links);
    void tryAgain(const JournalDir& dir, const std::vector<Step*>& order, CarrierWatch& links);
    void readBack(const JournalDir& dir, Step& step);
    void judge(Step& step);
    void noteCompanions(const JournalDir& dir, const protocol::KnobTarget& knob);
    void removeIdleJournal(const JournalDir& dir);
    [[nodiscard]] std::optional<JournalDir> lockForRestore() const;
    void openJournal(const JournalDir& dir);
    void adoptOriginal(TouchedKnob& knob) const;
    void note(const std::string& text) const; ///< logs what is worth saying only at the start

    Log m_log;
    KnobHost m_host;
    std::string m_run;
    std::string m_group;
    std::unique_ptr<Journal> m_journal; ///< null while there is nothing to put back
    std::map<std::pair<std::string, std::string>, Taken> m_taken; ///< by name and interface
    std::vector<TouchedKnob> m_sameRun; ///< what living agents of this run have set here
    bool m_hadCompany = false;          ///< another agent of this run has set knobs here
    bool m_looked = false;              ///< recover() has been here
    bool m_recoverFailed = false;
    bool m_restoreFailed = false;
};

} // namespace knobscope::agent
