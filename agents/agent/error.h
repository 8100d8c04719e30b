// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"

#include <stdexcept>

namespace knobscope::agent {

/// What the agent answers to a request that failed. The message is for a person: what happened,
/// to what. `code` is one of protocol::errorcode.
class AgentError : public std::runtime_error {
public:
    AgentError(int code, const std::string& message) : std::runtime_error(message), m_code(code) {}
    [[nodiscard]] int code() const { return m_code; }

private:
    int m_code;
};

/// Throw AgentError: kTraffic, kKnob.
[[noreturn]] void failTraffic(const std::string& message);
[[noreturn]] void failKnob(const std::string& message);

/// "cannot open /proc/net/snmp: Permission denied", from errno.
[[nodiscard]] std::string errnoText(const std::string& what, int error);

} // namespace knobscope::agent
