// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/kernel/features.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace knobscope::agent {

/// ethtool's ioctls, for one interface: statistics, driver, link, and settings of kernels that
/// lack ethtool netlink. Throws AgentError(kKnob) only where it says so.
class EthtoolIoctl {
public:
    struct Driver {
        std::string name, version, firmware, bus;
    };
    struct Link {
        std::optional<std::uint32_t> speed_mbit;
        std::optional<std::string> duplex; ///< "full", "half"
    };

    explicit EthtoolIoctl(const std::string& interface); ///< throws
    ~EthtoolIoctl();
    EthtoolIoctl(const EthtoolIoctl&) = delete;
    EthtoolIoctl& operator=(const EthtoolIoctl&) = delete;

    /// The driver's own counters; nothing when it has none.
    [[nodiscard]] std::optional<std::map<std::string, std::uint64_t>> statistics() const;
    [[nodiscard]] std::optional<Driver> driver() const;
    [[nodiscard]] Link link() const;
    /// As EthtoolNetlink::settings(). A driver fills in zero for what it does not have, so zero
    /// coalescing values are left out.
    [[nodiscard]] std::map<std::string, std::string> settings() const;

    [[nodiscard]] Features features() const;                            ///< throws
    void setFeatures(const std::map<std::string, bool>& changes) const; ///< throws

private:
    /// ioctl's result, or the negative errno.
    int call(void* request) const;
    [[nodiscard]] std::vector<std::string> strings(std::uint32_t set) const;
    int m_fd = -1;
    std::string m_interface;
};

/// Names to values; the second of a name becomes "name#2", and so on.
[[nodiscard]] std::map<std::string, std::uint64_t>
namedCounters(const std::vector<std::string>& names, const std::vector<std::uint64_t>& values);

} // namespace knobscope::agent
