// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/hostref.h"

namespace knobscope {

QString hostName(HostRef host) {
    const QString side = sideName(host.side);
    return host.number == 0 ? side : QStringLiteral("%1 %2").arg(side).arg(host.number);
}

QString hostPhrase(HostRef host) {
    return host.number == 0 ? QStringLiteral("the ") + hostName(host) : hostName(host);
}

} // namespace knobscope
