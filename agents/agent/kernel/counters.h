// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

/// What the kernel's counter files say. Each takes the file's text, leaves out what is no counter
/// (negative or broken values, lines cut short), and never throws.
namespace knobscope::agent {

using Counters = std::map<std::string, std::uint64_t>;

/// /proc/net/snmp and /proc/net/netstat: pairs of lines, names and values, under nstat's names
/// ("TcpOutSegs", "TcpExtListenOverflows").
[[nodiscard]] Counters parseSnmp(std::string_view text);
/// /proc/net/snmp6: a name and a value a line ("Ip6InReceives").
[[nodiscard]] Counters parseSnmp6(std::string_view text);
/// /proc/net/softnet_stat, one line of hexadecimal columns a CPU, summed; an older kernel's fewer
/// columns give fewer names.
[[nodiscard]] Counters parseSoftnet(std::string_view text);
/// /proc/interrupts, summed over CPUs, named by number and action ("28 eth0-rx-0") or by the
/// whole description ("NMI Non-maskable interrupts").
[[nodiscard]] Counters parseInterrupts(std::string_view text);

} // namespace knobscope::agent
