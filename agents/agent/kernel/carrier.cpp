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

std::vector<std::string> CarrierWatch::wait(std::chrono::milliseconds limit) {
    const auto start = Clock::now();
    std::vector<std::string> down;
    for (const auto& [interface, watched] : m_watched) {
        for (;;) {
            const auto now = m_look(interface);
            const auto waited = Clock::now() - start;
            const bool settled = !watched.negotiates || waited >= std::min(kUntilDown, limit) ||
                                 (now && now->changes != watched.before.changes);
            if (!now || (now->up && settled))
                break; // an interface that is gone will not come up
            if (waited >= limit) {
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
