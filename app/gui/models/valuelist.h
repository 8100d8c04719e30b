// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/knobvalue.h"
#include "core/result.h"

#include <QList>

namespace knobscope {

/// Values of an axis as typed in one line: "32K 64K auto", or with commas where a value has blanks
/// ("4096 131072 6291456, 4096 262144 6291456"), or in quotes. BadInput: an open quote.
[[nodiscard]] Result<QList<KnobValue>> parseValueList(const QString& text);
/// The line that parses to these values.
[[nodiscard]] QString formatValueList(const QList<KnobValue>& values);

} // namespace knobscope
