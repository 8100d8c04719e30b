// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/run.h"

namespace knobscope {

QString runStateName(RunState state) {
    switch (state) {
    case RunState::Running:
        return QStringLiteral("running");
    case RunState::Finished:
        return QStringLiteral("finished");
    case RunState::Failed:
        return QStringLiteral("failed");
    case RunState::Cancelled:
        break;
    }
    return QStringLiteral("cancelled");
}

std::optional<RunState> runStateFromName(const QString& name) {
    for (const RunState state :
         {RunState::Running, RunState::Finished, RunState::Failed, RunState::Cancelled}) {
        if (runStateName(state) == name)
            return state;
    }
    return std::nullopt;
}

} // namespace knobscope
