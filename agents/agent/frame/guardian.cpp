// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/frame/guardian.h"

#include "agents/agent/error.h"
#include "agents/agent/frame/hostclaim.h"
#include "agents/agent/frame/knobkeeper.h"
#include "agents/agent/frame/lines.h"
#include "agents/agent/frame/rpc.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>

namespace knobscope::agent {

namespace errorcode = protocol::errorcode;
namespace method = protocol::method;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::chrono::seconds kUntilHello{60};
constexpr std::chrono::seconds kUntilExit{5}; ///< for the worker, once the knobs are back

void leaveTerminal() {
    ::setsid(); // fails for the first process of a session, which needs none
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; null >= 0 && fd <= 2; ++fd)
        ::dup2(null, fd);
    if (null > 2)
        ::close(null);
    std::signal(SIGHUP, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
}

UniqueFd openSignals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGTERM, SIGINT, SIGCHLD})
        sigaddset(&set, number);
    return UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

class Guardian {
public:
    Guardian(UniqueFd socket, pid_t worker)
        : m_socket(std::move(socket)), m_worker(worker), m_signals(openSignals()),
          m_reader(m_socket.get(), 2 * protocol::kMaxLineBytes), m_writer(m_socket.get()),
          m_keeper([this](const std::string& text) {
              m_writer.add(notificationLine(protocol::notification::kLog, {{"text", text}}));
          }) {}

    AgentExit run();

private:
    void watch();
    void readSignals();
    void readRequests();
    void answer(const std::string& line);
    Json carryOut(const Request& request);
    void setLease(double seconds) {
        m_lease =
            std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }
    void renew() { m_deadline = Clock::now() + m_lease; }
    void endWorker();

    UniqueFd m_socket;
    pid_t m_worker;
    UniqueFd m_signals;
    LineReader m_reader;
    LineWriter m_writer;
    KnobKeeper m_keeper;
    HostClaim m_claim;
    std::vector<protocol::UndoReport> m_recovered;
    Clock::duration m_lease = kUntilHello;
    Clock::time_point m_deadline;
    bool m_quit = false;       ///< the worker has said that it ends
    bool m_ended = false;      ///< the socket is
    bool m_asked = false;      ///< by a signal, to end
    bool m_workerGone = false; ///< reaped
    bool m_lost = false;       ///< the worker died or fell silent
};

AgentExit Guardian::run() {
    m_recovered = m_keeper.recover();
    renew();
    try {
        while (!m_asked && !m_lost && !m_workerGone)
            watch();
    } catch (const std::exception&) {
        m_lost = true; // out of memory: the knobs go back all the same
    }
    endWorker();
    (void)m_keeper.restore();
    if (m_keeper.failed())
        return AgentExit::NotRestored;
    return m_quit || m_asked ? AgentExit::AllWell : AgentExit::WorkerLost;
}

void Guardian::watch() {
    std::array<pollfd, 3> fds{};
    fds[0] = {m_signals.get(), POLLIN, 0};
    // A descriptor of -1 is passed over by poll.
    fds[1] = {m_ended ? -1 : m_socket.get(),
              static_cast<short>(m_writer.empty() ? POLLIN : POLLIN | POLLOUT), 0};
    fds[2] = {m_claim.fd(), POLLIN, 0};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(m_deadline - Clock::now()).count();
    const int wait = static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, 3'600'000));
    if (::poll(fds.data(), fds.size(), wait) < 0 && errno != EINTR)
        throw AgentError(errorcode::kInternal, errnoText("poll", errno));
    if (fds[0].revents != 0)
        readSignals();
    if (m_asked || m_workerGone)
        return;
    if (fds[2].revents != 0)
        m_claim.answer();
    if (fds[1].revents & (POLLIN | POLLHUP | POLLERR))
        readRequests(); // before the deadline is looked at: a renewal may wait there
    if (!m_ended && !m_writer.empty() && !m_writer.flushSome())
        m_ended = true;
    // After quit the worker has the time of a lease to finish by itself.
    if (m_ended && !m_quit)
        m_lost = true;
    if (Clock::now() >= m_deadline)
        m_lost = true;
}

void Guardian::readSignals() {
    signalfd_siginfo info{};
    while (::read(m_signals.get(), &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
            m_asked = true;
    }
    m_workerGone = ::waitpid(m_worker, nullptr, WNOHANG) == m_worker;
}

void Guardian::readRequests() {
    const LineReader::State state = m_reader.fill();
    while (const auto line = m_reader.next())
        answer(*line);
    m_ended = m_ended || state != LineReader::State::Open;
}

void Guardian::answer(const std::string& line) {
    Request request;
    try {
        request = parseRequest(line);
        const Json result = carryOut(request);
        if (request.answer)
            m_writer.add(answerLine(request.id, result));
    } catch (const AgentError& error) {
        m_writer.add(answerLine(request.id, error));
    } catch (const std::exception& error) {
        m_writer.add(answerLine(request.id, AgentError(errorcode::kInternal, error.what())));
    }
}

Json Guardian::carryOut(const Request& request) {
    // Work on knobs can take seconds (a link that comes up again); the lease must not run out
    // because of it.
    renew();
    if (request.method == kRenewMethod)
        return Json::object();
    if (m_quit)
        throw AgentError(errorcode::kState, "the agent is ending");
    Json result;
    if (request.method == method::kHello) {
        const auto params = paramsAs<protocol::HelloParams>(request);
        m_keeper.setRun(params.run, params.group);
        m_claim.introduce(params.group, JournalContent{.run = params.run,
                                                       .group = params.group,
                                                       .pid = ::getpid(),
                                                       .started = std::time(nullptr),
                                                       .host = {},
                                                       .knobs = {}}
                                            .owner());
        setLease(params.lease_seconds);
        result = std::exchange(m_recovered, {});
    } else if (request.method == method::kHostClaim) {
        const auto params = paramsAs<protocol::ClaimParams>(request);
        if (params.lease_seconds > 0)
            setLease(params.lease_seconds);
        if (params.hold)
            m_claim.hold();
        else
            m_claim.ask();
        result = Json::object();
    } else if (request.method == method::kKnobRead) {
        result = m_keeper.read(paramsAs<std::vector<protocol::KnobTarget>>(request));
    } else if (request.method == method::kKnobApply) {
        m_claim.ask();
        result = m_keeper.apply(paramsAs<std::vector<protocol::KnobSetting>>(request));
    } else if (request.method == method::kKnobRestore) {
        result = m_keeper.restore();
        m_claim.release();
    } else if (request.method == method::kQuit) {
        result = m_keeper.restore();
        m_claim.release();
        m_quit = true;
        m_lease = kUntilExit;
    } else {
        throw AgentError(errorcode::kMethodNotFound, request.method + " is no method");
    }
    renew();
    return result;
}

void Guardian::endWorker() {
    if (m_workerGone)
        return;
    // A stopped worker cannot end by itself, and must not go on while the knobs go back.
    ::kill(m_worker, SIGKILL);
    while (::waitpid(m_worker, nullptr, 0) < 0 && errno == EINTR) {
    }
    m_workerGone = true;
}

} // namespace

AgentExit runGuardian(UniqueFd socket, pid_t worker) {
    leaveTerminal();
    return Guardian(std::move(socket), worker).run();
}

} // namespace knobscope::agent
