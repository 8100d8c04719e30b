// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/frame/journal.h"

#include <vector>

namespace knobscope::agent {

/// Puts knobs back to their originals: in the reverse order of application, each whatever became
/// of the others; then looks at all again and tries once more at those that are not as they were
/// (one knob can move another). One report a knob, in the order of undoing. Never throws.
[[nodiscard]] std::vector<protocol::UndoReport> undoKnobs(std::vector<TouchedKnob> knobs);

/// Whether the knob belongs to an interface that is not there now.
[[nodiscard]] bool interfaceIsGone(const protocol::KnobTarget& knob);

} // namespace knobscope::agent
