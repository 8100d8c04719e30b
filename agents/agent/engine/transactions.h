// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/engine/flows.h"

namespace knobscope::agent {

/// tcp_rr, the client: keeps up to `burst` transactions in flight, each one send() and one
/// response; the number in flight grows by one with every response until it is reached, so that
/// the test does not open with a flood. At the end it waits for all responses, so that both ends
/// count the same.
void sendRequests(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers);
/// tcp_rr, the server: one response for each whole request.
void answerRequests(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers);

/// Waits until there is something to read, the end of the data included.
void awaitFirstByte(int socket);
/// Throws an AgentError that says what happened to the connection with `peer`.
[[noreturn]] void failTransfer(const char* doing, const std::string& peer, int error);

} // namespace knobscope::agent
