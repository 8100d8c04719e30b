// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/experiment.h"
#include "core/result.h"

namespace knobscope {

/// The part of checkExperiment() that is about the hosts: each for itself, and together. BadInput
/// begins with the path of the entry at fault ("hosts.receiver[1].address: ...").
[[nodiscard]] Result<void> checkHosts(const Experiment& experiment);

/// An IPv4 or IPv6 address in numbers; a zone ("%eth0") may follow the latter.
[[nodiscard]] bool isAddress(const QString& text);
/// A name that the kernel takes for an interface.
[[nodiscard]] bool isInterfaceName(const QString& text);

} // namespace knobscope
