// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/error.h"

#include <cstring>

namespace knobscope::agent {

void failTraffic(const std::string& message) {
    throw AgentError(protocol::errorcode::kTraffic, message);
}

void failKnob(const std::string& message) {
    throw AgentError(protocol::errorcode::kKnob, message);
}

std::string errnoText(const std::string& what, int error) {
    return what + ": " + std::strerror(error);
}

} // namespace knobscope::agent
