// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/frame/lines.h"
#include "agents/agent/frame/rpc.h"
#include "agents/agent/frame/trafficsession.h"
#include "agents/agent/uniquefd.h"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace knobscope::agent {

/// The worker process: speaks the protocol on two descriptors, measures, and passes everything
/// about knobs on to the guardian. One thread, but for the ones inside the engine. Nothing in it
/// blocks on the other end: what cannot be written now waits in a queue.
class Worker {
public:
    Worker(int input, int output, UniqueFd guardian);

    /// Until quit, the end of the input, a reader that is gone, or a guardian that is gone.
    void run();

private:
    using Answer = std::function<void(const Outcome&)>;
    using Handler = void (Worker::*)(const Request&, const Answer&);
    static const std::map<std::string, Handler>& handlers();

    void watch();
    [[nodiscard]] int untilNext() const;
    void takeNextLine();
    void readGuardian();
    void handleGuardianLine(const std::string& line);
    void handle(const std::string& line);
    void carryOut(const Request& request);
    void send(const std::string& line);
    void askGuardian(const std::string& method, const Json& params, Answer answer);
    void end();

    void hello(const Request& request, const Answer& answer);
    void ping(const Request& request, const Answer& answer);
    void environment(const Request& request, const Answer& answer);
    void snapshot(const Request& request, const Answer& answer);
    void hostClaim(const Request& request, const Answer& answer);
    void knobRead(const Request& request, const Answer& answer);
    void knobApply(const Request& request, const Answer& answer);
    void knobRestore(const Request& request, const Answer& answer);
    void trafficPrepare(const Request& request, const Answer& answer);
    void trafficStart(const Request& request, const Answer& answer);
    void trafficResult(const Request& request, const Answer& answer);
    void trafficCancel(const Request& request, const Answer& answer);
    void quit(const Request& request, const Answer& answer);

    int m_input;
    int m_output;
    UniqueFd m_guardian;
    LineReader m_reader;
    LineWriter m_writer;
    LineReader m_guardianReader;
    LineWriter m_guardianWriter;
    TrafficSession m_traffic;
    std::map<std::int64_t, Answer> m_asked; ///< of the guardian, by the id of the question
    std::int64_t m_lastId = 0;
    std::optional<std::string> m_line; ///< the next request; more input waits until it is done
    bool m_hello = false;
    bool m_inputEnded = false;
    bool m_outputGone = false;
    bool m_guardianGone = false;
    bool m_ending = false; ///< the guardian has been asked to put all back and end
    bool m_ended = false;  ///< it has
    std::chrono::steady_clock::time_point m_giveUp; ///< while ending
};

} // namespace knobscope::agent
