// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/ethtoolsettings.h"

#include "agents/agent/kernel/ethtool.h"
#include "agents/agent/kernel/ethtoolnetlink.h"
#include "agents/agent/kernel/knobfamily.h"
#include "agents/agent/kernel/textfile.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>

namespace knobscope::agent {

namespace {

struct Group {
    std::string_view name;
    int get, set;                       ///< netlink commands
    std::uint32_t ioctl_get, ioctl_set; ///< 0: none
    /// 32-bit words of the ioctl's struct. Word N is what netlink has as attribute N + 1.
    std::size_t words;
    int to_maximum; ///< from a setting's attribute back to that of its maximum; 0: none
};
constexpr std::array kGroups{
    Group{"coalesce", ETHTOOL_MSG_COALESCE_GET, ETHTOOL_MSG_COALESCE_SET, ETHTOOL_GCOALESCE,
          ETHTOOL_SCOALESCE, sizeof(ethtool_coalesce) / 4, 0},
    Group{"ring", ETHTOOL_MSG_RINGS_GET, ETHTOOL_MSG_RINGS_SET, ETHTOOL_GRINGPARAM,
          ETHTOOL_SRINGPARAM, sizeof(ethtool_ringparam) / 4, 4},
    Group{"channels", ETHTOOL_MSG_CHANNELS_GET, ETHTOOL_MSG_CHANNELS_SET, ETHTOOL_GCHANNELS,
          ETHTOOL_SCHANNELS, sizeof(ethtool_channels) / 4, 4},
    Group{"pause", ETHTOOL_MSG_PAUSE_GET, ETHTOOL_MSG_PAUSE_SET, ETHTOOL_GPAUSEPARAM,
          ETHTOOL_SPAUSEPARAM, sizeof(ethtool_pauseparam) / 4, 0},
    Group{"eee", ETHTOOL_MSG_EEE_GET, ETHTOOL_MSG_EEE_SET, 0, 0, 0, 0},
};
static_assert(offsetof(ethtool_coalesce, rate_sample_interval) / 4 + 1 ==
              ETHTOOL_A_COALESCE_RATE_SAMPLE_INTERVAL);
static_assert(offsetof(ethtool_ringparam, tx_pending) / 4 + 1 == ETHTOOL_A_RINGS_TX);
static_assert(offsetof(ethtool_channels, combined_count) / 4 + 1 ==
              ETHTOOL_A_CHANNELS_COMBINED_COUNT);
static_assert(offsetof(ethtool_pauseparam, tx_pause) / 4 + 1 == ETHTOOL_A_PAUSE_TX);

// Attributes younger than the headers that this is built with.
constexpr int kRingsRxPush = 14;
constexpr int kRingsTxPushBufLen = 15;
constexpr int kRingsHdsThresh = 17;
constexpr int kCoalesceTxAggrMaxBytes = 26;
constexpr int kCoalesceTxAggrMaxFrames = 27;
constexpr int kCoalesceTxAggrTimeUsecs = 28;

enum class Kind { Number, Switch, Split };

struct Setting {
    std::string_view name;
    int attribute;
    Kind kind = Kind::Number;
};
constexpr std::array kSettings{
    Setting{"coalesce:rx-usecs", ETHTOOL_A_COALESCE_RX_USECS},
    Setting{"coalesce:rx-frames", ETHTOOL_A_COALESCE_RX_MAX_FRAMES},
    Setting{"coalesce:rx-usecs-irq", ETHTOOL_A_COALESCE_RX_USECS_IRQ},
    Setting{"coalesce:rx-frames-irq", ETHTOOL_A_COALESCE_RX_MAX_FRAMES_IRQ},
    Setting{"coalesce:tx-usecs", ETHTOOL_A_COALESCE_TX_USECS},
    Setting{"coalesce:tx-frames", ETHTOOL_A_COALESCE_TX_MAX_FRAMES},
    Setting{"coalesce:tx-usecs-irq", ETHTOOL_A_COALESCE_TX_USECS_IRQ},
    Setting{"coalesce:tx-frames-irq", ETHTOOL_A_COALESCE_TX_MAX_FRAMES_IRQ},
    Setting{"coalesce:stats-block-usecs", ETHTOOL_A_COALESCE_STATS_BLOCK_USECS},
    Setting{"coalesce:adaptive-rx", ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX, Kind::Switch},
    Setting{"coalesce:adaptive-tx", ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX, Kind::Switch},
    Setting{"coalesce:pkt-rate-low", ETHTOOL_A_COALESCE_PKT_RATE_LOW},
    Setting{"coalesce:rx-usecs-low", ETHTOOL_A_COALESCE_RX_USECS_LOW},
    Setting{"coalesce:rx-frames-low", ETHTOOL_A_COALESCE_RX_MAX_FRAMES_LOW},
    Setting{"coalesce:tx-usecs-low", ETHTOOL_A_COALESCE_TX_USECS_LOW},
    Setting{"coalesce:tx-frames-low", ETHTOOL_A_COALESCE_TX_MAX_FRAMES_LOW},
    Setting{"coalesce:pkt-rate-high", ETHTOOL_A_COALESCE_PKT_RATE_HIGH},
    Setting{"coalesce:rx-usecs-high", ETHTOOL_A_COALESCE_RX_USECS_HIGH},
    Setting{"coalesce:rx-frames-high", ETHTOOL_A_COALESCE_RX_MAX_FRAMES_HIGH},
    Setting{"coalesce:tx-usecs-high", ETHTOOL_A_COALESCE_TX_USECS_HIGH},
    Setting{"coalesce:tx-frames-high", ETHTOOL_A_COALESCE_TX_MAX_FRAMES_HIGH},
    Setting{"coalesce:sample-interval", ETHTOOL_A_COALESCE_RATE_SAMPLE_INTERVAL},
    Setting{"coalesce:cqe-mode-tx", ETHTOOL_A_COALESCE_USE_CQE_MODE_TX, Kind::Switch},
    Setting{"coalesce:cqe-mode-rx", ETHTOOL_A_COALESCE_USE_CQE_MODE_RX, Kind::Switch},
    Setting{"coalesce:tx-aggr-max-bytes", kCoalesceTxAggrMaxBytes},
    Setting{"coalesce:tx-aggr-max-frames", kCoalesceTxAggrMaxFrames},
    Setting{"coalesce:tx-aggr-time-usecs", kCoalesceTxAggrTimeUsecs},
    Setting{"ring:rx", ETHTOOL_A_RINGS_RX},
    Setting{"ring:rx-mini", ETHTOOL_A_RINGS_RX_MINI},
    Setting{"ring:rx-jumbo", ETHTOOL_A_RINGS_RX_JUMBO},
    Setting{"ring:tx", ETHTOOL_A_RINGS_TX},
    Setting{"ring:rx-buf-len", ETHTOOL_A_RINGS_RX_BUF_LEN},
    Setting{"ring:tcp-data-split", ETHTOOL_A_RINGS_TCP_DATA_SPLIT, Kind::Split},
    Setting{"ring:cqe-size", ETHTOOL_A_RINGS_CQE_SIZE},
    Setting{"ring:tx-push", ETHTOOL_A_RINGS_TX_PUSH, Kind::Switch},
    Setting{"ring:rx-push", kRingsRxPush, Kind::Switch},
    Setting{"ring:tx-push-buf-len", kRingsTxPushBufLen},
    Setting{"ring:hds-thresh", kRingsHdsThresh},
    Setting{"channels:rx", ETHTOOL_A_CHANNELS_RX_COUNT},
    Setting{"channels:tx", ETHTOOL_A_CHANNELS_TX_COUNT},
    Setting{"channels:other", ETHTOOL_A_CHANNELS_OTHER_COUNT},
    Setting{"channels:combined", ETHTOOL_A_CHANNELS_COMBINED_COUNT},
    Setting{"pause:autoneg", ETHTOOL_A_PAUSE_AUTONEG, Kind::Switch},
    Setting{"pause:rx", ETHTOOL_A_PAUSE_RX, Kind::Switch},
    Setting{"pause:tx", ETHTOOL_A_PAUSE_TX, Kind::Switch},
    Setting{"eee:enabled", ETHTOOL_A_EEE_ENABLED, Kind::Switch},
    Setting{"eee:tx-lpi", ETHTOOL_A_EEE_TX_LPI_ENABLED, Kind::Switch},
    Setting{"eee:tx-timer", ETHTOOL_A_EEE_TX_LPI_TIMER},
};

constexpr std::array kSplitWords{std::string_view("auto"), std::string_view("off"),
                                 std::string_view("on")};

const Group& groupOf(std::string_view name) {
    const std::string_view prefix = name.substr(0, name.find(':'));
    for (const Group& group : kGroups) {
        if (group.name == prefix)
            return group;
    }
    failKnob("'" + std::string(name) + "' is no setting of ethtool");
}

const Setting& settingOf(std::string_view name) {
    for (const Setting& setting : kSettings) {
        if (setting.name == name)
            return setting;
    }
    failKnob("'" + std::string(name) + "' is no setting of ethtool");
}

std::string textOf(const Setting& setting, std::uint64_t value) {
    if (setting.kind == Kind::Switch)
        return switchText(value != 0);
    if (setting.kind == Kind::Split && value < kSplitWords.size())
        return std::string(kSplitWords[value]);
    return std::to_string(value);
}

std::uint32_t numberOf(const KnobCall& call, const Setting& setting, const std::string& value) {
    if (setting.kind == Kind::Switch)
        return switchValue(call, value) ? 1 : 0;
    if (setting.kind == Kind::Split) {
        const auto word = std::find(kSplitWords.begin(), kSplitWords.end(), trimmed(value));
        if (word == kSplitWords.end())
            failKnob(call.name() + " takes on, off or auto, not '" + value + "'");
        return static_cast<std::uint32_t>(word - kSplitWords.begin());
    }
    return static_cast<std::uint32_t>(wholeNumber(call, value));
}

/// The maximum of a setting, where the group has maxima and the device tells this one.
std::optional<std::uint64_t> maximumOf(const Group& group, const Setting& setting,
                                       const EthtoolGroupValues& values) {
    // The attributes beyond the ioctl's struct have no maximum at that distance.
    if (group.to_maximum == 0 || static_cast<std::size_t>(setting.attribute) > group.words)
        return std::nullopt;
    const auto found = values.values.find(setting.attribute - group.to_maximum);
    return found == values.values.end() || found->second == 0 ? std::nullopt
                                                              : std::optional(found->second);
}

/// The kernel has refused; says what would do, where that is known.
[[noreturn]] void failRefused(const KnobCall& call, const std::string& value, int error,
                              const std::string& words) {
    if (error == EOPNOTSUPP)
        failUnsupported(call, words);
    std::string text = "the kernel refuses '" + value + "' for " + call.what() + ": " + words;
    try {
        const Group& group = groupOf(call.name());
        const auto maximum = maximumOf(group, settingOf(call.name()),
                                       readEthtoolGroup(group.name, call.interface()));
        if (const auto number = toNumber(trimmed(value)); maximum && number && *number > *maximum)
            text += "; the most is " + std::to_string(*maximum);
    } catch (const AgentError&) {
        // Then the kernel's words must do.
    }
    failKnob(text);
}

} // namespace

EthtoolGroupValues parseEthtoolGroup(std::string_view answer) {
    EthtoolGroupValues result;
    const NetlinkAttributes attributes(answer);
    for (const auto& [type, bytes] : attributes.all()) {
        if (const auto number = attributes.number(type))
            result.values.emplace(type, *number);
    }
    return result;
}

std::optional<EthtoolGroupValues> readEthtoolGroupByIoctl(std::string_view name,
                                                          const std::string& interface) {
    const Group& group = groupOf(name);
    std::vector<std::uint32_t> words(group.words);
    if (words.empty())
        return std::nullopt;
    words[0] = group.ioctl_get;
    if (EthtoolIoctl(interface).call(words.data()) < 0)
        return std::nullopt;
    EthtoolGroupValues result{{}, true};
    for (std::size_t i = 1; i < words.size(); ++i)
        result.values.emplace(static_cast<int>(i) + 1, words[i]);
    return result;
}

int writeEthtoolGroupByIoctl(std::string_view name, int attribute, const std::string& interface,
                             std::uint32_t value) {
    const Group& group = groupOf(name);
    const std::size_t place = static_cast<std::size_t>(attribute) - 1;
    std::vector<std::uint32_t> words(group.words);
    if (place >= words.size())
        return EOPNOTSUPP;
    const EthtoolIoctl ethtool(interface);
    words[0] = group.ioctl_get;
    if (const int result = ethtool.call(words.data()); result < 0)
        return -result;
    words[0] = group.ioctl_set;
    words[place] = value;
    const int result = ethtool.call(words.data());
    return result < 0 ? -result : 0;
}

EthtoolGroupValues readEthtoolGroup(std::string_view name, const std::string& interface) {
    try {
        return parseEthtoolGroup(EthtoolNetlink(interface).askOne(groupOf(name).get));
    } catch (const NetlinkError& error) {
        if (lacksNetlink(error)) {
            if (auto values = readEthtoolGroupByIoctl(name, interface))
                return *values;
        }
        throw;
    }
}

std::optional<std::string> ethtoolSettingText(std::string_view name,
                                              const EthtoolGroupValues& values) {
    const Setting& setting = settingOf(name);
    const auto found = values.values.find(setting.attribute);
    if (found == values.values.end())
        return std::nullopt;
    return textOf(setting, found->second);
}

bool isEthtoolSetting(std::string_view name) {
    return std::any_of(kSettings.begin(), kSettings.end(),
                       [name](const Setting& setting) { return setting.name == name; });
}

std::map<std::string, std::string> ethtoolFacts(const std::string& interface) {
    std::map<std::string, std::string> facts;
    for (const Group& group : kGroups) {
        EthtoolGroupValues values;
        try {
            values = readEthtoolGroup(group.name, interface);
        } catch (const AgentError&) {
            continue; // the device has none of them
        }
        for (const Setting& setting : kSettings) {
            if (&groupOf(setting.name) != &group)
                continue;
            const auto text = ethtoolSettingText(setting.name, values);
            std::string fact(setting.name);
            fact[group.name.size()] = '.';
            // By ioctl zero may mean that the device has no such thing; only pause is always there.
            if (text && !(values.by_ioctl && group.name != "pause" &&
                          values.values.at(setting.attribute) == 0))
                facts[fact] = *text;
            if (const auto maximum = maximumOf(group, setting, values); text && maximum)
                facts[fact + "-max"] = std::to_string(*maximum);
        }
    }
    return facts;
}

std::string readEthtoolSetting(const KnobCall& call) {
    try {
        const auto values = readEthtoolGroup(groupOf(call.name()).name, call.interface());
        if (auto text = ethtoolSettingText(call.name(), values))
            return *text;
    } catch (const NetlinkError& error) {
        if (error.error() == EOPNOTSUPP)
            failUnsupported(call, error.what());
        failKnob("cannot read " + call.what() + ": " + error.what());
    }
    failUnsupported(call, "it has no such setting");
}

void writeEthtoolSetting(const KnobCall& call, const std::string& value) {
    const Group& group = groupOf(call.name());
    const Setting& setting = settingOf(call.name());
    const std::uint32_t number = numberOf(call, setting, value);
    try {
        EthtoolNetlink netlink(call.interface());
        NetlinkBody body = netlink.request(group.set);
        if (setting.kind == Kind::Number)
            body.putU32(setting.attribute, number);
        else
            body.putU8(setting.attribute, static_cast<std::uint8_t>(number));
        (void)netlink.ask(body);
    } catch (const NetlinkError& error) {
        if (!lacksNetlink(error))
            failRefused(call, value, error.error(), error.what());
        const int result =
            writeEthtoolGroupByIoctl(group.name, setting.attribute, call.interface(), number);
        if (result == EOPNOTSUPP)
            failRefused(call, value, result, error.what());
        if (result != 0)
            failRefused(call, value, result, std::strerror(result));
    }
}

std::string coalesceMover(const KnobCall& call) {
    const std::string direction = call.member.substr(0, 2);
    try {
        const auto values = readEthtoolGroup("coalesce", call.interface());
        if (ethtoolSettingText("coalesce:adaptive-" + direction, values) == "on")
            return "coalesce:adaptive-" + direction + " is on";
    } catch (const AgentError&) {
        // Then nothing is known to move it.
    }
    return {};
}

} // namespace knobscope::agent
