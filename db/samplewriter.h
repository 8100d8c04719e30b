// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/sample.h"
#include "db/dictionary.h"

namespace knobscope {

/// Writes one sample with all that belongs to it and returns its id. Within the caller's
/// transaction; after an error nothing may be committed.
Result<qint64> writeSample(Database& database, Dictionary& dictionary, qint64 run,
                           const SampleRecord& sample);

} // namespace knobscope
