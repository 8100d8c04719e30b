// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/counters.h"

#include "agents/agent/kernel/textfile.h"

#include <algorithm>
#include <array>

namespace knobscope::agent {

namespace {

/// Columns of /proc/net/softnet_stat; nullptr for those that are always zero or no counter.
constexpr std::array<const char*, 12> kSoftnetColumns{"processed",
                                                      "dropped",
                                                      "time_squeeze",
                                                      nullptr,
                                                      nullptr,
                                                      nullptr,
                                                      nullptr,
                                                      nullptr,
                                                      "cpu_collision",
                                                      "received_rps",
                                                      "flow_limit_count",
                                                      "backlog_len"};

/// What an interrupt is for. The names of its handlers come last, two blanks after the chip's
/// columns; without a handler, all that there is.
std::string interruptLabel(std::string_view rest, bool numbered) {
    rest = trimmed(rest);
    if (const auto gap = rest.rfind("  "); numbered && gap != std::string_view::npos)
        rest = rest.substr(gap);
    return folded(rest);
}

void addUnderFreeName(Counters& counters, const std::string& name, std::uint64_t value) {
    std::string free = name;
    for (int n = 2; !counters.emplace(free, value).second; ++n)
        free = name + "#" + std::to_string(n);
}

} // namespace

Counters parseSnmp(std::string_view text) {
    Counters counters;
    std::string_view line;
    std::string_view prefix;
    std::vector<std::string_view> names;
    while (nextLine(text, line)) {
        const auto colon = line.find(':');
        if (colon == std::string_view::npos)
            continue;
        const std::vector<std::string_view> columns = words(line.substr(colon + 1));
        if (names.empty() || line.substr(0, colon) != prefix) {
            prefix = line.substr(0, colon);
            names = columns;
            continue;
        }
        for (std::size_t i = 0; i < std::min(names.size(), columns.size()); ++i)
            if (const auto value = toNumber(columns[i]))
                counters[std::string(prefix) + std::string(names[i])] = *value;
        names.clear();
    }
    return counters;
}

Counters parseSnmp6(std::string_view text) {
    Counters counters;
    std::string_view line;
    while (nextLine(text, line)) {
        const std::vector<std::string_view> columns = words(line);
        if (columns.size() != 2)
            continue;
        if (const auto value = toNumber(columns[1]))
            counters[std::string(columns[0])] = *value;
    }
    return counters;
}

Counters parseSoftnet(std::string_view text) {
    Counters counters;
    std::string_view line;
    while (nextLine(text, line)) {
        const std::vector<std::string_view> columns = words(line);
        for (std::size_t i = 0; i < std::min(columns.size(), kSoftnetColumns.size()); ++i) {
            const auto value = toNumber(columns[i], 16);
            if (value && kSoftnetColumns[i])
                counters[kSoftnetColumns[i]] += *value;
        }
    }
    return counters;
}

Counters parseInterrupts(std::string_view text) {
    Counters counters;
    std::string_view line;
    if (!nextLine(text, line))
        return counters;
    const std::vector<std::string_view> header = words(line);
    const auto cpus = static_cast<std::size_t>(
        std::count_if(header.begin(), header.end(),
                      [](std::string_view word) { return word.starts_with("CPU"); }));
    while (nextLine(text, line)) {
        const auto colon = line.find(':');
        if (colon == std::string_view::npos || cpus == 0)
            continue;
        const std::string_view irq = trimmed(line.substr(0, colon));
        std::string_view rest = line.substr(colon + 1);
        std::uint64_t sum = 0;
        std::size_t columns = 0;
        while (columns < cpus) {
            const std::string_view ahead =
                rest.substr(std::min(rest.find_first_not_of(" \t"), rest.size()));
            const std::string_view word = ahead.substr(0, ahead.find_first_of(" \t"));
            const auto value = toNumber(word);
            if (!value)
                break;
            sum += *value;
            ++columns;
            rest = ahead.substr(word.size());
        }
        // Lines such as "ERR: 0" have one number for all CPUs; a line without any is broken.
        if (columns == 0 || irq.empty())
            continue;
        const std::string label = interruptLabel(rest, toNumber(irq).has_value());
        addUnderFreeName(counters, std::string(irq) + (label.empty() ? "" : " ") + label, sum);
    }
    return counters;
}

} // namespace knobscope::agent
