// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"
#include "core/model/sample.h"
#include "core/run/runcontroller.h"

#include <mutex>

namespace knobscope {

/// Per-interval amounts out of cumulative ones. `received`: of the bytes that this side received
/// rather than sent.
[[nodiscard]] QList<SeriesPoint> seriesOf(const std::vector<protocol::Interval>& intervals,
                                          bool received);

/// The cumulative intervals of several ends as those of one: interval i is the sum of their
/// intervals i, and ends when the last of them does. One that has ended counts on with its total,
/// so that the last interval is the sum of all totals. The round trip is the mean of the ends'.
[[nodiscard]] std::vector<protocol::Interval>
summedIntervals(const std::vector<const std::vector<protocol::Interval>*>& parts);

/// What moved between two cumulative notifications of one agent; `last` becomes `now`. A new sample
/// counts from 0 again. Absent when no time has passed.
[[nodiscard]] std::optional<LiveInterval> liveInterval(Side side, const protocol::Interval& now,
                                                       protocol::Interval& last);

/// The rate of a side whose traffic several agents move: tells of an interval when all of them
/// have, or when one that has told already tells again. Any thread.
class LiveSide {
public:
    LiveSide(Side side, std::size_t agents) : m_side(side), m_last(agents), m_told(agents) {}

    /// A new sample: what is left of the last one is forgotten.
    void begin();
    /// `agent` from 0. Absent until there is something to tell.
    [[nodiscard]] std::optional<LiveInterval> add(std::size_t agent, const protocol::Interval& now);

private:
    [[nodiscard]] LiveInterval takeSum();

    const Side m_side;
    std::mutex m_mutex;
    std::vector<protocol::Interval> m_last;
    std::vector<std::optional<LiveInterval>> m_told; ///< since the last sum
};

} // namespace knobscope
