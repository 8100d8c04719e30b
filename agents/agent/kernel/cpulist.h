// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Sets of CPUs as the kernel writes them, and values that several files share. Any thread.
namespace knobscope::agent {

/// Element N: whether CPU N belongs to it. Without the CPUs after the last that does.
using CpuSet = std::vector<bool>;

/// "0-3,8"; "none" and an empty text are the empty set. Absent for anything else.
[[nodiscard]] std::optional<CpuSet> parseCpuList(std::string_view text);
/// "0-3,8", or "none".
[[nodiscard]] std::string cpuListText(const CpuSet& cpus);
/// Hexadecimal, in groups of 32 bits with commas between: "ff", "1,00000000".
[[nodiscard]] std::optional<CpuSet> parseCpuMask(std::string_view text);
[[nodiscard]] std::string cpuMaskText(const CpuSet& cpus);

/// The value of several files as one text: "0-1" when all have it, else one a file: "0 1 0 1".
[[nodiscard]] std::string joinShared(const std::vector<std::string>& values);
/// The other way: one value a file. Throws AgentError(kKnob) when the number of values does not
/// fit; `what` has the values ("the queues of eth0").
[[nodiscard]] std::vector<std::string> splitShared(const std::string& value, std::size_t files,
                                                   const std::string& what);

} // namespace knobscope::agent
