// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/result.h"

#include <QList>

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>

namespace knobscope {

/// One step on the way to a host that can be used.
struct HostStep {
    enum class Kind {
        Resolve,    ///< the name, by the ssh configuration
        Connect,    ///< TCP, through jump hosts, and the SSH handshake
        HostKey,    ///< against known_hosts
        Login,      ///< keys, passwords
        Shell,      ///< a command runs there
        Rights,     ///< root, sudo or neither
        Upload,     ///< of the agent
        Hello,      ///< the agent answers
        Interfaces, ///< the test interface is there
    };
    enum class State { Running, Ok, Failed, Skipped };

    Kind kind = Kind::Resolve;
    QString host; ///< what it is about: the host, or a jump host on the way to it
    State state = State::Running;
    std::chrono::microseconds took{0}; ///< without the time in which the user was asked
    QString text;                      ///< what was found; what went wrong; why it was skipped
    QString advice;                    ///< what to do about it; may be empty
};

/// "Host key" and the like, for lists.
[[nodiscard]] QString stepTitle(HostStep::Kind kind);

/// The steps of reaching one host, written down by the code that makes them. One thread writes, any
/// may read. One step runs at a time.
class HostSteps {
public:
    /// `changed` is called on the writing thread when a step begins and when it ends; it must not
    /// block.
    using Observer = std::function<void(const HostStep&)>;
    explicit HostSteps(Observer changed = {}) : m_changed(std::move(changed)) {}

    void start(HostStep::Kind kind, const QString& host);
    /// Ends the running step.
    void done(const QString& text);
    void failed(const Error& error);
    void skipped(const QString& text, const QString& advice = {});
    /// A step that is not needed or not reached.
    void skip(HostStep::Kind kind, const QString& host, const QString& text,
              const QString& advice = {});
    /// Time that does not count for the running step: the user was asked.
    void discount(std::chrono::microseconds time);

    [[nodiscard]] QList<HostStep> all() const;
    [[nodiscard]] bool has(HostStep::Kind kind) const;
    /// The step that failed, if one did: everything stops there.
    [[nodiscard]] std::optional<HostStep> stoppedAt() const;

private:
    using Clock = std::chrono::steady_clock;
    void end(HostStep::State state, const QString& text, const QString& advice);
    void add(const HostStep& step);

    const Observer m_changed;
    mutable std::mutex m_mutex; ///< guards the list
    QList<HostStep> m_steps;
    Clock::time_point m_started;
    std::chrono::microseconds m_discount{0};
};

} // namespace knobscope
