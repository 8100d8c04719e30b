// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"
#include "core/model/sample.h"

namespace knobscope {

/// What an end told of a stream, as it is kept. `instance` and `number` as in StreamFigures;
/// `transactions`: of a kind of test that has them.
[[nodiscard]] StreamFigures streamFigures(const protocol::StreamResult& stream, int instance,
                                          int number, bool transactions);

} // namespace knobscope
