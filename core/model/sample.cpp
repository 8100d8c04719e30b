// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/sample.h"

namespace knobscope {

std::optional<double> SampleRecord::metric(const QString& name, HostRef host) const {
    for (const Metric& metric : metrics) {
        if (metric.host == host && metric.name == name)
            return metric.value;
    }
    return std::nullopt;
}

} // namespace knobscope
