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

/// How long the other end may take for a step, and be silent at the end.
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

enum class TestKind { kTcpStream, kTcpRr, kTcpCrr, kUdpStream, kUdpRr };

/// Ports a side may use; {0, 0}: any.
struct PortRange {
    int first = 0;
    int last = 0;
};

/// The parameters of a test, checked.
struct Setup {
    protocol::TrafficConfig config;
    std::string addressText;
    std::string peerText;
    Address address; ///< port 0
    Address peer;    ///< client: with the server's port
    Token token;
    bool server = false;
    TestKind kind = TestKind::kTcpStream;
    PortRange ports;

    /// Throws AgentError, which names the parameter that cannot be.
    static Setup check(const protocol::PrepareParams& params);

    [[nodiscard]] bool udp() const {
        return kind == TestKind::kUdpStream || kind == TestKind::kUdpRr;
    }
    /// Whether a transaction is a request and its response.
    [[nodiscard]] bool transactions() const {
        return kind != TestKind::kTcpStream && kind != TestKind::kUdpStream;
    }
    /// TCP connections that live as long as the test; others have ports that the server tells.
    [[nodiscard]] bool lasting() const {
        return kind == TestKind::kTcpStream || kind == TestKind::kTcpRr;
    }
    [[nodiscard]] std::size_t connections() const; ///< both ways
    /// Whether this end sends the data or the requests of a stream, and ends it.
    [[nodiscard]] bool sends(std::size_t stream) const;
    [[nodiscard]] std::size_t threads() const; ///< of either way
    /// A stream's share of a limit, the remainder going to the first ones; 0: no limit.
    [[nodiscard]] std::uint64_t share(std::int64_t limit, std::size_t stream) const;

    [[nodiscard]] std::chrono::nanoseconds warmup() const;
    [[nodiscard]] std::chrono::nanoseconds duration() const; ///< warm-up and measured time
    [[nodiscard]] std::chrono::nanoseconds interval() const; ///< 0: none
};

} // namespace knobscope::agent
