// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QList>

#include <sys/types.h>

namespace knobscope {

/// Starts a program with these three descriptors as its stdio, default signal handling, and nothing
/// else of this process. It gets a session of its own, so that Ctrl-C in a terminal reaches the
/// workbench alone. errno, or 0 and its process number.
[[nodiscard]] int startProcess(const QList<QByteArray>& arguments, int in, int out, int err,
                               pid_t& pid);

} // namespace knobscope
