// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/json.h"
#include "core/host/fd.h"
#include "core/host/transport.h"
#include "core/result.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace knobscope {

/// JSON-RPC with one agent over a transport. An I/O thread of its own reads, writes, matches
/// answers to calls, and keeps the heartbeat; members may be called from any thread. Once the link
/// is lost it stays lost.
class AgentLink {
public:
    using Clock = std::chrono::steady_clock;
    using Handler = std::function<void(const std::string&, const Json&)>;

    struct Options {
        QString host; ///< for error texts
        std::chrono::milliseconds pingInterval{1000};
        std::chrono::milliseconds lostAfter{5000};
        std::chrono::milliseconds closeLimit{2000}; ///< the most that the destructor takes
    };

    /// Throws std::system_error when the system has no descriptor or thread left.
    AgentLink(std::unique_ptr<Transport> transport, Options options);
    ~AgentLink(); ///< calls that are still pending fail with LinkLost
    AgentLink(const AgentLink&) = delete;
    AgentLink& operator=(const AgentLink&) = delete;

    /// Sends a request. Errors: LinkLost, Timeout, Protocol (this one breaks the link), BadInput
    /// for params that are no UTF-8, or what the agent answered.
    std::future<Result<Json>> call(const char* method, Json params,
                                   std::chrono::milliseconds timeout);
    /// From now on the agent is pinged, and is lost when it says nothing for `lostAfter`.
    void startHeartbeat();
    [[nodiscard]] bool lost() const { return m_lost.load(); }
    /// Called on the I/O thread; must not block, nor set the handler. When this returns, the
    /// handler before is not running any more.
    void setNotificationHandler(Handler handler);
    /// The last of what the agent wrote to stderr.
    [[nodiscard]] QString diagnostics() const;

private:
    struct Pending {
        std::promise<Result<Json>> promise;
        std::string method;
        Clock::time_point deadline;
    };

    void loop();
    [[nodiscard]] bool turn();
    [[nodiscard]] bool readAll(bool& more);
    [[nodiscard]] bool flush();
    [[nodiscard]] bool beat(Clock::time_point now);
    void expire(Clock::time_point now);
    void waitForWork(bool more);
    [[nodiscard]] Clock::time_point nextDeadline() const;
    [[nodiscard]] bool takeLines();
    [[nodiscard]] bool takeMessage(std::string_view line);
    [[nodiscard]] bool takeResponse(const Json& message, std::string_view line);
    void keepDiagnostics(std::string& text);
    void breakLink(Error error);
    [[nodiscard]] bool protocolError(const QString& what, std::string_view line);
    void wake() const;

    const Options m_options;
    Fd m_wake;
    std::atomic<bool> m_lost{false};
    std::atomic<bool> m_stopping{false};
    std::atomic<bool> m_heartbeatWanted{false};

    mutable std::mutex m_mutex; ///< guards the next six
    std::map<std::int64_t, Pending> m_pending;
    std::int64_t m_nextId = 1;
    std::string m_queued;
    std::string m_diagnostics;
    std::optional<Error> m_failure;

    std::mutex m_handlerMutex;
    Handler m_handler;

    // Only the I/O thread uses these.
    std::unique_ptr<Transport> m_transport;
    std::string m_inbox;
    std::size_t m_scanned = 0;
    std::string m_outbox;
    bool m_beating = false;
    Clock::time_point m_lastHeard;
    Clock::time_point m_nextPing;

    std::thread m_thread; ///< last: starts when all else is there
};

} // namespace knobscope
