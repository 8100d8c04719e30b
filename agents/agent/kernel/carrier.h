// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/kernel/knobfamily.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace knobscope::agent {

/// The carrier of an interface at one moment.
struct Carrier {
    bool up = false;
    std::optional<std::uint64_t> changes; ///< how often it came or went
};

/// Waits for links that knobs have taken down. One thread; blocks in wait().
class CarrierWatch {
public:
    using Look = std::function<std::optional<Carrier>(const std::string& interface)>;
    /// Through rtnetlink, or as `look` tells; absent where it cannot be told.
    CarrierWatch();
    explicit CarrierWatch(Look look) : m_look(std::move(look)) {}

    /// To be called before a knob of the interface is set. A link that is down before it is not
    /// waited for.
    void before(const std::string& interface, LinkEffect effect);
    /// Whether wait() would return at once.
    [[nodiscard]] bool isSettled() const;
    /// Waits until all links are up again, at most so long altogether. After a negotiation it
    /// waits a while for the link to go down in the first place. Gives the interfaces that are
    /// still down, and forgets all.
    [[nodiscard]] std::vector<std::string> wait(std::chrono::milliseconds limit);

private:
    struct Watched {
        Carrier before;
        bool negotiates = false;
    };
    [[nodiscard]] static bool isBack(const Watched& watched, const std::optional<Carrier>& now,
                                     std::chrono::steady_clock::duration waited);
    Look m_look;
    std::map<std::string, Watched> m_watched;
};

} // namespace knobscope::agent
