// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace knobscope::agent {

/// Sets the test knobs of a connection: buffers, segment size, congestion control, marks, offloads.
/// To be called before connect() or listen(), since the window scale and the MSS are agreed in the
/// handshake; accepted sockets inherit them. Throws AgentError, which names what the kernel
/// refused.
void applyTestKnobs(int socket, const protocol::TrafficConfig& config);

/// SO_SNDBUF and SO_RCVBUF as the kernel counts them (twice the request on Linux).
struct BufferSizes {
    std::optional<std::int64_t> send;
    std::optional<std::int64_t> receive;
};
[[nodiscard]] BufferSizes bufferSizes(int socket);

/// What the kernel has made of a connection. What a socket does not have is absent.
struct SocketState {
    BufferSizes buffers;
    std::optional<std::int64_t> receiveLowWater;
    std::optional<std::int64_t> mss;
    std::optional<std::string> congestionControl;
    std::map<std::string, std::int64_t> tcpInfo;
    int localPort = 0;
};
[[nodiscard]] SocketState socketState(int socket);
[[nodiscard]] int localPort(int socket); ///< 0: none

/// Switches O_NONBLOCK. Throws AgentError.
void setBlocking(int socket, bool blocking);
/// TCP_NODELAY on. Throws AgentError.
void setNoDelay(int socket);
/// SO_RCVLOWAT; not before the token is read. Throws AgentError.
void setReceiveLowWater(int socket, std::int64_t bytes);
/// Calls that wait give up after this time with EAGAIN.
void setTimeouts(int socket, double seconds);
/// close() will then drop what is queued and reset the connection, so that the other end learns of
/// the failure at once and nothing lingers in the kernel.
void resetOnClose(int socket);

} // namespace knobscope::agent
