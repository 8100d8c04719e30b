// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/engine/datagrams.h"
#include "agents/agent/engine/fd.h"
#include "agents/agent/engine/socketoptions.h"
#include "agents/protocol/histogram.h"

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace knobscope::agent {

/// What a connection has moved.
struct Counts {
    std::uint64_t bytesSent = 0;
    std::uint64_t bytesReceived = 0;
    std::uint64_t sendCalls = 0;
    std::uint64_t recvCalls = 0;
    std::uint64_t transactions = 0; ///< datagrams of a udp_stream
};
[[nodiscard]] Counts operator+(const Counts& a, const Counts& b);
[[nodiscard]] Counts operator-(const Counts& a, const Counts& b);

/// The counts of a running connection: written by its own thread, read by any other. A plain load
/// and store a count (no locked instruction), on a cache line of its own.
class alignas(64) Counters {
public:
    void sent(std::uint64_t bytes) {
        add(m_bytesSent, bytes);
        add(m_sendCalls, 1);
    }
    void received(std::uint64_t bytes) {
        add(m_bytesReceived, bytes);
        add(m_recvCalls, 1);
    }
    /// Datagrams of one call.
    void sent(std::uint64_t bytes, std::uint64_t datagrams) {
        sent(bytes);
        add(m_transactions, datagrams);
    }
    void received(std::uint64_t bytes, std::uint64_t datagrams) {
        received(bytes);
        add(m_transactions, datagrams);
    }
    void transaction() { add(m_transactions, 1); }
    [[nodiscard]] Counts read() const;

private:
    using Cell = std::atomic<std::uint64_t>;
    static void add(Cell& cell, std::uint64_t amount) {
        cell.store(cell.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
    }
    Cell m_bytesSent{0};
    Cell m_bytesReceived{0};
    Cell m_sendCalls{0};
    Cell m_recvCalls{0};
    Cell m_transactions{0};
};

/// The counts at a moment: measured amounts are differences of two marks.
struct Mark {
    TimePoint time;
    Counts counts;
};

/// Receive calls by the logarithm of their size.
class ReceiveSizes {
public:
    void add(std::uint64_t bytes) { ++m_counts[static_cast<std::size_t>(std::bit_width(bytes))]; }
    /// Adds [i] of 2^i to 2^(i+1)-1 bytes to `sums`, which grows as needed.
    void addTo(std::vector<std::uint64_t>& sums) const;

private:
    std::array<std::uint64_t, 65> m_counts{};
};

/// One connection of a test, or in a tcp_crr test one chain of them. The thread of the connection
/// writes it; the conductor reads all but the counters only once `done` is set.
struct Stream {
    Fd socket;          ///< tcp_crr: none; its thread makes them
    Fd listener;        ///< tcp_crr, of the server
    bool sends = false; ///< this end sends the data or the requests, and ends the stream
    Counters counters;
    BufferSizes initialBuffers;
    ReceiveSizes receiveSizes; ///< of the measured time
    std::unique_ptr<protocol::Histogram>
        latency;                              ///< of the end that asks, measured time; may be off
    std::unique_ptr<DatagramTracker> tracker; ///< of the receiver of a udp_stream
    std::uint64_t lost = 0;                   ///< udp_rr, of the end that asks, measured time
    int peerPort = 0;                         ///< tcp_crr, of the client
    std::atomic<std::uint64_t> expected{0};   ///< datagrams that the other end has sent
    int strangers = 0;                        ///< tcp_crr: connections without the token
    std::optional<SocketState> state;         ///< tcp_crr: of the last connection
    std::optional<Mark> begin;                ///< of the measured time
    std::optional<Mark> end;
    std::string failure; ///< empty: none
    std::atomic<bool> done{false};

    [[nodiscard]] Mark mark() const { return {Clock::now(), counters.read()}; }
    /// What was moved in the measured time until now.
    [[nodiscard]] Counts measured() const {
        return begin ? counters.read() - begin->counts : Counts{};
    }
};

/// Where the test stands; only the conductor moves it on. kAbort: every thread ends soon, whatever
/// it was about.
enum class Phase : int { kWarmup, kMeasure, kStop, kAbort };

/// What the threads of one test share.
class Course {
public:
    [[nodiscard]] Phase phase() const { return m_phase.load(std::memory_order_relaxed); }
    [[nodiscard]] bool stopping() const { return phase() >= Phase::kStop; }
    [[nodiscard]] bool aborted() const { return phase() == Phase::kAbort; }
    void enter(Phase phase) { m_phase.store(phase, std::memory_order_relaxed); }

    /// The other end will send no more: what has not come in a moment is lost.
    [[nodiscard]] bool peerDone() const { return m_peerDone.load(std::memory_order_acquire); }
    void setPeerDone() { m_peerDone.store(true, std::memory_order_release); }

    /// Called by each thread when it has its buffers; holds it until the conductor lets all that
    /// send, or all that do not, go at once.
    void awaitRelease(bool sends);
    [[nodiscard]] std::size_t waiting() const { return m_waiting.load(); }
    void release(bool sends);

    /// The moment from which the test's time counts. The first caller sets it.
    void begin();
    [[nodiscard]] std::optional<TimePoint> epoch() const;

    [[nodiscard]] const Event& changed() const { return m_changed; } ///< wakes the conductor

private:
    std::atomic<Phase> m_phase{Phase::kWarmup};
    std::atomic<bool> m_peerDone{false};
    std::atomic<std::size_t> m_waiting{0};
    std::array<std::atomic<bool>, 2> m_released{};
    std::atomic<Clock::rep> m_epoch{0};
    Event m_changed;
};

} // namespace knobscope::agent
