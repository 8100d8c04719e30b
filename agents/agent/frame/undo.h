// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/frame/journal.h"
#include "agents/agent/kernel/knobhost.h"

#include <chrono>
#include <vector>

namespace knobscope::agent {

struct Undone {
    protocol::UndoReport report;
    bool quiet = false; ///< a companion that nothing had moved: not worth a word
};

/// Puts knobs back to their originals: in the reverse order of application, each whatever became
/// of the others; then looks at all again and tries once more at those that are not as they were
/// (one knob can move another). Waits for links that go down with it, at most `link_wait`
/// altogether. One report a knob, in the order of undoing. Never throws.
[[nodiscard]] std::vector<Undone> undoKnobs(KnobHost& host, std::vector<TouchedKnob> knobs,
                                            std::chrono::milliseconds link_wait);

/// Whether the knob belongs to an interface that is not there now.
[[nodiscard]] bool interfaceIsGone(const protocol::KnobTarget& knob);

} // namespace knobscope::agent
