// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/kernel/features.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace knobscope::agent {

/// A request of ethtool's ioctl with a tail of varying length.
template<typename Header>
class EthtoolTailed {
public:
    explicit EthtoolTailed(std::size_t tail_bytes)
        : m_words((sizeof(Header) + tail_bytes + 7) / 8) {}
    Header* operator->() { return reinterpret_cast<Header*>(m_words.data()); }
    void* data() { return m_words.data(); }
    [[nodiscard]] const char* tail() const {
        return reinterpret_cast<const char*>(m_words.data()) + sizeof(Header);
    }
    char* tail() { return reinterpret_cast<char*>(m_words.data()) + sizeof(Header); }

private:
    std::vector<std::uint64_t> m_words; // for the alignment
};

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
    [[nodiscard]] Features features() const;                            ///< throws
    void setFeatures(const std::map<std::string, bool>& changes) const; ///< throws

    /// Private flags of the driver, in its order; none when it has none.
    [[nodiscard]] std::vector<std::pair<std::string, bool>> privateFlags() const;
    /// 0, or the errno.
    int setPrivateFlag(const std::string& name, bool on) const;

    /// One request as linux/ethtool.h has it: ioctl's result, or the negative errno.
    int call(void* request) const;
    /// Names of a string set (ETH_SS_...); none when the device has no such set.
    [[nodiscard]] std::vector<std::string> strings(std::uint32_t set) const;

private:
    int m_fd = -1;
    std::string m_interface;
};

/// Names to values; the second of a name becomes "name#2", and so on.
[[nodiscard]] std::map<std::string, std::uint64_t>
namedCounters(const std::vector<std::string>& names, const std::vector<std::uint64_t>& values);

} // namespace knobscope::agent
