// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/experiment.h"

namespace knobscope {

/// Reads the JSON form (format "knobscope-experiment", version 1; see
/// resources/schema/experiment-1.json). Every error is BadInput, names the path
/// ("axes[1].values[0]: ...") or, for broken JSON, line and column. Unknown and duplicate keys,
/// wrong types, unknown knobs, impossible values, empty axes, a knob on two axes of one side, the
/// same SSH host twice, sides that do not pair up, an exclusion that leaves nothing: all errors.
/// Nothing is guessed.
[[nodiscard]] Result<Experiment> parseExperiment(const QByteArray& json);
[[nodiscard]] Result<Experiment> readExperimentFile(const QString& path);

/// The same checks for an experiment that was not read from a file (the wizard's).
[[nodiscard]] Result<void> checkExperiment(const Experiment& experiment);

/// Where a host stands in the file: "hosts.sender", or "hosts.sender[1]" for the second of several.
[[nodiscard]] QString hostPath(HostRef host);

/// Writes it so that parseExperiment gives the same back. Indented, keys in the documented order.
[[nodiscard]] QByteArray writeExperiment(const Experiment& experiment);

} // namespace knobscope
