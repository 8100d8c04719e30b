// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/engine/course.h"
#include "agents/agent/engine/setup.h"

#include <span>
#include <vector>

namespace knobscope::agent {

/// Whose bytes a thread sends and receives in. Made before the test starts: the loops allocate
/// nothing.
struct FlowBuffers {
    std::vector<char> send;
    std::vector<char> receive;
};
[[nodiscard]] FlowBuffers makeBuffers(const Setup& setup, bool sends);

/// Bytes that no link or disk on the way can compress.
[[nodiscard]] std::vector<char> noise(std::int64_t size);

/// Moves one stream's bytes in the calling thread until its end is known. Throws AgentError.
/// The conductor ends the sending side; the other one ends with the data.
void runFlow(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers,
             std::size_t index);

// The parts of runFlow(), by kind of test.
void sendRequests(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers,
                  std::size_t index);
void answerRequests(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers);
void makeConnections(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers,
                     std::size_t index);
void takeConnections(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers,
                     std::size_t index);
void sendDatagrams(Stream& stream, Course& course, const Setup& setup, std::size_t index);
void receiveDatagrams(Stream& stream, Course& course, const Setup& setup);
void sendDatagramRequests(Stream& stream, Course& course, const Setup& setup, FlowBuffers& buffers,
                          std::size_t index);
void answerDatagramRequests(Stream& stream, Course& course, const Setup& setup,
                            FlowBuffers& buffers);

/// Moves several streams of a tcp_stream or tcp_rr in the calling thread, by epoll, once they are
/// released; all of them send, or none does. A stream's failure is noted on it, as is its end.
void runFlows(std::span<Stream*> streams, Course& course, const Setup& setup,
              std::span<const std::size_t> indices);

// What they share.

/// Waits until there is something to read, or the end.
void awaitFirstByte(int socket);
/// The stream's measured time begins with the first call after the warm-up.
inline void markBegin(Stream& stream, const Course& course) {
    if (!stream.begin && course.phase() != Phase::kWarmup)
        stream.begin = stream.mark();
}
/// Throws AgentError(kTraffic): "receiving from 10.0.0.2 failed: ...".
[[noreturn]] void failTransfer(const char* doing, const std::string& peer, int error);
[[noreturn]] void failEarlyEnd(const std::string& peer);
[[noreturn]] void failAborted();

inline std::uint64_t nanoseconds(TimePoint time) {
    return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

} // namespace knobscope::agent
