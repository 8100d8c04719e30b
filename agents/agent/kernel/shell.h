// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace knobscope::agent {

struct ShellResult {
    std::string output; ///< of standard output, up to 64 KiB
    std::string errors; ///< of standard error, up to 4 KiB
    /// Why it failed; empty when it ended with status 0: "ended with status 2", "was stopped after
    /// 10 s".
    std::string failure;
};

/// Runs a command line with /bin/sh -c, in a process group of its own that is killed at the end of
/// the time, with nothing on standard input and the variables added to the environment. Blocks the
/// caller until then. Never throws.
[[nodiscard]] ShellResult
runShell(const std::string& line, const std::vector<std::pair<std::string, std::string>>& variables,
         std::chrono::milliseconds timeout);

} // namespace knobscope::agent
