// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/secretsource.h"

#include <chrono>
#include <cstring>

namespace knobscope {

Secret::Secret(std::string_view text, bool keep) : m_bytes(text.size() + 1, '\0'), m_keep(keep) {
    if (!text.empty())
        std::memcpy(m_bytes.data(), text.data(), text.size());
}

Secret& Secret::operator=(Secret&& other) noexcept {
    if (this != &other) {
        wipe();
        m_bytes = std::move(other.m_bytes);
        m_keep = other.m_keep;
    }
    return *this;
}

void Secret::wipe() {
    // A plain memset of memory that is freed next may be left out by the compiler.
    if (!m_bytes.empty())
        explicit_bzero(m_bytes.data(), m_bytes.size());
}

std::string_view Secret::view() const {
    return m_bytes.empty() ? std::string_view{}
                           : std::string_view(m_bytes.data(), m_bytes.size() - 1);
}

QString SecretRequest::id() const {
    switch (kind) {
    case Kind::KeyPassphrase:
        return QStringLiteral("key %1").arg(keyFile);
    case Kind::KeyboardInteractive:
        return QStringLiteral("question %1 %2").arg(account, prompt);
    case Kind::Password:
        return QStringLiteral("password %1").arg(account);
    case Kind::SudoPassword:
        break;
    }
    return QStringLiteral("sudo %1").arg(account);
}

bool SecretRequest::lasting() const {
    if (kind != Kind::KeyboardInteractive)
        return true;
    // PAM asks for the password by this word; what else a host asks for is most likely a code.
    const QString words = prompt.toLower();
    return !echo && words.contains(QLatin1String("password")) &&
           !words.contains(QLatin1String("one-time")) && !words.contains(QLatin1String("otp")) &&
           !words.contains(QLatin1String("new password"));
}

void SecretSource::judge(const SecretRequest&, const Secret&, bool) {}

Result<bool> SecretSource::trusts(const NewHostKey&, const CancelToken&) {
    return false;
}

bool SecretMemory::lock(std::unique_lock<std::timed_mutex>& turn, const CancelToken& cancel) {
    while (!turn.try_lock_for(std::chrono::milliseconds(50))) {
        if (cancel.cancelled())
            return false;
    }
    return true;
}

Result<Secret> SecretMemory::ask(const SecretRequest& request, const CancelToken& cancel) {
    std::unique_lock turn(m_turn, std::defer_lock);
    if (!lock(turn, cancel))
        return fail(Error::Code::Cancelled, QStringLiteral("Stopped by the user"));
    {
        const std::scoped_lock guard(m_mutex);
        // A wrong answer is gone from here since judge(), so what there is comes from elsewhere.
        if (const auto known = m_known.find(request.id()); known != m_known.end())
            return known->second.copy();
    }
    auto answer = m_behind->ask(request, cancel);
    if (answer && request.lasting()) {
        const std::scoped_lock guard(m_mutex);
        m_known.insert_or_assign(request.id(), answer->copy());
    }
    return answer;
}

void SecretMemory::judge(const SecretRequest& request, const Secret& answer, bool right) {
    if (!right) {
        const std::scoped_lock guard(m_mutex);
        const auto known = m_known.find(request.id());
        if (known != m_known.end() && known->second.view() == answer.view())
            m_known.erase(known);
    }
    m_behind->judge(request, answer, right);
}

Result<bool> SecretMemory::trusts(const NewHostKey& key, const CancelToken& cancel) {
    std::unique_lock turn(m_turn, std::defer_lock);
    if (!lock(turn, cancel))
        return fail(Error::Code::Cancelled, QStringLiteral("Stopped by the user"));
    // Two connections through one new jump host ask one question.
    const QString id = key.name + u' ' + key.fingerprint;
    const std::scoped_lock guard(m_mutex);
    if (m_trusted.count(id) > 0)
        return true;
    auto trusted = m_behind->trusts(key, cancel);
    if (trusted && *trusted)
        m_trusted.insert(id);
    return trusted;
}

QString plainLine(const QString& text) {
    QString line;
    for (const QChar c : text.simplified()) {
        if (c.isPrint())
            line += c;
    }
    return line.left(300);
}

} // namespace knobscope
