// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

/// Numbers and switches that ethtool keeps: coalesce, ring, channels, pause and eee.
namespace knobscope::agent {

/// What a device has of one group: values by the numbers of the group's netlink attributes.
struct EthtoolGroupValues {
    std::map<int, std::uint64_t> values;
    bool by_ioctl = false; ///< a driver fills in zero for what it does not have
};

/// `group` is "coalesce", "ring"... Through netlink, or by ioctl where the kernel lacks that.
/// Throws NetlinkError with the kernel's words when the device has none of them.
[[nodiscard]] EthtoolGroupValues readEthtoolGroup(std::string_view group,
                                                  const std::string& interface);
/// The same by ioctl alone; absent where it has no such request or the device none of the settings.
[[nodiscard]] std::optional<EthtoolGroupValues>
readEthtoolGroupByIoctl(std::string_view group, const std::string& interface);
/// One setting by ioctl: 0, or the errno.
[[nodiscard]] int writeEthtoolGroupByIoctl(std::string_view group, int attribute,
                                           const std::string& interface, std::uint32_t value);
/// The answer to a GET of the group, without its generic netlink header.
[[nodiscard]] EthtoolGroupValues parseEthtoolGroup(std::string_view answer);

/// The text of one setting; absent when the device does not have it. `name` is that of the knob:
/// "ring:rx".
[[nodiscard]] std::optional<std::string> ethtoolSettingText(std::string_view name,
                                                            const EthtoolGroupValues& values);

/// Whether the knob is one of these settings.
[[nodiscard]] bool isEthtoolSetting(std::string_view name);
/// All that the interface has, by fact: "coalesce.rx-usecs", "ring.rx", "ring.rx-max".
[[nodiscard]] std::map<std::string, std::string> ethtoolFacts(const std::string& interface);

} // namespace knobscope::agent
