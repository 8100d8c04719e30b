// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/qdiscoptions.h"

#include "agents/agent/kernel/knobfamily.h"
#include "agents/agent/kernel/qdiscwire.h"
#include "agents/agent/kernel/textfile.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace knobscope::agent {

namespace {

constexpr std::array kSizeUnits{
    UnitWord{"b", 1},        UnitWord{"k", 1 << 10},  UnitWord{"kb", 1 << 10},
    UnitWord{"m", 1 << 20},  UnitWord{"mb", 1 << 20}, UnitWord{"g", 1 << 30},
    UnitWord{"gb", 1 << 30},
};
constexpr std::array kRateUnits{
    UnitWord{"bit", 1},    UnitWord{"kbit", 1e3},  UnitWord{"mbit", 1e6},
    UnitWord{"gbit", 1e9}, UnitWord{"tbit", 1e12}, UnitWord{"bps", 8},
    UnitWord{"kbps", 8e3}, UnitWord{"mbps", 8e6},  UnitWord{"gbps", 8e9},
};
constexpr std::array kTimeUnits{
    UnitWord{"ns", 1},
    UnitWord{"us", 1e3},
    UnitWord{"ms", 1e6},
    UnitWord{"s", 1e9},
};

/// A number, possibly with a decimal point, and a unit.
std::optional<std::uint64_t> parseQuantity(std::string_view text, std::span<const UnitWord> units,
                                           double bare) {
    const auto digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::string_view number = text.substr(0, digits);
    const auto point = std::min(number.find('.'), number.size());
    const auto whole = toNumber(number.substr(0, point));
    double value = whole ? static_cast<double>(*whole) : -1;
    if (point < number.size()) {
        const std::string_view decimals = number.substr(point + 1);
        const auto part = toNumber(decimals);
        if (!part || decimals.size() > 9)
            return std::nullopt;
        value += static_cast<double>(*part) / std::pow(10, static_cast<double>(decimals.size()));
    }
    std::string unit(text.substr(digits));
    std::transform(unit.begin(), unit.end(), unit.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    double factor = unit.empty() ? bare : 0;
    for (const UnitWord& known : units) {
        if (known.name == unit)
            factor = known.factor;
    }
    value = std::round(value * factor);
    if (!whole || factor == 0 || value < 0 || value > 1e18)
        return std::nullopt;
    return static_cast<std::uint64_t>(value);
}

/// With the largest unit that leaves a whole number, among those of full steps.
std::string quantityText(std::uint64_t value, std::span<const UnitWord> units) {
    const UnitWord* best = &units.front();
    for (const UnitWord& unit : units) {
        const auto factor = static_cast<std::uint64_t>(unit.factor);
        if (value != 0 && value % factor == 0 && unit.factor > best->factor)
            best = &unit;
    }
    return std::to_string(value / static_cast<std::uint64_t>(best->factor)) +
           std::string(best->name);
}

std::optional<std::uint64_t> parsePercent(std::string_view text) {
    if (text.ends_with('%'))
        text.remove_suffix(1);
    constexpr std::array kNone{UnitWord{"%", 1e4}};
    const auto millionths = parseQuantity(text, kNone, 1e4);
    return millionths && *millionths <= 1'000'000 ? millionths : std::nullopt;
}

std::optional<std::uint64_t> parseOption(const QdiscOption& option, std::string_view text) {
    switch (option.unit) {
    case QdiscUnit::Count:
        if (text.ends_with('p')) // as tc prints packets
            text.remove_suffix(1);
        return toNumber(text);
    case QdiscUnit::Bytes:
        return parseSize(text);
    case QdiscUnit::Rate:
        return parseRate(text);
    case QdiscUnit::Time:
        return parseTime(text);
    case QdiscUnit::Percent:
        return parsePercent(text);
    case QdiscUnit::Flag:
        break;
    }
    return std::nullopt;
}

std::string optionText(const QdiscOption& option, std::uint64_t value) {
    const std::string name(option.name);
    switch (option.unit) {
    case QdiscUnit::Count:
    case QdiscUnit::Bytes:
        return name + " " + std::to_string(value);
    case QdiscUnit::Rate:
        return name + " " + quantityText(value, std::span(kRateUnits).first(5));
    case QdiscUnit::Time:
        return (name == "jitter" ? "" : name + " ") + quantityText(value, kTimeUnits);
    case QdiscUnit::Percent: {
        std::string text = std::to_string(value / 10'000) + "." +
                           std::to_string(10'000 + value % 10'000).substr(1);
        text.erase(text.find_last_not_of('0') + 1);
        if (text.ends_with('.'))
            text.pop_back();
        return name + " " + text + "%";
    }
    case QdiscUnit::Flag:
        return value != 0 ? name : std::string(option.off_name);
    }
    return name;
}

[[noreturn]] void failOption(const std::string& kind, std::string_view word) {
    std::string known;
    for (const QdiscOption& option : qdiscOptions(kind))
        known += (known.empty() ? "" : ", ") + std::string(option.name);
    failKnob("qdisc " + kind + " has no option '" + std::string(word) + "' here; it has " +
             (known.empty() ? "none" : known));
}

void takeOption(Qdisc& qdisc, std::span<const std::string_view>& rest) {
    const std::string_view word = rest.front();
    rest = rest.subspan(1);
    for (const QdiscOption& option : qdiscOptions(qdisc.kind)) {
        const bool flag = option.unit == QdiscUnit::Flag;
        if (word != option.name && !(flag && word == option.off_name))
            continue;
        if (flag) {
            qdisc.options[std::string(option.name)] = word == option.name ? 1 : 0;
            return;
        }
        const auto value = rest.empty() ? std::nullopt : parseOption(option, rest.front());
        if (!value)
            failKnob("qdisc " + qdisc.kind + ": " + std::string(word) + " takes " +
                     std::string(unitExample(option.unit)) +
                     (rest.empty() ? "" : ", not '" + std::string(rest.front()) + "'"));
        rest = rest.subspan(1);
        qdisc.options[std::string(option.name)] = *value;
        // tc writes netem's jitter behind the delay, without a word.
        const auto jitter =
            word == "delay" && !rest.empty() ? parseTime(rest.front()) : std::nullopt;
        if (jitter) {
            qdisc.options["jitter"] = *jitter;
            rest = rest.subspan(1);
        }
        return;
    }
    failOption(qdisc.kind, word);
}

/// tbf waits at most so long: what the queue holds beyond the bucket, at that rate.
void limitFromLatency(Qdisc& qdisc) {
    const auto latency = qdisc.options.find("latency");
    if (latency == qdisc.options.end())
        return;
    const double bytes =
        static_cast<double>(qdisc.options["rate"]) / 8 * static_cast<double>(latency->second) / 1e9;
    qdisc.options["limit"] =
        static_cast<std::uint64_t>(std::llround(bytes)) + qdisc.options["burst"];
    qdisc.options.erase(latency);
}

} // namespace

std::optional<std::uint64_t> parseRate(std::string_view text) {
    return parseQuantity(text, kRateUnits, 1);
}

std::optional<std::uint64_t> parseSize(std::string_view text) {
    return parseQuantity(text, kSizeUnits, 1);
}

std::optional<std::uint64_t> parseTime(std::string_view text) {
    return parseQuantity(text, kTimeUnits, 1e3);
}

Qdisc parseQdisc(std::string_view text) {
    const std::vector<std::string_view> all = words(text);
    std::span<const std::string_view> rest(all);
    Qdisc qdisc;
    if (!rest.empty() && rest.front() == "default") {
        qdisc.is_default = true;
        if (rest.size() > 1)
            qdisc.kind = rest[1];
        return qdisc;
    }
    if (rest.size() > 1 && rest.front() == "handle") {
        const auto number = rest[1].ends_with(':')
                                ? toNumber(rest[1].substr(0, rest[1].size() - 1), 16)
                                : std::nullopt;
        if (!number || *number == 0 || *number > 0x7fff)
            failKnob(
                "a qdisc's handle is a hexadecimal number up to 7fff with a colon, such as 1:");
        qdisc.handle = static_cast<std::uint16_t>(*number);
        rest = rest.subspan(2);
    }
    if (rest.empty())
        failKnob("qdisc:root takes default, or a kind of qdisc such as fq");
    qdisc.kind = rest.front();
    rest = rest.subspan(1);
    if (!isQdiscKind(qdisc.kind))
        failKnob("qdisc:root takes default, " + qdiscKinds() + ", not '" + qdisc.kind + "'");
    while (!rest.empty())
        takeOption(qdisc, rest);
    if (qdisc.kind == "tbf") {
        if (!qdisc.options.contains("rate") || !qdisc.options.contains("burst") ||
            !(qdisc.options.contains("limit") || qdisc.options.contains("latency")) ||
            qdisc.options["rate"] < 8)
            failKnob("qdisc tbf needs rate, burst, and latency or limit: tbf rate 1gbit burst "
                     "256k latency 50ms");
        limitFromLatency(qdisc);
    }
    return qdisc;
}

std::string qdiscText(const Qdisc& qdisc) {
    if (qdisc.is_default)
        return qdisc.kind.empty() ? "default" : "default " + qdisc.kind;
    std::string text;
    if (qdisc.handle != 0) {
        constexpr std::string_view kDigits = "0123456789abcdef";
        std::string digits;
        for (unsigned left = qdisc.handle; left != 0; left >>= 4)
            digits.insert(digits.begin(), kDigits[left & 15]);
        text = "handle " + digits + ": ";
    }
    text += qdisc.kind;
    for (const QdiscOption& option : qdiscOptions(qdisc.kind)) {
        if (const auto found = qdisc.options.find(option.name); found != qdisc.options.end())
            text += " " + optionText(option, found->second);
    }
    return text;
}

bool hasOptions(const Qdisc& has, const Qdisc& asked) {
    for (const auto& [name, value] : asked.options) {
        const auto found = has.options.find(name);
        if (found == has.options.end())
            return false;
        // The kernel keeps times in units of its own, and tbf's bucket as a time.
        const std::uint64_t apart =
            found->second > value ? found->second - value : value - found->second;
        const auto rounding = roundingOf(has.kind, name);
        if (apart > (rounding ? value / 500 + *rounding : 0))
            return false;
    }
    return true;
}

} // namespace knobscope::agent
