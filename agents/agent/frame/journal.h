// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/frame/journaldir.h"
#include "agents/protocol/protocol.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace knobscope::agent {

/// Where knobs belong: one boot of one kernel, one network namespace.
struct HostIdentity {
    std::string boot;
    std::uint64_t netns = 0;             ///< inode of /proc/self/ns/net; can come again
    std::optional<std::uint64_t> cookie; ///< of the namespace, never used twice in one boot

    /// Throws AgentError(kKnob) without /proc.
    static HostIdentity here();
    [[nodiscard]] bool sameNetwork(const HostIdentity& other) const;
};

/// A knob that an agent has set and must put back.
struct TouchedKnob {
    protocol::KnobTarget knob;
    std::string original;                ///< before the agent first touched it
    std::string previous;                ///< just before the last set
    std::string value;                   ///< asked for in the last set
    std::optional<std::string> accepted; ///< read back after it; absent: the agent died before
    /// Not set by the agent: another knob may have moved it, and both are put back together.
    bool companion = false;

    [[nodiscard]] bool is(const protocol::KnobTarget& other) const {
        return knob.name == other.name && knob.interface == other.interface;
    }
    /// Whether a value found on the host is this agent's doing.
    [[nodiscard]] bool isOurs(const std::string& found) const;
};

struct JournalContent {
    /// Of the file. An agent leaves other formats than its own alone.
    static constexpr int kFormat = 1;
    int format = kFormat;
    std::string run;
    std::string group;    ///< of agents that belong together; the run's name where it is not told
    std::int64_t pid = 0; ///< of the guardian
    std::int64_t started = 0; ///< seconds since 1970
    HostIdentity host;
    std::vector<TouchedKnob> knobs; ///< still to be put back, in the order first touched
    /// "run "night" (agent 1234, since 2026-01-31 12:00:00 UTC)"
    [[nodiscard]] std::string owner() const;
};

/// Reads the text of a journal. A torn or unreadable line counts as not written. Absent: no line
/// says whose journal it is.
[[nodiscard]] std::optional<JournalContent> parseJournal(const std::string& text);

/// The journal of this agent, or one that a dead agent left. The file is held with flock as long
/// as the object lives. What a function has recorded is on disk when it returns; otherwise it
/// throws AgentError(kKnob) and the file is as before.
class Journal {
public:
    /// A new file in the folder.
    Journal(const JournalDir& dir, JournalContent content);

    struct Found;
    /// All journals in the folder but the one named. Empty files of the dead are removed.
    static std::vector<Found> findAll(const JournalDir& dir, const std::string& except);

    [[nodiscard]] const JournalContent& content() const { return m_content; }
    [[nodiscard]] const std::string& name() const { return m_name; }
    [[nodiscard]] const TouchedKnob* find(const protocol::KnobTarget& knob) const;

    /// To be called before the knob is set. Keeps the original of an earlier call. A long file is
    /// written anew, if the folder is given.
    void aboutToSet(const TouchedKnob& knob, const JournalDir* dir);
    void wasSet(const protocol::KnobTarget& knob, const std::string& accepted);
    void putBack(const protocol::KnobTarget& knob);
    /// Removes the file.
    void remove(const JournalDir* dir);

private:
    Journal(UniqueFd fd, std::string name, std::string folder, JournalContent content);
    void append(const Json& record);
    void rewrite(const JournalDir& dir);
    TouchedKnob* findOwn(const protocol::KnobTarget& knob);

    UniqueFd m_fd;
    std::string m_name;
    std::string m_folder;
    JournalContent m_content;
    std::size_t m_bytes = 0;
};

struct Journal::Found {
    std::string name;
    bool living = false;
    std::optional<JournalContent> content;
    std::unique_ptr<Journal> journal; ///< of a dead agent, now held by this one; null otherwise
};

} // namespace knobscope::agent
