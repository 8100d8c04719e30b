// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/agentsession.h"

#include "agents/protocol/build.h"

namespace knobscope {

namespace {

Error cancelled(const QString& label) {
    return {Error::Code::Cancelled, QStringLiteral("connecting to %1 was cancelled").arg(label)};
}

/// The hello of an agent is ours only if it speaks our protocol and is made of our sources.
Result<void> checkHello(const protocol::HelloResult& hello, const QString& label) {
    if (hello.protocol != protocol::kVersion)
        return fail(Error::Code::HostUnusable,
                    QStringLiteral("the agent on %1 speaks protocol version %2, this program %3")
                        .arg(label)
                        .arg(hello.protocol)
                        .arg(protocol::kVersion),
                    QStringLiteral("install agent and program of the same version"));
    if (hello.build != protocol::kBuild)
        return fail(
            Error::Code::HostUnusable,
            QStringLiteral("the agent on %1 is of another build than this program").arg(label),
            QStringLiteral("agent %1 (version %2), program %3 (version %4); build or "
                           "install both together")
                .arg(QString::fromStdString(hello.build), QString::fromStdString(hello.version),
                     QString::fromUtf8(protocol::kBuild),
                     QString::fromUtf8(protocol::kProductVersion)));
    return {};
}

} // namespace

AgentSession::AgentSession(std::unique_ptr<Transport> transport, QString label,
                           const HostOptions& options)
    : m_label(std::move(label)),
      m_link(std::move(transport), {m_label, options.pingInterval, options.lostAfter}) {}

Result<std::unique_ptr<HostSession>> AgentSession::greet(std::unique_ptr<Transport> transport,
                                                         const QString& label,
                                                         const HostOptions& options,
                                                         const CancelToken& cancel) {
    try {
        auto session = std::make_unique<AgentSession>(std::move(transport), label, options);
        if (const auto greeted = session->exchangeHello(options, cancel); !greeted)
            return tl::unexpected<Error>(greeted.error());
        session->m_link.startHeartbeat();
        return session;
    } catch (const std::exception& e) {
        return fail(Error::Code::HostUnusable, QStringLiteral("cannot talk to %1").arg(label),
                    QString::fromLocal8Bit(e.what()));
    }
}

Result<void> AgentSession::exchangeHello(const HostOptions& options, const CancelToken& cancel) {
    protocol::HelloParams params;
    params.run = options.run.toStdString();
    params.group = options.group.toStdString();
    params.lease_seconds = double(options.lease.count());
    auto answer = m_link.call(protocol::method::kHello, params, options.connectTimeout);
    while (answer.wait_for(std::chrono::milliseconds(20)) != std::future_status::ready) {
        if (cancel.cancelled())
            return tl::unexpected<Error>(cancelled(m_label));
    }
    const Result<Json> result = answer.get();
    if (!result) {
        Error error = result.error();
        if (error.code == Error::Code::HostUnusable)
            return tl::unexpected<Error>(std::move(error));
        if (error.code == Error::Code::Timeout)
            error.detail = m_link.diagnostics();
        return fail(Error::Code::HostUnusable,
                    QStringLiteral("the agent on %1 does not answer").arg(m_label), error.text());
    }
    try {
        m_hello = result->get<protocol::HelloResult>();
    } catch (const Json::exception& e) {
        return fail(
            Error::Code::HostUnusable,
            QStringLiteral("the agent on %1 does not introduce itself properly").arg(m_label),
            QString::fromUtf8(e.what()));
    }
    return checkHello(m_hello, m_label);
}

std::future<Result<Json>> AgentSession::call(const char* method, Json params,
                                             std::chrono::milliseconds timeout) {
    return m_link.call(method, std::move(params), timeout);
}

void AgentSession::setNotificationHandler(
    std::function<void(const std::string&, const Json&)> handler) {
    m_link.setNotificationHandler(std::move(handler));
}

} // namespace knobscope
