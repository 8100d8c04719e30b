// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/report/curves.h"

namespace knobscope::cli {

/// Positions of the cells in which a counter moved least and most.
struct CounterRange {
    qsizetype least = 0;
    qsizetype most = 0;
};

/// Absent where no cell has the counter.
[[nodiscard]] inline std::optional<CounterRange> rangeOf(const CounterRow& counter) {
    std::optional<CounterRange> range;
    for (qsizetype i = 0; i < counter.perCell.size(); ++i) {
        const auto& value = counter.perCell[i];
        if (!value)
            continue;
        if (!range)
            range = CounterRange{i, i};
        if (*value < *counter.perCell[range->least])
            range->least = i;
        if (*value > *counter.perCell[range->most])
            range->most = i;
    }
    return range;
}

} // namespace knobscope::cli
