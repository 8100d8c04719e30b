// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

namespace knobscope {

/// The bytes between the workbench and one agent: a pipe or an SSH channel. One thread at a time
/// uses it; nothing but close() blocks.
class Transport {
public:
    enum class Read {
        Nothing, ///< wait for the descriptors
        Some,    ///< there may be more: read again before waiting
        Ended,   ///< the other end is gone; endReason() says why
    };

    Transport() = default;
    virtual ~Transport() = default;
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;

    /// Adds what to wait for; `wantWrite` when bytes are waiting to be written.
    virtual void addPollFds(std::vector<pollfd>& fds, bool wantWrite) = 0;
    /// Appends what is there of the agent's stdout to `out` and of its stderr to `diagnostics`.
    virtual Read read(std::string& out, std::string& diagnostics) = 0;
    /// How many bytes were taken, maybe 0; nothing when the other end is gone.
    virtual std::optional<std::size_t> write(std::string_view bytes) = 0;
    /// Why the stream ended, in words that follow "contact was lost: ".
    virtual QString endReason() = 0;
    /// Tells the agent that this end is gone, waits at most `limit` for it to finish, and frees
    /// everything.
    virtual void close(std::chrono::milliseconds limit) = 0;
};

} // namespace knobscope
