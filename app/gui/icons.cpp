// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/icons.h"

namespace knobscope {

QIcon icon(const char* name) {
    return QIcon(QStringLiteral(":/knobscope/icons/%1.svg").arg(QLatin1String(name)));
}

} // namespace knobscope
