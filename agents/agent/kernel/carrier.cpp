// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/carrier.h"

#include "agents/agent/error.h"
#include "agents/agent/kernel/rtlink.h"
#include "agents/agent/kernel/textfile.h"

#include <algorithm>
#include <thread>

namespace knobscope::agent {

namespace {

using Clock = std::chrono::steady_clock;

/// PHYs are asked once a second how they are.
constexpr std::chrono::milliseconds kUntilDown{1500};
constexpr std::chrono::milliseconds kBetweenLooks{20};

std::optional<Carrier> lookAtLink(const std::string& interface) {
    try {
        const LinkInfo link = readLink(interface);
        return Carrier{link.carrier.value_or(false), link.carrier_changes};
    } catch (const AgentError&) {
        return std::nullopt;
    }
}

} // namespace

CarrierWatch::CarrierWatch() : m_look(lookAtLink) {}

void CarrierWatch::before(const std::string& interface, LinkEffect effect) {
    if (effect == LinkEffect::None)
        return;
    const auto known = m_watched.find(interface);
    if (known != m_watched.end()) {
        known->second.negotiates = known->second.negotiates || effect == LinkEffect::Negotiation;
        return;
    }
    if (const auto carrier = m_look(interface); carrier && carrier->up)
        m_watched[interface] = {*carrier, effect == LinkEffect::Negotiation};
}

/// An interface that is gone will not come up.
bool CarrierWatch::isBack(const Watched& watched, const std::optional<Carrier>& now,
                          Clock::duration waited) {
    const bool settled = !watched.negotiates || waited >= kUntilDown ||
                         (now && now->changes != watched.before.changes);
    return !now || (now->up && settled);
}

bool CarrierWatch::isSettled() const {
    return std::all_of(m_watched.begin(), m_watched.end(), [this](const auto& entry) {
        return isBack(entry.second, m_look(entry.first), Clock::duration{0});
    });
}

std::vector<std::string> CarrierWatch::wait(std::chrono::milliseconds limit) {
    const auto start = Clock::now();
    std::vector<std::string> down;
    for (const auto& [interface, watched] : m_watched) {
        for (;;) {
            const auto now = m_look(interface);
            const auto waited = Clock::now() - start;
            if (isBack(watched, now, waited))
                break;
            if (waited >= limit) {
                if (!now->up)
                    down.push_back(interface);
                break;
            }
            std::this_thread::sleep_for(kBetweenLooks);
        }
    }
    m_watched.clear();
    return down;
}

} // namespace knobscope::agent
