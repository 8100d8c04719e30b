// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/engine/controllink.h"
#include "agents/agent/engine/course.h"
#include "agents/agent/engine/setup.h"

#include <functional>
#include <list>
#include <memory>
#include <span>

namespace knobscope::agent {

/// Throws AgentError(kCancelled) when the test was cancelled.
using CheckCancelled = std::function<void()>;

/// The client's part: makes all connections of the test at once, with the test knobs set, hands
/// over the token on each and waits until the server has taken them all; kPatience altogether.
/// `wake` is raised by a cancel. Throws AgentError, which says what happened to which address.
std::unique_ptr<ControlLink> connectStreams(const Setup& setup, std::span<Stream> streams,
                                            const Event& wake, const CheckCancelled& check);

/// The server's part: listens on the test address from construction on, and takes the connections
/// that carry the token. Others are dropped and counted; a silent one holds up nobody.
class Acceptor {
public:
    /// Throws AgentError when the address cannot be bound or a test knob was refused.
    explicit Acceptor(const Setup& setup);

    [[nodiscard]] int port() const { return m_port; }
    [[nodiscard]] int strangers() const { return m_strangers; }

    /// Takes the next step of whatever connection is ready, waiting for one until `until` or until
    /// `wake` is raised. True: all are up; nothing listens any more.
    bool step(std::span<Stream> streams, const Event& wake, TimePoint until);
    /// After step() was true: the control connection, on which the client was told so.
    std::unique_ptr<ControlLink> takeControl();

private:
    /// A connection that has not yet shown its token.
    struct Pending {
        Fd socket;
        TimePoint deadline;
        Proof proof{};
        std::size_t have = 0;
    };

    void acceptAll();
    bool readProof(Pending& pending);
    bool take(Pending& pending, std::span<Stream> streams);
    void dropLate();
    void finish();

    const Setup& m_setup;
    Fd m_listener;
    Fd m_control;
    std::list<Pending> m_pending;
    std::size_t m_taken = 0;
    int m_port = 0;
    int m_strangers = 0;
};

} // namespace knobscope::agent
