// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/engine/fd.h"
#include "agents/agent/engine/socketoptions.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace knobscope::agent {

/// What a connection has moved.
struct Counts {
    std::uint64_t bytesSent = 0;
    std::uint64_t bytesReceived = 0;
    std::uint64_t sendCalls = 0;
    std::uint64_t recvCalls = 0;
    std::uint64_t transactions = 0;
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

/// One connection of a test. The thread of the connection writes it; the conductor reads all but
/// the counters only once `done` is set.
struct Stream {
    Fd socket;
    Counters counters;
    BufferSizes initialBuffers;
    std::optional<Mark> begin; ///< of the measured time
    std::optional<Mark> end;
    std::string failure; ///< empty: none
    std::atomic<bool> done{false};

    [[nodiscard]] Mark mark() const { return {Clock::now(), counters.read()}; }
};

/// Where the test stands; only the conductor moves it on.
enum class Phase : int { kWarmup, kMeasure, kStop };

/// What the threads of one test share.
class Course {
public:
    [[nodiscard]] Phase phase() const { return m_phase.load(std::memory_order_relaxed); }
    void enter(Phase phase) { m_phase.store(phase, std::memory_order_relaxed); }

    /// Called by each stream thread when it has its buffers; holds it until the conductor lets all
    /// go at once.
    void awaitRelease();
    [[nodiscard]] std::size_t waiting() const { return m_waiting.load(); }
    void release();

    /// The moment from which the test's time counts. The first caller sets it.
    void begin();
    [[nodiscard]] std::optional<TimePoint> epoch() const;

    [[nodiscard]] const Event& changed() const { return m_changed; } ///< wakes the conductor

private:
    std::atomic<Phase> m_phase{Phase::kWarmup};
    std::atomic<std::size_t> m_waiting{0};
    std::atomic<bool> m_released{false};
    std::atomic<Clock::rep> m_epoch{0};
    Event m_changed;
};

} // namespace knobscope::agent
