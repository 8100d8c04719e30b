// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/uniquefd.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace knobscope::agent {

/// The folder of the journals, locked: while one agent holds it, no other of this user looks at or
/// changes who holds which knob. The folder is made when needed and removed with its last journal.
class JournalDir {
public:
    /// Locks the folder: /run/knobscope for root, else $XDG_RUNTIME_DIR/knobscope or
    /// /tmp/knobscope-UID; mode 0700, owned by this user, no symbolic link. Absent when there is
    /// none and `create` is false. Waits up to `timeout` for another agent; then AgentError(kBusy).
    /// Without a usable folder AgentError(kKnob).
    static std::optional<JournalDir> lock(bool create, std::chrono::milliseconds timeout);

    /// Unlocks, and removes the folder when it is empty.
    ~JournalDir();
    JournalDir(JournalDir&&) noexcept = default;
    JournalDir& operator=(JournalDir&&) = delete;

    [[nodiscard]] int fd() const { return m_fd.get(); }
    [[nodiscard]] const std::string& path() const { return m_path; }
    /// Names of the files in it.
    [[nodiscard]] std::vector<std::string> files() const;

private:
    JournalDir(UniqueFd fd, std::string path) : m_fd(std::move(fd)), m_path(std::move(path)) {}
    static std::optional<JournalDir> lockOne(const std::string& path, bool create,
                                             std::chrono::steady_clock::time_point deadline);

    UniqueFd m_fd;
    std::string m_path;
};

} // namespace knobscope::agent
