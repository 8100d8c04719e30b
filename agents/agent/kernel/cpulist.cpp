// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/cpulist.h"

#include "agents/agent/error.h"
#include "agents/agent/kernel/textfile.h"

#include <algorithm>
#include <charconv>

namespace knobscope::agent {

namespace {

constexpr std::uint64_t kMostCpus = 65536;
constexpr std::size_t kGroupBits = 32;
constexpr std::size_t kDigitBits = 4;

void add(CpuSet& cpus, std::size_t cpu) {
    if (cpus.size() <= cpu)
        cpus.resize(cpu + 1);
    cpus[cpu] = true;
}

} // namespace

std::optional<CpuSet> parseCpuList(std::string_view text) {
    CpuSet cpus;
    text = trimmed(text);
    if (text == "none")
        return cpus;
    while (!text.empty()) {
        const auto comma = text.find(',');
        const std::string_view part = text.substr(0, comma);
        const auto dash = part.find('-');
        const auto first = toNumber(part.substr(0, dash));
        const auto last = dash == std::string_view::npos ? first : toNumber(part.substr(dash + 1));
        if (!first || !last || *last < *first || *last >= kMostCpus)
            return std::nullopt;
        for (std::uint64_t cpu = *first; cpu <= *last; ++cpu)
            add(cpus, cpu);
        text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    }
    return cpus;
}

std::string cpuListText(const CpuSet& cpus) {
    std::string text;
    for (std::size_t first = 0; first < cpus.size(); ++first) {
        if (!cpus[first])
            continue;
        std::size_t last = first;
        while (last + 1 < cpus.size() && cpus[last + 1])
            ++last;
        text += (text.empty() ? "" : ",") + std::to_string(first);
        if (last > first)
            text += '-' + std::to_string(last);
        first = last;
    }
    return text.empty() ? "none" : text;
}

std::optional<CpuSet> parseCpuMask(std::string_view text) {
    text = trimmed(text);
    CpuSet cpus;
    std::size_t base = 0;
    while (!text.empty()) {
        const auto comma = text.rfind(',');
        const std::string_view group =
            comma == std::string_view::npos ? text : text.substr(comma + 1);
        const auto bits = toNumber(group, 16);
        if (!bits || group.size() > kGroupBits / kDigitBits || base >= kMostCpus)
            return std::nullopt;
        for (std::size_t bit = 0; bit < kGroupBits; ++bit) {
            if (*bits >> bit & 1)
                add(cpus, base + bit);
        }
        base += kGroupBits;
        text = comma == std::string_view::npos ? std::string_view{} : text.substr(0, comma);
    }
    return base == 0 ? std::nullopt : std::optional(cpus);
}

std::string cpuMaskText(const CpuSet& cpus) {
    std::string text;
    const std::size_t groups =
        std::max<std::size_t>(1, (cpus.size() + kGroupBits - 1) / kGroupBits);
    for (std::size_t group = groups; group-- > 0;) {
        std::uint32_t bits = 0;
        for (std::size_t bit = 0; bit < kGroupBits && group * kGroupBits + bit < cpus.size(); ++bit)
            bits |= std::uint32_t{cpus[group * kGroupBits + bit]} << bit;
        char digits[kGroupBits / kDigitBits];
        const auto length = std::to_chars(digits, digits + sizeof digits, bits, 16).ptr - digits;
        const std::string number(digits, static_cast<std::size_t>(length));
        text +=
            text.empty() ? number : ',' + std::string(sizeof digits - number.size(), '0') + number;
    }
    return text;
}

std::string joinShared(const std::vector<std::string>& values) {
    if (values.empty())
        return {};
    const bool same = std::all_of(values.begin(), values.end(), [&](const std::string& value) {
        return value == values.front();
    });
    std::string text;
    for (const std::string& value : values) {
        text += (text.empty() ? "" : " ") + value;
        if (same)
            break;
    }
    return text;
}

std::vector<std::string> splitShared(const std::string& value, std::size_t files,
                                     const std::string& what) {
    const std::vector<std::string_view> given = words(value);
    if (given.size() == 1)
        return std::vector<std::string>(files, std::string(given.front()));
    if (given.size() != files)
        throw AgentError(protocol::errorcode::kKnob,
                         what + " take one value for all or " + std::to_string(files) +
                             " with blanks between, not " + std::to_string(given.size()));
    return {given.begin(), given.end()};
}

} // namespace knobscope::agent
