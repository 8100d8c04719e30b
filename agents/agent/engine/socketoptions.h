// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"

#include <cstdint>
#include <optional>
#include <string>

namespace knobscope::agent {

/// Sets the test knobs of a connection: window, MSS, TCP_NODELAY, congestion control. To be called
/// before connect() or listen(), since the window scale and the MSS are agreed in the handshake;
/// accepted sockets inherit them. Throws AgentError, which names what the kernel refused.
void applyTestKnobs(int socket, const protocol::TrafficConfig& config);

/// SO_SNDBUF and SO_RCVBUF as the kernel counts them (twice the request on Linux).
struct BufferSizes {
    std::optional<std::int64_t> send;
    std::optional<std::int64_t> receive;
};
[[nodiscard]] BufferSizes bufferSizes(int socket);
[[nodiscard]] std::optional<std::int64_t> maxSegment(int socket);
[[nodiscard]] std::optional<std::string> congestionControl(int socket);

/// Switches O_NONBLOCK. Throws AgentError.
void setBlocking(int socket, bool blocking);
/// TCP_NODELAY on. Throws AgentError.
void setNoDelay(int socket);
/// close() will then drop what is queued and reset the connection, so that the other end learns of
/// the failure at once and nothing lingers in the kernel.
void resetOnClose(int socket);

/// Throws AgentError when the calling process cannot run a thread on this CPU.
void checkCpu(int cpu);
/// Keeps the calling thread on this CPU. Throws AgentError.
void pinThread(int cpu);

} // namespace knobscope::agent
