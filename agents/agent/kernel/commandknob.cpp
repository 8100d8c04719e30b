// SPDX-License-Identifier: GPL-3.0-or-later
// command:NAME, a knob that its user has defined by command lines.
#include "agents/agent/kernel/knobfamily.h"
#include "agents/agent/kernel/shell.h"
#include "agents/agent/kernel/textfile.h"

#include <algorithm>

namespace knobscope::agent {

namespace {

constexpr double kLongestSeconds = 60;
constexpr double kShortestSeconds = 0.1;
constexpr std::size_t kLongestValue = 4096;
constexpr std::size_t kLongestWords = 300; ///< of a command's errors that a message repeats

const protocol::KnobCommands& commandsOf(const KnobCall& call) {
    if (!call.target.commands || call.target.commands->get.empty() ||
        call.target.commands->set.empty())
        failKnob(call.name() + " has no command lines; it needs one to get and one to set it");
    return *call.target.commands;
}

std::string run(const KnobCall& call, const std::string& line, const std::string& purpose,
                const std::string& value) {
    const double seconds =
        std::clamp(commandsOf(call).timeout_seconds, kShortestSeconds, kLongestSeconds);
    const ShellResult result =
        runShell(line, {{"VALUE", value}, {"INTERFACE", call.interface()}},
                 std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000)));
    if (result.failure.empty())
        return result.output;
    std::string words = folded(result.errors);
    if (words.size() > 300) {
        words.resize(300);
        words += "...";
    }
    failKnob("the command to " + purpose + " " + call.name() + " " + result.failure +
             (words.empty() ? "" : ": " + words));
}

} // namespace

std::string readCommandKnob(const KnobCall& call) {
    std::string value = run(call, commandsOf(call).get, "get", {});
    while (value.ends_with('\n') || value.ends_with('\r'))
        value.pop_back();
    if (value.empty())
        failKnob("the command to get " + call.name() + " printed nothing");
    if (value.size() > kLongestValue || value.find('\0') != std::string::npos)
        failKnob("the command to get " + call.name() +
                 " printed no value: " + std::to_string(value.size()) + " bytes");
    return value;
}

void writeCommandKnob(const KnobCall& call, const std::string& value) {
    (void)run(call, commandsOf(call).set, "set", value);
}

void restoreCommandKnob(const KnobCall& call, const std::string& original) {
    const protocol::KnobCommands& commands = commandsOf(call);
    if (commands.restore.empty())
        return writeCommandKnob(call, original);
    (void)run(call, commands.restore, "restore", original);
}

} // namespace knobscope::agent
