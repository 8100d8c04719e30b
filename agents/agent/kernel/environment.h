// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace knobscope::agent {

using Facts = std::map<std::string, std::string>;

/// Facts of the host: kernel, os, cpu.*, numa.nodes, memory.total_kb, clocksource, sysctl.*;
/// processes.NAME ("running", "not running") of programs that move knobs by themselves;
/// ssh.interface, which carries the SSH connection of this agent.
void addHostFacts(Facts& facts);
/// Facts of the interface: nic.*, private.*, and its knobs ("link:mtu" is link.mtu): link.*,
/// feature.*, coalesce.*, ring.*, channels.*, pause.*, rss.*, qdisc.root, rps.*, irq.affinity...
void addInterfaceFacts(const std::string& interface, Facts& facts);

/// Nothing and empty texts are no facts.
void putFact(Facts& facts, const std::string& name, std::optional<std::string> value);

/// PRETTY_NAME of /etc/os-release, without its quotes.
[[nodiscard]] std::optional<std::string> parseOsName(std::string_view text);
/// The value of a "name : value" line, as in /proc/cpuinfo and /proc/meminfo.
[[nodiscard]] std::optional<std::string> parseField(std::string_view text, std::string_view name);
/// How many numbers a kernel list such as "0-3,8" has; nothing for what is no such list.
[[nodiscard]] std::optional<std::uint64_t> parseListLength(std::string_view text);

} // namespace knobscope::agent
