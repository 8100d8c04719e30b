// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/agentlink.h"

#include "agents/protocol/nesting.h"

#include "agents/protocol/protocol.h"
#include "core/host/sigpipeguard.h"

#include <QStringList>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <sys/eventfd.h>

namespace knobscope {

namespace {

constexpr std::size_t kKeptDiagnostics = 4096;
/// Keeps deadlines within the clock's range.
constexpr std::chrono::milliseconds kLongestTimeout = std::chrono::hours(10000);

Error::Code codeOf(int agentCode) {
    namespace ec = protocol::errorcode;
    switch (agentCode) {
    case ec::kKnob:
        return Error::Code::Knob;
    case ec::kTraffic:
        return Error::Code::Traffic;
    case ec::kCancelled:
        return Error::Code::Cancelled;
    case ec::kBusy:
    case ec::kVersionMismatch:
        return Error::Code::HostUnusable;
    default:
        return Error::Code::Protocol;
    }
}

/// The beginning of a line, fit for an error text.
QString excerpt(std::string_view line) {
    const QString text =
        QString::fromUtf8(line.data(), std::min<qsizetype>(qsizetype(line.size()), 120));
    QString shown;
    for (const QChar c : text)
        shown += c.isPrint() ? c : QChar(u'?');
    return line.size() > 120 ? shown + QStringLiteral("...") : shown;
}

std::optional<Json> parse(std::string_view line) {
    if (protocol::nestsTooDeep(line))
        return std::nullopt;
    Json message = Json::parse(line, nullptr, false);
    if (message.is_discarded() || !message.is_object())
        return std::nullopt;
    return std::optional<Json>(std::in_place, std::move(message));
}

} // namespace

AgentLink::AgentLink(std::unique_ptr<Transport> transport, Options options)
    : m_options(std::move(options)), m_wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      m_transport(std::move(transport)) {
    if (!m_wake.valid())
        throw std::system_error(errno, std::generic_category(), "eventfd");
    m_thread = std::thread([this] { loop(); });
}

AgentLink::~AgentLink() {
    m_stopping = true;
    wake();
    m_thread.join();
}

void AgentLink::wake() const {
    const std::uint64_t one = 1;
    // The counter cannot overflow in practice, and when it is full the thread is awake anyway.
    [[maybe_unused]] const ssize_t written = ::write(m_wake.get(), &one, sizeof one);
}

std::future<Result<Json>> AgentLink::call(const char* method, Json params,
                                          std::chrono::milliseconds timeout) {
    Pending pending;
    pending.method = method;
    pending.deadline = Clock::now() + std::min(timeout, kLongestTimeout);
    std::future<Result<Json>> future = pending.promise.get_future();
    const std::scoped_lock lock(m_mutex);
    if (m_failure) {
        // Whatever ended it: to a call that comes after, the link is lost.
        pending.promise.set_value(
            fail(Error::Code::LinkLost, m_failure->message, m_failure->detail));
        return future;
    }
    try {
        const Json message = {{"jsonrpc", "2.0"},
                              {"id", m_nextId},
                              {"method", method},
                              {"params", std::move(params)}};
        m_queued += message.dump() + '\n';
    } catch (const Json::exception& e) {
        pending.promise.set_value(fail(
            Error::Code::BadInput,
            QStringLiteral("cannot ask %1 for %2").arg(m_options.host, QString::fromUtf8(method)),
            QString::fromUtf8(e.what())));
        return future;
    }
    m_pending.emplace(m_nextId++, std::move(pending));
    wake();
    return future;
}

void AgentLink::startHeartbeat() {
    m_heartbeatWanted = true;
    wake();
}

void AgentLink::setNotificationHandler(Handler handler) {
    const std::scoped_lock lock(m_handlerMutex);
    m_handler = std::move(handler);
}

QString AgentLink::diagnostics() const {
    const std::scoped_lock lock(m_mutex);
    return QString::fromUtf8(m_diagnostics).trimmed();
}

void AgentLink::loop() {
    const SigpipeGuard noSigpipe;
    while (turn()) {
    }
    if (!m_lost) {
        // What was queued last still goes out if the transport takes it at once.
        [[maybe_unused]] const bool flushed = flush();
        breakLink({Error::Code::LinkLost,
                   QStringLiteral("the session with %1 was closed").arg(m_options.host)});
    }
    m_transport->close(m_options.closeLimit);
}

/// One round: read, write, heartbeat, wait. False at the end.
bool AgentLink::turn() {
    if (m_stopping)
        return false;
    bool more = false;
    // Reading comes before judging the silence: after this process itself was stopped for a
    // while, the agent's words are waiting here.
    if (!readAll(more))
        return false;
    const auto now = Clock::now();
    if (!beat(now))
        return false;
    if (!flush()) {
        // The agent's last words may say why it went.
        while (readAll(more) && more) {
        }
        if (!m_lost)
            breakLink({Error::Code::LinkLost,
                       QStringLiteral("contact with %1 was lost").arg(m_options.host),
                       m_transport->endReason()});
        return false;
    }
    expire(now);
    waitForWork(more);
    return true;
}

bool AgentLink::readAll(bool& more) {
    std::string diagnostics;
    const Transport::Read state = m_transport->read(m_inbox, diagnostics);
    more = state == Transport::Read::Some;
    keepDiagnostics(diagnostics);
    if (!takeLines())
        return false;
    if (state != Transport::Read::Ended)
        return true;
    QStringList details{m_transport->endReason()};
    const QString said = this->diagnostics();
    if (!said.isEmpty())
        details << QStringLiteral("the agent's last words: %1").arg(said.right(500));
    breakLink({Error::Code::LinkLost,
               QStringLiteral("contact with %1 was lost").arg(m_options.host),
               details.join(QStringLiteral("; "))});
    return false;
}

void AgentLink::keepDiagnostics(std::string& text) {
    if (text.empty())
        return;
    const std::scoped_lock lock(m_mutex);
    m_diagnostics += text;
    if (m_diagnostics.size() > kKeptDiagnostics)
        m_diagnostics.erase(0, m_diagnostics.size() - kKeptDiagnostics);
}

bool AgentLink::flush() {
    {
        const std::scoped_lock lock(m_mutex);
        m_outbox += m_queued;
        m_queued.clear();
    }
    std::size_t sent = 0;
    while (sent < m_outbox.size()) {
        const auto taken = m_transport->write(std::string_view(m_outbox).substr(sent));
        if (!taken)
            return false;
        if (*taken == 0)
            break;
        sent += *taken;
    }
    m_outbox.erase(0, sent);
    return true;
}

bool AgentLink::beat(Clock::time_point now) {
    if (m_heartbeatWanted && !m_beating) {
        m_beating = true;
        m_lastHeard = now;
        m_nextPing = now;
    }
    if (!m_beating)
        return true;
    if (now - m_lastHeard >= m_options.lostAfter) {
        breakLink({Error::Code::LinkLost,
                   QStringLiteral("contact with %1 was lost").arg(m_options.host),
                   QStringLiteral("it has said nothing for %1 s")
                       .arg(double(m_options.lostAfter.count()) / 1000)});
        return false;
    }
    if (now >= m_nextPing) {
        m_nextPing = now + m_options.pingInterval;
        const std::scoped_lock lock(m_mutex);
        const Json message = {{"jsonrpc", "2.0"},
                              {"id", m_nextId++},
                              {"method", protocol::method::kPing},
                              {"params", Json::object()}};
        m_queued += message.dump() + '\n';
    }
    return true;
}

void AgentLink::expire(Clock::time_point now) {
    const std::scoped_lock lock(m_mutex);
    for (auto it = m_pending.begin(); it != m_pending.end();) {
        if (it->second.deadline > now) {
            ++it;
            continue;
        }
        it->second.promise.set_value(
            fail(Error::Code::Timeout,
                 QStringLiteral("%1 did not answer %2 in time")
                     .arg(m_options.host, QString::fromStdString(it->second.method))));
        it = m_pending.erase(it);
    }
}

AgentLink::Clock::time_point AgentLink::nextDeadline() const {
    auto next = Clock::time_point::max();
    if (m_beating)
        next = std::min(m_nextPing, m_lastHeard + m_options.lostAfter);
    const std::scoped_lock lock(m_mutex);
    for (const auto& [id, pending] : m_pending)
        next = std::min(next, pending.deadline);
    return next;
}

void AgentLink::waitForWork(bool more) {
    std::vector<pollfd> fds{{m_wake.get(), POLLIN, 0}};
    m_transport->addPollFds(fds, !m_outbox.empty());
    int wait = 0;
    if (!more) {
        const auto until = nextDeadline();
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
        // Without a deadline nothing but the descriptors matters; the cap is for the arithmetic.
        wait = int(std::clamp<std::int64_t>(left.count(), 0, 3600'000));
    }
    ::poll(fds.data(), nfds_t(fds.size()), wait);
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(m_wake.get(), &count, sizeof count);
}

bool AgentLink::takeLines() {
    std::size_t start = 0;
    for (;;) {
        const std::size_t end = m_inbox.find('\n', std::max(start, m_scanned));
        if (end == std::string::npos)
            break;
        const std::string_view line = std::string_view(m_inbox).substr(start, end - start);
        if (line.size() > protocol::kMaxLineBytes)
            return protocolError(QStringLiteral("a line of %1 bytes").arg(line.size()), line);
        if (!takeMessage(line))
            return false;
        start = end + 1;
        m_lastHeard = Clock::now();
    }
    m_inbox.erase(0, start);
    m_scanned = m_inbox.size();
    if (m_inbox.size() > protocol::kMaxLineBytes)
        return protocolError(QStringLiteral("a line without an end"), m_inbox);
    return true;
}

bool AgentLink::takeMessage(std::string_view line) {
    const std::optional<Json> message = parse(line);
    if (!message)
        return protocolError(QStringLiteral("a line that is no message"), line);
    const auto method = message->find("method");
    if (method == message->end())
        return takeResponse(*message, line);
    if (!method->is_string() || message->contains("id"))
        return protocolError(QStringLiteral("something that is neither answer nor notification"),
                             line);
    const auto params = message->find("params");
    try {
        const std::scoped_lock lock(m_handlerMutex);
        if (m_handler)
            m_handler(method->get<std::string>(), params == message->end() ? Json() : *params);
    } catch (const std::exception&) {
        // The handler could not make sense of the agent's params.
        return protocolError(QStringLiteral("a notification that makes no sense"), line);
    }
    return true;
}

bool AgentLink::takeResponse(const Json& message, std::string_view line) {
    const auto id = message.find("id");
    const auto result = message.find("result");
    const auto error = message.find("error");
    const bool failed = error != message.end();
    if (id == message.end() || !id->is_number_integer() || failed == (result != message.end()))
        return protocolError(QStringLiteral("an answer to nothing"), line);
    Result<Json> outcome = tl::unexpected<Error>(Error{});
    if (!failed) {
        outcome = *result;
    } else {
        if (!error->is_object() || !error->contains("code") ||
            !(*error)["code"].is_number_integer() || !error->contains("message") ||
            !(*error)["message"].is_string())
            return protocolError(QStringLiteral("an error without code and message"), line);
        outcome = fail(codeOf((*error)["code"].get<int>()),
                       QString::fromStdString((*error)["message"].get<std::string>()));
    }
    std::unique_lock lock(m_mutex);
    const auto number = id->get<std::int64_t>();
    if (number <= 0 || number >= m_nextId) {
        lock.unlock();
        return protocolError(QStringLiteral("an answer to a request that was never made"), line);
    }
    // Answers to pings, and those that come after their call timed out, have nobody waiting.
    const auto found = m_pending.find(number);
    if (found != m_pending.end()) {
        found->second.promise.set_value(std::move(outcome));
        m_pending.erase(found);
    }
    return true;
}

bool AgentLink::protocolError(const QString& what, std::string_view line) {
    breakLink({Error::Code::Protocol,
               QStringLiteral("the agent on %1 sent %2").arg(m_options.host, what), excerpt(line)});
    return false;
}

void AgentLink::breakLink(Error error) {
    std::map<std::int64_t, Pending> pending;
    {
        const std::scoped_lock lock(m_mutex);
        m_failure = error;
        m_lost = true;
        pending.swap(m_pending);
    }
    for (auto& [id, one] : pending)
        one.promise.set_value(tl::unexpected<Error>(error));
}

} // namespace knobscope
