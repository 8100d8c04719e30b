// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/knob.h"

#include <compare>

namespace knobscope {

/// Which host something belongs to: a side of the experiment and, where that side has several
/// hosts, which of them. A plain value; any thread.
struct HostRef {
    Side side = Side::Whole;
    int number = 0; ///< 0: the side as a whole, or its only host; 1 to n: that one of its n hosts

    constexpr HostRef() = default;
    /// A side stands for itself as a whole, so it can be named wherever a host is asked for.
    constexpr HostRef(Side ofSide, int ofNumber = 0) : side(ofSide), number(ofNumber) {}

    friend constexpr auto operator<=>(const HostRef&, const HostRef&) = default;
};

/// Most hosts that a side can have.
inline constexpr int kMaxHosts = 16;

/// "receiver", "receiver 2", "" for the whole sample: how messages and tables name it.
[[nodiscard]] QString hostName(HostRef host);

/// "the receiver", "receiver 2": the same within a sentence.
[[nodiscard]] QString hostPhrase(HostRef host);

} // namespace knobscope
