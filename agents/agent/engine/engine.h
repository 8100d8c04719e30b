// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"

#include <memory>

namespace knobscope::agent {

/// This host's side of one test: makes the connections, moves the bytes in threads of its own (one
/// a stream), counts. One object a test. Used from one thread at a time, but for cancel(); only the
/// threads inside run beside it. All failures are AgentError: kTraffic, kCancelled after cancel(),
/// kState for a call that does not fit. Nothing listens once the object is gone, and every socket
/// is closed.
///
/// The end that receives the data (or answers the requests) reads before the other may send,
/// whichever was started first, so the time of a test begins at its first byte. At the end both
/// tell each other their counts; a test whose ends do not agree is a failure.
class Engine {
public:
    Engine();
    ~Engine(); ///< cancels and joins

    /// Server: binds to params.address only, listens, returns the port at once; accepts in the
    /// background, takes only connections from the peer address that carry the token (compared in
    /// constant time); others are dropped and counted. Client: connects all streams and hands over
    /// the token; returns when all are up (5 s at most).
    protocol::PrepareResult prepare(const protocol::PrepareParams& params);
    /// Lets the bytes flow. The side that sends the data (or the requests) ends the test after
    /// warm-up and measured time; the other side ends when the data does, or 5 s after it should
    /// have.
    void start();
    /// Ends everything soon; the result is then kCancelled. From any thread, also beside prepare().
    void cancel();

    /// Amounts since the first byte, warm-up included; cheap, any time. After the end: the totals.
    [[nodiscard]] protocol::Interval progress() const;
    /// Becomes readable (eventfd) when the test has ended, well or not.
    [[nodiscard]] int finishedFd() const;
    /// After finishedFd() is readable: the figures, or throws what went wrong.
    protocol::TrafficResult takeResult();

private:
    struct Private;
    std::unique_ptr<Private> d;
};

} // namespace knobscope::agent
