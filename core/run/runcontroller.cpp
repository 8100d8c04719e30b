// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/runcontroller.h"

namespace knobscope {

RunController::RunController(HostOptions options, QObject* parent)
    : QObject(parent), m_options(std::move(options)) {}

RunController::~RunController() = default;

void RunController::requestStop() {
    m_cancel.cancel();
}

} // namespace knobscope
