// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"
#include "core/host/canceltoken.h"
#include "core/host/loginhistory.h"
#include "core/model/experiment.h"

#include <chrono>
#include <functional>
#include <future>
#include <memory>

namespace knobscope {

class HostSteps;
class SecretSource;

/// How the agent becomes root on a host where the login is not root.
enum class SudoMode {
    None,     ///< not at all: it runs as the user
    Auto,     ///< by sudo where that asks for no password; else it runs as the user
    Password, ///< by sudo, and the user is asked for the password; a refusal is an error
};

struct HostOptions {
    QString run;   ///< name for the host's journal
    QString group; ///< the same for the agents of one run, of no others; empty: the name
    std::chrono::milliseconds connectTimeout{10000};
    std::chrono::milliseconds pingInterval{1000};
    std::chrono::milliseconds lostAfter{5000}; ///< no answer to pings for this long: contact lost
    std::chrono::seconds lease{10};            ///< the host's own limit; then it restores by itself
    QString sshConfig;                         ///< file for ssh -F; empty: the user's own
    QString savedHosts; ///< file of saved hosts, whose names come before ssh's; empty: none
    bool acceptNewHostKeys = false; ///< adds unknown keys to known_hosts; changed ones never pass
    SudoMode sudo = SudoMode::None;
    /// Who is asked for passphrases, passwords and about new host keys; none: nobody.
    std::shared_ptr<SecretSource> secrets = nullptr;
    /// Refused logins, shared by all copies, so that repeated attempts slow down.
    std::shared_ptr<LoginHistory> logins = std::make_shared<LoginHistory>();
};

/// One host with a living agent: this computer over a pipe, or a remote one over SSH.
/// An I/O thread of its own carries the messages and the heartbeat; all members may be called from
/// any one other thread. Every call has a timeout. When contact is lost, all pending and later
/// calls fail with LinkLost; the host's guardian then puts the knobs back by itself.
class HostSession {
public:
    /// Connects, brings the agent there if need be, starts it, and exchanges hello. Blocks;
    /// cancellable. HostUnusable with the reason in plain words. `steps`, when given, takes down
    /// each step, to the one that failed or to the agent's rights.
    static Result<std::unique_ptr<HostSession>> open(const HostSpec& host,
                                                     const HostOptions& options,
                                                     const CancelToken& cancel,
                                                     HostSteps* steps = nullptr);
    virtual ~HostSession() = default; ///< closes the link; the guardian restores what is left

    /// Sends a request. Errors: LinkLost, Timeout, Protocol, or what the agent answered (Knob,
    /// Traffic, Cancelled, HostUnusable for kBusy).
    virtual std::future<Result<Json>> call(const char* method, Json params,
                                           std::chrono::milliseconds timeout) = 0;
    [[nodiscard]] virtual const protocol::HelloResult& hello() const = 0;
    [[nodiscard]] virtual QString label() const = 0;
    [[nodiscard]] virtual bool lost() const = 0;
    /// Called on the I/O thread for each notification; must not block.
    virtual void setNotificationHandler(std::function<void(const std::string&, const Json&)>) = 0;
};

} // namespace knobscope
