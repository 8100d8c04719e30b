// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QIcon>

namespace knobscope {

/// An icon of resources/icons by its name: "new", "stop", "ok"...
[[nodiscard]] QIcon icon(const char* name);

} // namespace knobscope
