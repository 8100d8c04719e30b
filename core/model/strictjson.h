// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/json.h"
#include "core/result.h"

#include <QByteArray>

namespace knobscope {

/// Parses one JSON document of people's making. BadInput with line and column for broken JSON;
/// duplicate keys, numbers no double can hold, and nesting deeper than 32 are errors too, named by
/// their path.
[[nodiscard]] Result<Json> parseStrictJson(const QByteArray& text);

} // namespace knobscope
