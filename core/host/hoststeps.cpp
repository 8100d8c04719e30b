// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/hoststeps.h"

#include <algorithm>

namespace knobscope {

QString stepTitle(HostStep::Kind kind) {
    switch (kind) {
    case HostStep::Kind::Resolve:
        return QStringLiteral("Name");
    case HostStep::Kind::Connect:
        return QStringLiteral("Connection");
    case HostStep::Kind::HostKey:
        return QStringLiteral("Host key");
    case HostStep::Kind::Login:
        return QStringLiteral("Login");
    case HostStep::Kind::Shell:
        return QStringLiteral("Shell");
    case HostStep::Kind::Rights:
        return QStringLiteral("Rights");
    case HostStep::Kind::Upload:
        return QStringLiteral("Agent's upload");
    case HostStep::Kind::Hello:
        return QStringLiteral("Agent");
    case HostStep::Kind::Interfaces:
        break;
    }
    return QStringLiteral("Interfaces");
}

void HostSteps::add(const HostStep& step) {
    {
        const std::scoped_lock lock(m_mutex);
        m_steps << step;
    }
    if (m_changed)
        m_changed(step);
}

void HostSteps::start(HostStep::Kind kind, const QString& host) {
    m_started = Clock::now();
    m_discount = {};
    HostStep step;
    step.kind = kind;
    step.host = host;
    add(step);
}

void HostSteps::end(HostStep::State state, const QString& text, const QString& advice) {
    HostStep ended;
    {
        const std::scoped_lock lock(m_mutex);
        if (m_steps.isEmpty() || m_steps.last().state != HostStep::State::Running)
            return;
        HostStep& step = m_steps.last();
        const auto took = Clock::now() - m_started - m_discount;
        step.took = std::max(std::chrono::microseconds(0),
                             std::chrono::duration_cast<std::chrono::microseconds>(took));
        step.state = state;
        step.text = text;
        step.advice = advice;
        ended = step;
    }
    if (m_changed)
        m_changed(ended);
}

void HostSteps::done(const QString& text) {
    end(HostStep::State::Ok, text, {});
}

void HostSteps::failed(const Error& error) {
    end(HostStep::State::Failed, error.message, error.detail);
}

void HostSteps::skipped(const QString& text, const QString& advice) {
    end(HostStep::State::Skipped, text, advice);
}

void HostSteps::skip(HostStep::Kind kind, const QString& host, const QString& text,
                     const QString& advice) {
    HostStep step;
    step.kind = kind;
    step.host = host;
    step.state = HostStep::State::Skipped;
    step.text = text;
    step.advice = advice;
    add(step);
}

void HostSteps::discount(std::chrono::microseconds time) {
    m_discount += time;
}

QList<HostStep> HostSteps::all() const {
    const std::scoped_lock lock(m_mutex);
    return m_steps;
}

bool HostSteps::has(HostStep::Kind kind) const {
    const std::scoped_lock lock(m_mutex);
    return std::any_of(m_steps.cbegin(), m_steps.cend(),
                       [kind](const HostStep& step) { return step.kind == kind; });
}

std::optional<HostStep> HostSteps::stoppedAt() const {
    const std::scoped_lock lock(m_mutex);
    for (const HostStep& step : m_steps) {
        if (step.state == HostStep::State::Failed)
            return step;
    }
    return std::nullopt;
}

} // namespace knobscope
