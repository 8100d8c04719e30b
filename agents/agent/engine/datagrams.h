// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"

#include <array>
#include <cstdint>
#include <memory>

namespace knobscope::agent {

/// The first bytes of every datagram of a udp_stream, in network order: its number from 0 with the
/// top bit set once the warm-up is over, and when it was sent, in nanoseconds of the sender's
/// clock.
struct DatagramHeader {
    static constexpr std::size_t kBytes = 16;
    static constexpr std::uint64_t kMeasured = std::uint64_t{1} << 63;

    std::uint64_t number = 0;
    bool measured = false;
    std::uint64_t sentNs = 0;

    void write(char* at) const;
    [[nodiscard]] static DatagramHeader read(const char* at);
};

/// Follows the datagrams that arrive on one stream. One thread; arrived() allocates nothing.
class DatagramTracker {
public:
    DatagramTracker() : m_seen(std::make_unique<Window>()) {}

    /// False: it was there before.
    bool arrived(const DatagramHeader& datagram, std::uint64_t arrivedNs);

    /// Of those sent after the warm-up; sent and lost are not known here.
    [[nodiscard]] protocol::Datagrams measured() const;
    [[nodiscard]] std::uint64_t allReceived() const { return m_all; } ///< each once

private:
    /// Duplicates are recognised this many numbers back.
    static constexpr std::uint64_t kWindow = 65536;
    using Window = std::array<std::uint64_t, kWindow / 64>;

    bool firstTime(std::uint64_t number);
    void clear(std::uint64_t from, std::uint64_t to);

    std::unique_ptr<Window> m_seen;
    std::uint64_t m_next = 0; ///< highest number that arrived, plus one
    std::uint64_t m_all = 0;
    std::uint64_t m_received = 0;
    std::uint64_t m_reordered = 0;
    std::uint64_t m_duplicates = 0;
    bool m_late = false; ///< of the last call: behind a later one
    std::optional<std::int64_t> m_transit;
    double m_jitterNs = 0;
    bool m_jitterKnown = false;
};

} // namespace knobscope::agent
