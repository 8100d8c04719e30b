// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/fd.h"
#include "core/host/transport.h"
#include "core/result.h"

#include <memory>

#include <sys/types.h>

namespace knobscope {

/// Pipes to an agent that is a child of this process.
class PipeTransport final : public Transport {
public:
    struct Ends {
        Fd toAgent;     ///< its stdin
        Fd fromAgent;   ///< its stdout
        Fd diagnostics; ///< its stderr; may be absent
        pid_t pid = -1; ///< absent: nobody to wait for
    };

    /// Starts `program` in a session of its own, so that Ctrl-C in a terminal reaches the
    /// workbench alone, which then puts the knobs back in order. HostUnusable when it does not
    /// start.
    static Result<std::unique_ptr<PipeTransport>> start(const QString& program);

    explicit PipeTransport(Ends ends);
    ~PipeTransport() override;

    void addPollFds(std::vector<pollfd>& fds, bool wantWrite) override;
    Read read(std::string& out, std::string& diagnostics) override;
    std::optional<std::size_t> write(std::string_view bytes) override;
    QString endReason() override;
    void close(std::chrono::milliseconds limit) override;

private:
    [[nodiscard]] bool reap(std::chrono::milliseconds limit);
    void drain(std::chrono::milliseconds limit);

    Ends m_ends;
    std::optional<int> m_status; ///< of waitpid
};

} // namespace knobscope
