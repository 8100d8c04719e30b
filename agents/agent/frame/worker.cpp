// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/frame/worker.h"

#include "agents/agent/frame/guardian.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace knobscope::agent {

namespace errorcode = protocol::errorcode;
namespace method = protocol::method;
using Clock = std::chrono::steady_clock;

namespace {

/// With this much unread, progress is not worth queueing: the next one says it all.
constexpr std::size_t kSkipIntervals = std::size_t{1} << 20;
/// With this much unread, nobody is there.
constexpr std::size_t kReaderIsGone = std::size_t{64} << 20;
/// For the guardian to put all back, and for the last answers to be read.
constexpr std::chrono::seconds kEndWait{30};
constexpr std::chrono::seconds kFlushWait{2};

} // namespace

Worker::Worker(int input, int output, UniqueFd guardian)
    : m_input(input), m_output(output), m_guardian(std::move(guardian)),
      m_reader(input, protocol::kMaxLineBytes), m_writer(output),
      m_guardianReader(m_guardian.get(), 4 * protocol::kMaxLineBytes),
      m_guardianWriter(m_guardian.get()), m_traffic([this](const protocol::Interval& interval) {
          if (m_writer.queued() < kSkipIntervals)
              send(notificationLine(protocol::notification::kInterval, interval));
      }) {}

void Worker::run() {
    while (!m_guardianGone) {
        if (m_ending && (Clock::now() >= m_giveUp || (m_ended && m_writer.empty()) ||
                         (m_ended && m_outputGone)))
            break;
        watch();
    }
}

void Worker::watch() {
    const auto want = [](bool read, const LineWriter& writer) {
        return static_cast<short>((read ? POLLIN : 0) | (writer.empty() ? 0 : POLLOUT));
    };
    // A descriptor of -1 is passed over by poll.
    std::array<pollfd, 4> fds{};
    fds[0] = {m_inputEnded || m_line ? -1 : m_input, POLLIN, 0};
    fds[1] = {m_outputGone ? -1 : m_output, want(false, m_writer), 0};
    fds[2] = {m_guardian.get(), want(true, m_guardianWriter), 0};
    fds[3] = {m_traffic.fd(), POLLIN, 0};
    if (::poll(fds.data(), fds.size(), untilNext()) < 0 && errno != EINTR)
        throw AgentError(errorcode::kInternal, errnoText("poll", errno));

    if (fds[2].revents & (POLLIN | POLLHUP | POLLERR))
        readGuardian();
    m_traffic.process((fds[3].revents & POLLIN) != 0);
    if (m_line)
        handle(*std::exchange(m_line, std::nullopt));
    if (fds[0].revents != 0)
        m_reader.fill();
    takeNextLine();
    if (!m_guardianWriter.empty() && !m_guardianWriter.flushSome())
        m_guardianGone = true;
    if ((fds[1].revents & (POLLERR | POLLNVAL)) ||
        ((fds[1].revents & POLLOUT) && !m_writer.flushSome()) ||
        m_writer.queued() > kReaderIsGone) {
        m_outputGone = true;
        end();
    }
}

int Worker::untilNext() const {
    if (m_line)
        return 0;
    std::optional<Clock::time_point> next = m_traffic.nextInterval();
    if (m_ending)
        next = next ? std::min(*next, m_giveUp) : m_giveUp;
    if (!next)
        return -1;
    const auto left =
        std::chrono::duration_cast<std::chrono::microseconds>(*next - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>((left + 999) / 1000, 0, 3'600'000));
}

/// One request a round, so that none has to wait for the handling of many others: neither the
/// guardian for its renewal nor the intervals of a running test.
void Worker::takeNextLine() {
    if (m_line || m_inputEnded || (m_line = m_reader.next()))
        return;
    if (m_reader.state() == LineReader::State::Open)
        return;
    if (m_reader.state() == LineReader::State::TooLong)
        send(answerLine(nullptr,
                        AgentError(errorcode::kParse, "a line is longer than " +
                                                          std::to_string(protocol::kMaxLineBytes) +
                                                          " bytes; the link is closed")));
    m_inputEnded = true;
    end();
}

void Worker::end() {
    if (m_ending)
        return;
    m_traffic.cancel();
    askGuardian(method::kQuit, Json::object(), [](const Outcome&) {});
}

void Worker::handle(const std::string& line) {
    if (line.find_first_not_of(" \t\r") == std::string::npos)
        return;
    try {
        const Request request = parseRequest(line);
        askGuardian(kRenewMethod, nullptr, nullptr);
        carryOut(request);
    } catch (const BadRequest& error) {
        send(answerLine(error.id(), error));
    } catch (const std::exception& error) {
        send(answerLine(nullptr, AgentError(errorcode::kInternal, error.what())));
    }
}

void Worker::carryOut(const Request& request) {
    const Answer answer = [this, id = request.id, wanted = request.answer](const Outcome& outcome) {
        if (wanted)
            send(answerLine(id, outcome));
    };
    try {
        const auto handler = handlers().find(request.method);
        if (handler == handlers().end())
            throw AgentError(errorcode::kMethodNotFound,
                             "\"" + request.method.substr(0, 100) + "\" is no method");
        if (m_ending)
            throw AgentError(errorcode::kState, "the agent is ending");
        if (!m_hello && request.method != method::kHello)
            throw AgentError(errorcode::kState, "say hello before " + request.method);
        (this->*handler->second)(request, answer);
    } catch (const AgentError& error) {
        answer(error);
    } catch (const std::exception& error) {
        answer(AgentError(errorcode::kInternal, request.method + ": " + error.what()));
    }
}

void Worker::send(const std::string& line) {
    if (!m_outputGone)
        m_writer.add(line);
}

void Worker::askGuardian(const std::string& method, const Json& params, Answer answer) {
    if (!answer) {
        // One renewal on its way is as good as many.
        if (m_guardianWriter.empty())
            m_guardianWriter.add(notificationLine(method, Json::object()));
        m_guardianGone |= !m_guardianWriter.flushSome(); // before work that may take long
        return;
    }
    if (method == method::kQuit) {
        m_ending = true;
        m_giveUp = Clock::now() + kEndWait;
        answer = [this, answer](const Outcome& outcome) {
            m_ended = true;
            m_giveUp = Clock::now() + kFlushWait;
            answer(outcome);
        };
    }
    m_asked[++m_lastId] = std::move(answer);
    m_guardianWriter.add(requestLine(m_lastId, method, params));
}

void Worker::readGuardian() {
    const LineReader::State state = m_guardianReader.fill();
    while (const auto line = m_guardianReader.next())
        handleGuardianLine(*line);
    m_guardianGone = m_guardianGone || state != LineReader::State::Open;
}

void Worker::handleGuardianLine(const std::string& line) {
    const Json message = Json::parse(line, nullptr, false);
    if (!message.is_object())
        return;
    if (message.contains("method"))
        return send(line); // a notification for the workbench
    if (!message.contains("id") || !message["id"].is_number())
        return;
    const auto asked = m_asked.find(message["id"].get<std::int64_t>());
    if (asked == m_asked.end())
        return;
    const Answer answer = std::move(asked->second);
    m_asked.erase(asked);
    if (message.contains("error"))
        answer(AgentError(message["error"].value("code", errorcode::kInternal),
                          message["error"].value("message", std::string())));
    else
        answer(message.at("result"));
}

} // namespace knobscope::agent
