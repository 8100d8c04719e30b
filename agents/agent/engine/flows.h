// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/engine/course.h"
#include "agents/agent/engine/setup.h"

#include <vector>

namespace knobscope::agent {

/// The buffers of one stream, made before the test so that the flows allocate nothing.
struct FlowBuffers {
    std::vector<char> send;
    std::vector<char> receive;
};
[[nodiscard]] FlowBuffers makeBuffers(const Setup& setup);

/// Moves the bytes of one stream from the release of the test to its end, in the calling thread,
/// with blocking calls. Sets stream.begin and stream.end. Another thread ends it by shutting the
/// socket. Throws AgentError.
void runFlow(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers);

} // namespace knobscope::agent
