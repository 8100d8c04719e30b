// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string_view>

namespace knobscope::protocol {

/// Messages are a handful of levels deep. A deeper one is hostile and would cost many times its
/// size in memory and stack.
inline constexpr int kMaxDepth = 64;

/// Whether a line, to be asked before it is parsed, nests deeper than kMaxDepth. Any text will do.
[[nodiscard]] bool nestsTooDeep(std::string_view line);

} // namespace knobscope::protocol
