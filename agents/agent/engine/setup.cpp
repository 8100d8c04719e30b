// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/setup.h"

#include "agents/agent/engine/socketoptions.h"
#include "agents/agent/error.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace knobscope::agent {

namespace {

constexpr double kMaxSeconds = 7 * 86400;
constexpr double kMinInterval = 0.001;
constexpr double kMaxIntervals = 1e6;
constexpr std::int64_t kMaxMessage = std::int64_t{64} << 20;
constexpr std::int64_t kMaxBuffers = std::int64_t{1} << 30; // of all streams together
constexpr int kMaxStreams = 1024;
constexpr int kMaxBurst = 1 << 20;

[[noreturn]] void fail(const std::string& message) {
    throw AgentError(protocol::errorcode::kTraffic, message);
}

void checkRange(const char* name, std::int64_t value, std::int64_t max) {
    if (value < 1 || value > max)
        fail(std::string(name) + " " + std::to_string(value) + " is not between 1 and " +
             std::to_string(max));
}

void checkTimes(const protocol::TrafficConfig& config) {
    const auto within = [](double value, double min) {
        return std::isfinite(value) && value >= min && value <= kMaxSeconds;
    };
    if (!within(config.seconds, kMinInterval))
        fail("seconds must be between 0.001 and 604800");
    if (!within(config.warmup_seconds, 0))
        fail("warmup_seconds must be between 0 and 604800");
    const double interval = config.interval_seconds;
    if (interval == 0)
        return;
    if (!within(interval, kMinInterval))
        fail("interval_seconds must be 0 (none) or between 0.001 and 604800");
    if ((config.warmup_seconds + config.seconds) / interval > kMaxIntervals)
        fail("interval_seconds is too short for a test this long: at most a million intervals");
}

void checkConfig(const protocol::TrafficConfig& config) {
    const bool transactions = config.kind == "tcp_rr";
    if (!transactions && config.kind != "tcp_stream")
        fail("the engine has no test \"" + config.kind + "\"; it has tcp_stream and tcp_rr");
    if (config.direction != "to_receiver" && config.direction != "from_receiver")
        fail("direction \"" + config.direction + "\" is neither to_receiver nor from_receiver");
    checkTimes(config);
    checkRange("streams", config.streams, kMaxStreams);
    checkRange("message_size", config.message_size, kMaxMessage);
    checkRange("request_size", config.request_size, kMaxMessage);
    checkRange("response_size", config.response_size, kMaxMessage);
    checkRange("burst", config.burst, kMaxBurst);
    const std::int64_t size =
        transactions ? config.request_size + config.response_size : config.message_size;
    if (size * config.streams > kMaxBuffers)
        fail("streams times message size must not be above 1 GiB");
    if (config.cpu)
        checkCpu(*config.cpu);
}

Token parseToken(const std::string& text) {
    Token token{};
    if (text.size() != 2 * kTokenBytes)
        fail("the token is not of 32 hex digits");
    for (std::size_t i = 0; i < kTokenBytes; ++i) {
        const char* at = text.data() + 2 * i;
        const auto parsed = std::from_chars(at, at + 2, token[i], 16);
        if (parsed.ec != std::errc{} || parsed.ptr != at + 2)
            fail("the token is not of 32 hex digits");
    }
    return token;
}

std::chrono::nanoseconds nanoseconds(double seconds) {
    return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

} // namespace

Proof makeProof(const Token& token, std::uint32_t index) {
    Proof proof{};
    std::copy(token.begin(), token.end(), proof.begin());
    for (std::size_t i = 0; i < 4; ++i)
        proof[kTokenBytes + i] = static_cast<unsigned char>(index >> (24 - 8 * i));
    return proof;
}

bool sameToken(const Token& token, const Proof& proof) {
    // volatile keeps the compiler from leaving the loop early.
    volatile unsigned char difference = 0;
    for (std::size_t i = 0; i < kTokenBytes; ++i)
        difference = static_cast<unsigned char>(difference | (token[i] ^ proof[i]));
    return difference == 0;
}

std::uint32_t proofIndex(const Proof& proof) {
    std::uint32_t index = 0;
    for (std::size_t i = 0; i < 4; ++i)
        index = (index << 8) | proof[kTokenBytes + i];
    return index;
}

Setup Setup::check(const protocol::PrepareParams& params) {
    if (params.role != "server" && params.role != "client")
        fail("role \"" + params.role + "\" is neither server nor client");
    const bool server = params.role == "server";
    if (!server && params.port == 0)
        fail("the client was not told the server's port");
    checkConfig(params.config);
    Setup setup{.config = params.config,
                .addressText = params.address,
                .peerText = params.peer_address,
                .address = Address::parse(params.address, 0),
                .peer = Address::parse(params.peer_address, server ? 0 : params.port),
                .token = parseToken(params.token),
                .server = server,
                .transactions = params.config.kind == "tcp_rr"};
    if (setup.address.family() != setup.peer.family())
        fail("the addresses " + params.address + " and " + params.peer_address +
             " are not of one family: both must be IPv4 or both IPv6");
    const bool dataToServer = setup.transactions || params.config.direction == "to_receiver";
    setup.active = server != dataToServer;
    return setup;
}

std::chrono::nanoseconds Setup::warmup() const {
    return nanoseconds(config.warmup_seconds);
}

std::chrono::nanoseconds Setup::duration() const {
    return nanoseconds(config.warmup_seconds + config.seconds);
}

std::chrono::nanoseconds Setup::interval() const {
    return nanoseconds(config.interval_seconds);
}

} // namespace knobscope::agent
