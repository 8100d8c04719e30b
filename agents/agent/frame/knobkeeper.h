// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/frame/journal.h"

#include <functional>
#include <string>
#include <vector>

namespace knobscope::agent {

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

    [[nodiscard]] static std::vector<protocol::KnobReading>
    read(const std::vector<protocol::KnobTarget>& knobs);
    /// Sets the knobs in the order of knobRank() and then reads all back. A knob that the host
    /// rejects keeps its value; the rest goes on. Outcomes are in the order of the settings.
    /// Throws AgentError: kBusy while another run's agent has set knobs here, kInvalidParams for
    /// settings that contradict each other, kKnob when no journal can be kept.
    std::vector<protocol::KnobOutcome> apply(const std::vector<protocol::KnobSetting>& settings);
    /// Puts all back; the journal is removed, or keeps what could not be
    /// put back. Never throws.
    std::vector<protocol::UndoReport> restore();
    /// Puts back what dead agents left behind in this network namespace, reports it. Never throws.
    std::vector<protocol::UndoReport> recover();

    /// Whether a knob could not be put back, now or at the start.
    [[nodiscard]] bool failed() const { return m_recoverFailed || m_restoreFailed; }

private:
    struct Step;
    void refuseOthers(const JournalDir& dir);
    void recoverFrom(const JournalDir& dir, std::vector<protocol::UndoReport>& reports);
    void setOne(const JournalDir& dir, Step& step);
    void readBack(const JournalDir& dir, Step& step);
    [[nodiscard]] std::optional<JournalDir> lockForRestore() const;
    void openJournal(const JournalDir& dir);
    void adoptOriginal(TouchedKnob& knob) const;
    void note(const std::string& text) const; ///< logs what is worth saying only at the start

    Log m_log;
    std::string m_run;
    std::string m_group;
    std::unique_ptr<Journal> m_journal; ///< null while there is nothing to put back
    std::vector<TouchedKnob> m_sameRun; ///< what living agents of this run have set here
    bool m_hadCompany = false;          ///< another agent of this run has set knobs here
    bool m_looked = false;              ///< recover() has been here
    bool m_recoverFailed = false;
    bool m_restoreFailed = false;
};

} // namespace knobscope::agent
