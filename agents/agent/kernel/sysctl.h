// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace knobscope::agent {

/// `name` without "sysctl:". White space of the value is folded. Throws AgentError(kKnob).
[[nodiscard]] std::string readSysctl(const std::string& name);
/// One write of the whole value. Throws AgentError(kKnob).
void writeSysctl(const std::string& name, const std::string& value);

} // namespace knobscope::agent
