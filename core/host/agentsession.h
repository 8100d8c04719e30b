// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/host/agentlink.h"
#include "core/host/hostsession.h"

namespace knobscope {

/// A host session over any transport.
class AgentSession final : public HostSession {
public:
    /// Exchanges hello over a fresh transport. HostUnusable when the agent does not answer, is of
    /// another build or refuses; Cancelled.
    static Result<std::unique_ptr<HostSession>> greet(std::unique_ptr<Transport> transport,
                                                      const QString& label,
                                                      const HostOptions& options,
                                                      const CancelToken& cancel);

    AgentSession(std::unique_ptr<Transport> transport, QString label, const HostOptions& options);

    std::future<Result<Json>> call(const char* method, Json params,
                                   std::chrono::milliseconds timeout) override;
    [[nodiscard]] const protocol::HelloResult& hello() const override { return m_hello; }
    [[nodiscard]] QString label() const override { return m_label; }
    [[nodiscard]] bool lost() const override { return m_link.lost(); }
    void setNotificationHandler(std::function<void(const std::string&, const Json&)>) override;

private:
    [[nodiscard]] Result<void> exchangeHello(const HostOptions& options, const CancelToken& cancel);

    const QString m_label;
    protocol::HelloResult m_hello;
    AgentLink m_link;
};

} // namespace knobscope
