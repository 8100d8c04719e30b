// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/setup.h"

#include "agents/agent/engine/datagrams.h"
#include "agents/agent/engine/placement.h"
#include "agents/agent/error.h"
#include "agents/agent/kernel/textfile.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <map>

namespace knobscope::agent {

namespace {

constexpr double kMaxSeconds = 7 * 86400;
constexpr double kMinInterval = 0.001;
constexpr double kMaxIntervals = 1e6;
constexpr std::int64_t kMaxMessage = std::int64_t{64} << 20;
constexpr std::int64_t kMaxBuffers = std::int64_t{1} << 30; // of all streams together
constexpr int kMaxStreams = 1024;
constexpr int kMaxBurst = 1 << 20;
constexpr std::int64_t kMaxDatagram = 65507; // of IPv4

void checkRange(const char* name, std::int64_t value, std::int64_t max) {
    if (value < 1 || value > max)
        failKnob(std::string(name) + " " + std::to_string(value) + " is not between 1 and " +
                 std::to_string(max));
}

void checkTimes(const protocol::TrafficConfig& config) {
    const auto within = [](double value, double min) {
        return std::isfinite(value) && value >= min && value <= kMaxSeconds;
    };
    if (!within(config.seconds, kMinInterval))
        failKnob("seconds must be between 0.001 and 604800");
    if (!within(config.warmup_seconds, 0))
        failKnob("warmup_seconds must be between 0 and 604800");
    const double interval = config.interval_seconds;
    if (interval == 0)
        return;
    if (!within(interval, kMinInterval))
        failKnob("interval_seconds must be 0 (none) or between 0.001 and 604800");
    if ((config.warmup_seconds + config.seconds) / interval > kMaxIntervals)
        failKnob("interval_seconds is too short for a test this long: at most a million intervals");
}

TestKind kindOf(const std::string& name) {
    static const std::map<std::string, TestKind> kinds{{"tcp_stream", TestKind::kTcpStream},
                                                       {"tcp_rr", TestKind::kTcpRr},
                                                       {"tcp_crr", TestKind::kTcpCrr},
                                                       {"udp_stream", TestKind::kUdpStream},
                                                       {"udp_rr", TestKind::kUdpRr}};
    const auto kind = kinds.find(name);
    if (kind == kinds.end())
        failKnob("the engine has no test \"" + name +
                 "\"; it has tcp_stream, tcp_rr, tcp_crr, udp_stream and udp_rr");
    return kind->second;
}

void checkWord(const char* name, const std::string& value, std::initializer_list<const char*> all) {
    std::string known;
    for (const char* word : all) {
        if (value == word)
            return;
        known += (known.empty() ? "" : ", ") + std::string(word);
    }
    failKnob(std::string(name) + " \"" + value + "\" is none of " + known);
}

void checkSizes(const Setup& setup) {
    const auto& config = setup.config;
    checkRange("streams", config.streams, kMaxStreams);
    checkRange("message_size", config.message_size, kMaxMessage);
    checkRange("request_size", config.request_size, kMaxMessage);
    checkRange("response_size", config.response_size, kMaxMessage);
    if (config.receive_size != 0)
        checkRange("receive_size", config.receive_size, kMaxMessage);
    checkRange("burst", config.burst, kMaxBurst);
    if (setup.kind == TestKind::kUdpStream &&
        (config.message_size < static_cast<std::int64_t>(DatagramHeader::kBytes) ||
         config.message_size > kMaxDatagram))
        failKnob("message_size " + std::to_string(config.message_size) +
                 " is no datagram: a udp_stream has 16 to 65507 bytes");
    if (setup.kind == TestKind::kUdpRr &&
        std::max(config.request_size, config.response_size) > kMaxDatagram)
        failKnob("request_size and response_size of udp_rr are at most 65507 bytes");
    const std::int64_t size = setup.transactions() ? config.request_size + config.response_size
                                                   : config.message_size + config.receive_size;
    if (size * config.streams > kMaxBuffers)
        failKnob("streams times message size must not be above 1 GiB");
}

/// What only TCP has, and what only streams have, must not be asked of others in silence.
void checkFit(const Setup& setup) {
    const auto& config = setup.config;
    const auto refuse = [&](bool asked, const char* name) {
        if (asked)
            failKnob(std::string(name) + " means nothing to a " + config.kind + " test");
    };
    const bool stream = setup.kind == TestKind::kTcpStream;
    if (setup.udp()) {
        refuse(config.mss.has_value(), "mss");
        refuse(config.nodelay, "nodelay");
        refuse(config.cork, "cork");
        refuse(config.quickack.has_value(), "quickack");
        refuse(config.congestion_control.has_value(), "congestion_control");
        refuse(config.notsent_lowat.has_value(), "notsent_lowat");
    }
    refuse(!stream && config.rcvlowat.has_value(), "rcvlowat");
    refuse(!stream && config.send_method != "send", "send_method");
    refuse(!stream && config.receive_method != "recv", "receive_method");
    refuse(setup.transactions() && config.direction != "to_receiver", "direction");
    refuse(setup.kind != TestKind::kUdpStream && config.udp_gso, "udp_gso");
    refuse(setup.kind != TestKind::kUdpStream && config.udp_gro, "udp_gro");
    refuse(setup.kind != TestKind::kUdpStream && config.rate != 0, "rate");
    refuse(!setup.transactions() && config.pace != 0, "pace");
    refuse(!setup.lasting() && config.threads != 0, "threads");
    refuse(setup.kind == TestKind::kTcpCrr && config.burst != 1, "burst");
}

void checkConfig(const Setup& setup) {
    const auto& config = setup.config;
    checkWord("direction", config.direction, {"to_receiver", "from_receiver", "both"});
    checkWord("close", config.close, {"server", "client", "reset"});
    checkWord("send_method", config.send_method, {"send", "zerocopy", "sendfile", "splice"});
    checkWord("receive_method", config.receive_method, {"recv", "truncate", "splice"});
    checkTimes(config);
    checkSizes(setup);
    checkFit(setup);
    if (config.threads != 0)
        checkRange("threads", config.threads, kMaxStreams);
    if (config.limit_bytes < 0 || config.limit_transactions < 0)
        failKnob("limit_bytes and limit_transactions must not be negative");
    const auto positive = [](double value) { return std::isfinite(value) && value >= 0; };
    if (!positive(config.pace) || config.pace > 1e8 || !positive(config.rate) || config.rate > 1e13)
        failKnob("pace and rate must be 0 (none) or more, up to 1e8 a second and 1e13 bit/s");
    if (!(config.timeout_seconds >= 0.001 && config.timeout_seconds <= 60))
        failKnob("timeout_seconds must be from 0.001 to 60");
    if (config.tos && (*config.tos < 0 || *config.tos > 255))
        failKnob("tos " + std::to_string(*config.tos) + " is not between 0 and 255");
    if (config.spin < 0 || config.spin > 1'000'000)
        failKnob("spin must be from 0 to 1000000 microseconds");
    if (config.pacing_rate && *config.pacing_rate < 1)
        failKnob("pacing_rate must be 1 byte a second or more");
    checkPlacement(config);
}

PortRange parsePorts(const std::string& text) {
    if (text.empty())
        return {};
    const auto dash = text.find('-');
    const auto first = toNumber(std::string_view(text).substr(0, dash));
    const auto last =
        dash == std::string::npos ? first : toNumber(std::string_view(text).substr(dash + 1));
    if (!first || !last || *first < 1 || *last > 65535 || *first > *last)
        failKnob("local_ports \"" + text + "\" is no range of ports such as 40000-40100");
    return {static_cast<int>(*first), static_cast<int>(*last)};
}

Token parseToken(const std::string& text) {
    Token token{};
    if (text.size() != 2 * kTokenBytes)
        failKnob("the token is not of 32 hex digits");
    for (std::size_t i = 0; i < kTokenBytes; ++i) {
        const char* at = text.data() + 2 * i;
        const auto parsed = std::from_chars(at, at + 2, token[i], 16);
        if (parsed.ec != std::errc{} || parsed.ptr != at + 2)
            failKnob("the token is not of 32 hex digits");
    }
    return token;
}

std::chrono::nanoseconds fromSeconds(double seconds) {
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
        failKnob("role \"" + params.role + "\" is neither server nor client");
    const bool server = params.role == "server";
    if (!server && params.port == 0)
        failKnob("the client was not told the server's port");
    Setup setup{.config = params.config,
                .addressText = params.address,
                .peerText = params.peer_address,
                .address = Address::parse(params.address, 0),
                .peer = Address::parse(params.peer_address, server ? 0 : params.port),
                .token = parseToken(params.token),
                .server = server,
                .kind = kindOf(params.config.kind),
                .ports = parsePorts(params.config.local_ports)};
    checkConfig(setup);
    if (setup.address.family() != setup.peer.family())
        failKnob("the addresses " + params.address + " and " + params.peer_address +
                 " are not of one family: both must be IPv4 or both IPv6");
    return setup;
}

std::size_t Setup::connections() const {
    return static_cast<std::size_t>(config.streams) * (config.direction == "both" ? 2 : 1);
}

bool Setup::sends(std::size_t stream) const {
    if (transactions())
        return !server;
    const bool toServer = config.direction == "both"
                              ? stream < static_cast<std::size_t>(config.streams)
                              : config.direction == "to_receiver";
    return server != toServer;
}

std::size_t Setup::threads() const {
    const auto asked = static_cast<std::size_t>(config.threads);
    return asked == 0 ? connections() : asked;
}

std::uint64_t Setup::share(std::int64_t limit, std::size_t stream) const {
    if (limit == 0)
        return 0;
    const auto all = static_cast<std::uint64_t>(limit);
    const auto streams = static_cast<std::uint64_t>(config.streams);
    const std::uint64_t index = stream % streams;
    // A stream without a share must not run without a limit.
    return std::max<std::uint64_t>(1, all / streams + (index < all % streams ? 1 : 0));
}

std::chrono::nanoseconds Setup::warmup() const {
    return fromSeconds(config.warmup_seconds);
}

std::chrono::nanoseconds Setup::duration() const {
    return fromSeconds(config.warmup_seconds + config.seconds);
}

std::chrono::nanoseconds Setup::interval() const {
    return fromSeconds(config.interval_seconds);
}

} // namespace knobscope::agent
