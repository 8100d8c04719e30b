// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/experiment.h"

namespace knobscope {

QString HostSpec::label() const {
    return local ? QStringLiteral("this computer") : ssh;
}

} // namespace knobscope
