// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/error.h"

#include <cstring>

namespace knobscope::agent {

std::string errnoText(const std::string& what, int error) {
    return what + ": " + std::strerror(error);
}

} // namespace knobscope::agent
