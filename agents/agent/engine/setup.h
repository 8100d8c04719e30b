// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/engine/address.h"
#include "agents/protocol/protocol.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace knobscope::agent {

/// How long the other end may take for a step, and be late at the end.
inline constexpr std::chrono::seconds kPatience{5};

/// The first bytes of every connection, from client to server: the token, then the number of the
/// stream in network order. The control connection has the number kControlIndex.
inline constexpr std::size_t kTokenBytes = 16;
inline constexpr std::size_t kProofBytes = kTokenBytes + 4;
inline constexpr std::uint32_t kControlIndex = 0xffffffff;
using Token = std::array<unsigned char, kTokenBytes>;
using Proof = std::array<unsigned char, kProofBytes>;

[[nodiscard]] Proof makeProof(const Token& token, std::uint32_t index);
/// In the same time wherever they differ.
[[nodiscard]] bool sameToken(const Token& token, const Proof& proof);
[[nodiscard]] std::uint32_t proofIndex(const Proof& proof);

/// The parameters of a test, checked.
struct Setup {
    protocol::TrafficConfig config;
    std::string addressText;
    std::string peerText;
    Address address; ///< port 0
    Address peer;    ///< client: with the server's port
    Token token;
    bool server = false;
    bool transactions = false; ///< tcp_rr
    bool active = false;       ///< this end sends the data or the requests, and ends the test

    /// Throws AgentError, which names the parameter that cannot be.
    static Setup check(const protocol::PrepareParams& params);

    [[nodiscard]] std::chrono::nanoseconds warmup() const;
    [[nodiscard]] std::chrono::nanoseconds duration() const; ///< warm-up and measured time
    [[nodiscard]] std::chrono::nanoseconds interval() const; ///< 0: none
};

} // namespace knobscope::agent
