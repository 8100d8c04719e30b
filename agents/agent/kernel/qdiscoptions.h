// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/kernel/netlink.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

/// Queueing disciplines of an interface's root as text, in the words of tc, and as netlink has
/// them. Any thread.
namespace knobscope::agent {

/// "fq limit 10000 pacing", "handle 1: tbf rate 1gbit burst 256k latency 50ms", "default
/// pfifo_fast".
struct Qdisc {
    /// What the kernel has given the interface by itself; its kind may be empty.
    bool is_default = false;
    std::string kind;
    std::uint16_t handle = 0; ///< 0: the kernel chooses
    /// By name, in packets, bytes, bits a second, nanoseconds, millionths, or 0 and 1.
    std::map<std::string, std::uint64_t, std::less<>> options;
};

/// Throws AgentError(kKnob): what is wrong with the text, and what there is instead.
[[nodiscard]] Qdisc parseQdisc(std::string_view text);
[[nodiscard]] std::string qdiscText(const Qdisc& qdisc);

/// Adds kind and options to a message.
void putQdisc(NetlinkBody& body, const Qdisc& qdisc);
/// From an answer's attributes, but for the handle. Throws AgentError(kKnob) for a kind or an
/// option that could not be put back.
[[nodiscard]] Qdisc qdiscFrom(const NetlinkAttributes& attributes);

/// Whether every option of `asked` has that value in `has`, as near as the kernel's units allow.
[[nodiscard]] bool hasOptions(const Qdisc& has, const Qdisc& asked);

/// "1gbit" and the like, in bits a second; "256k" in bytes; "50ms" in nanoseconds; a bare number is
/// in bits a second, bytes, microseconds. Absent for other text.
[[nodiscard]] std::optional<std::uint64_t> parseRate(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> parseSize(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> parseTime(std::string_view text);

} // namespace knobscope::agent
