// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/run.h"
#include "core/run/preflight.h"

#include <nlohmann/json.hpp>

namespace knobscope::cli {

// What all JSON of the program has in common: the order of writing is kept, unknown is null,
// times are UTC, cells, samples, blocks and attempts are counted from 1, and sizes are plain
// numbers (262144, not "256K").

using Json = nlohmann::ordered_json;

[[nodiscard]] std::string jsonText(const QString& value);
[[nodiscard]] Json jsonList(const QStringList& values);
[[nodiscard]] Json jsonTime(const QDateTime& value);
[[nodiscard]] Json jsonNumber(std::optional<double> value);
/// Of one host of a side that has several; null for a side as a whole, or its only host.
[[nodiscard]] Json jsonHostNumber(HostRef host);
/// A number where it is one, else its text.
[[nodiscard]] Json jsonValue(const KnobValue& value);
/// One object an axis: knob, side, value.
[[nodiscard]] Json jsonSettings(const Experiment& experiment, const Cell& cell);
/// state, title, detail.
[[nodiscard]] Json jsonCheck(const Check& check);
/// host, number, knob, interface, now, values.
[[nodiscard]] Json jsonChange(const PlannedChange& change);
[[nodiscard]] const char* jsonState(SampleState state);

/// One line. Bytes that are no UTF-8 are replaced rather than thrown about.
[[nodiscard]] QString jsonLine(const Json& value);

} // namespace knobscope::cli
