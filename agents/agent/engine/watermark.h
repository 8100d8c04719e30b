// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/engine/setup.h"
#include "agents/agent/engine/socketoptions.h"

namespace knobscope::agent {

/// How many bytes must wait before the receiver of a fast stream is woken (SO_RCVLOWAT). Waking for
/// every segment costs much of the CPU time of a fast stream and brings it nothing; on a slow one
/// it tells when the bytes really came. So the mark is up only while the stream runs above 1
/// Gbit/s, and only where the test leaves it to the engine: never with a low water mark, a receive
/// size, a way of receiving or a window of the user's own. A receive buffer of less than eight
/// marks is not waited in, as that would hold back the sender.
///
/// Used by the stream's thread. Reads the clock once in kCalls calls while the mark is down.
class Watermark {
public:
    Watermark(int socket, const protocol::TrafficConfig& config)
        : m_socket(socket),
          m_free(!config.rcvlowat && config.receive_size == 0 && config.receive_method == "recv" &&
                 !config.window && !config.receive_window && config.spin == 0) {}

    /// After each receive call.
    void took(std::size_t bytes) {
        if (m_free)
            follow(bytes);
    }

private:
    static constexpr std::int64_t kMark = 128 << 10;
    static constexpr std::int64_t kLeastBuffer = 8 * kMark;
    static constexpr int kCalls = 64;
    static constexpr double kFast = 125e6; ///< bytes a second
    /// Rates are taken over at least this long: threads of one CPU take turns of some milliseconds.
    static constexpr std::chrono::milliseconds kWhile{20};

    void follow(std::size_t bytes) {
        m_bytes += bytes;
        if (!m_up && ++m_calls < kCalls)
            return;
        m_calls = 0;
        const TimePoint now = Clock::now();
        if (m_since != TimePoint{} && now - m_since < kWhile)
            return;
        const double seconds = std::chrono::duration<double>(now - m_since).count();
        if (m_since != TimePoint{})
            set(static_cast<double>(m_bytes) / seconds > (m_up ? kFast / 2 : kFast));
        m_since = now;
        m_bytes = 0;
    }

    void set(bool up) {
        if (up == m_up || (up && bufferSizes(m_socket).receive.value_or(0) < kLeastBuffer))
            return;
        setReceiveLowWater(m_socket, up ? kMark : 1);
        m_up = up;
    }

    int m_socket;
    bool m_free;
    bool m_up = false;
    int m_calls = 0;
    std::uint64_t m_bytes = 0;
    TimePoint m_since{};
};

} // namespace knobscope::agent
