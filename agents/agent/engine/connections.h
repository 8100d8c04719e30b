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
    /// Throws AgentError when the address cannot be bound or a test knob was refused. Streams that
    /// have a port of their own (UDP, tcp_crr) get it here.
    Acceptor(const Setup& setup, std::span<Stream> streams);

    [[nodiscard]] int port() const { return m_port; }
    [[nodiscard]] int strangers() const { return m_strangers; }

    /// Takes the next step of whatever connection is ready, waiting for one until `until` or until
    /// `wake` is raised. True: all are up, the client was told so, and nothing listens any more
    /// (but the ports of tcp_crr).
    bool step(const Event& wake, TimePoint until);
    /// After step() was true.
    std::unique_ptr<ControlLink> takeControl() { return std::move(m_control); }

private:
    /// A connection that has not yet shown its token.
    struct Pending {
        Fd socket;
        TimePoint deadline;
        Proof proof{};
        std::size_t have = 0;
    };

    void readPending(const std::vector<pollfd>& fds);
    void acceptAll();
    bool readProof(Pending& pending);
    bool take(Pending& pending);
    bool takeStream(Pending& pending, std::uint32_t index);
    void greetDatagrams(std::size_t stream);
    void dropLate();
    void finish();

    const Setup& m_setup;
    std::span<Stream> m_streams;
    Fd m_listener;
    std::unique_ptr<ControlLink> m_control;
    std::list<Pending> m_pending;
    std::vector<bool> m_up; ///< by stream
    int m_port = 0;
    int m_strangers = 0;
};

// What both parts and tcp_crr share.

/// Calls of tcp_crr that wait look this often whether the test was ended.
inline constexpr double kLookSeconds = 0.25;

/// Binds to the test address, within the range of ports of this side if it has one. `connecting`
/// leaves the choice of a free port to connect(). Throws AgentError.
void bindLocal(int socket, const Setup& setup, bool connecting);
/// Whether accept() failed for a connection that died while it waited, not for the listener.
[[nodiscard]] bool passingAcceptError(int error);
/// "cannot connect from 10.0.0.1 to 10.0.0.2 port 40123: refused; ..."
[[noreturn]] void failConnect(const Setup& setup, int port, int error);
[[noreturn]] void failSilent(const Setup& setup, int port);

} // namespace knobscope::agent
