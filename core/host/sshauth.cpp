// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/sshauth.h"

#include "core/host/sshkeylogin.h"

namespace knobscope {

namespace {

/// More steps than any host wants.
constexpr int kMaxSteps = 10;
/// Questions in one round of a host's, and rounds; more are a host gone wild.
constexpr int kMaxQuestions = 16;
constexpr int kMaxRounds = 16;

QString methodNames(int methods) {
    QStringList names;
    const auto add = [&](int method, const char* name) {
        if (methods & method)
            names << QString::fromLatin1(name);
    };
    add(SSH_AUTH_METHOD_PUBLICKEY, "publickey");
    add(SSH_AUTH_METHOD_INTERACTIVE, "keyboard-interactive");
    add(SSH_AUTH_METHOD_PASSWORD, "password");
    add(SSH_AUTH_METHOD_HOSTBASED, "hostbased");
    add(SSH_AUTH_METHOD_GSSAPI_MIC, "gssapi-with-mic");
    return names.isEmpty() ? QStringLiteral("nothing that is known here")
                           : names.join(QStringLiteral(", "));
}

class Login {
public:
    Login(SshSession& session, const SshConfig& config, Approach& approach, Patience patience)
        : m_config(config), m_approach(approach), m_steps(session, std::move(patience)),
          m_keys(m_steps, config, approach) {}

    Result<QString> run() {
        auto state = m_steps.make([this] { return ssh_userauth_none(m_steps.raw(), nullptr); });
        for (int i = 0; i < kMaxSteps; ++i) {
            if (!state) {
                if (state.error().code == Error::Code::LinkLost)
                    return refused(state.error().message);
                return tl::unexpected<Error>(state.error());
            }
            if (*state == LoginState::In)
                return m_how.isEmpty() ? QStringLiteral("without any proof")
                                       : m_how.join(QStringLiteral(", then "));
            const int offered = ssh_userauth_list(m_steps.raw(), nullptr);
            state = next(offered);
            if (state && *state == LoginState::Refused)
                return refused(explain(offered));
        }
        return refused(QStringLiteral("it wants ever more steps"));
    }

private:
    /// The first method of those that the host takes now that brings the login on.
    Result<LoginState> next(int offered) {
        struct Method {
            int flag;
            bool allowed;
            Result<LoginState> (Login::*attempt)();
        };
        const std::initializer_list<Method> methods = {
            {SSH_AUTH_METHOD_PUBLICKEY, m_config.pubkeyAuthentication, &Login::tryKeys},
            {SSH_AUTH_METHOD_INTERACTIVE, m_config.kbdInteractiveAuthentication,
             &Login::tryQuestions},
            {SSH_AUTH_METHOD_PASSWORD, m_config.passwordAuthentication, &Login::tryPassword},
        };
        for (const Method& method : methods) {
            if (!(offered & method.flag) || !method.allowed || (m_exhausted & method.flag))
                continue;
            const Result<LoginState> state = (this->*method.attempt)();
            if (!state || *state != LoginState::Refused) {
                m_partial = m_partial || (state && *state == LoginState::Partial);
                return state;
            }
            m_exhausted |= method.flag;
        }
        return LoginState::Refused;
    }

    Result<LoginState> tryKeys() {
        QString how;
        const auto state = m_keys.next(how);
        if (!how.isEmpty())
            m_how << how;
        return state;
    }

    [[nodiscard]] SecretRequest request(SecretRequest::Kind kind, const QString& prompt,
                                        int attempt) const {
        SecretRequest request;
        request.kind = kind;
        request.host = m_config.name;
        request.user = m_config.user;
        request.account = m_config.account();
        request.prompt = prompt;
        request.attempt = attempt;
        return request;
    }

    /// Why the user is not asked; empty: the user is.
    [[nodiscard]] QString whyNotAsked() const {
        return m_config.batchMode ? QStringLiteral("BatchMode in the ssh configuration forbids it")
                                  : QString();
    }

    /// Asks; a refusal to answer that is no cancel ends this method only, and is noted.
    Result<std::optional<Secret>> ask(const SecretRequest& request, const QString& what) {
        QString why = whyNotAsked();
        if (why.isEmpty()) {
            auto answer = m_approach.ask(request, m_steps.patience());
            if (answer)
                return std::optional<Secret>(std::move(*answer));
            if (answer.error().code == Error::Code::Cancelled)
                return tl::unexpected<Error>(answer.error());
            why = answer.error().text();
        }
        m_untried << QStringLiteral("%1 (%2)").arg(what, why);
        return std::optional<Secret>();
    }

    Result<LoginState> tryPassword() {
        while (m_wrongAnswers < m_config.passwordPrompts) {
            const SecretRequest question =
                request(SecretRequest::Kind::Password,
                        QStringLiteral("Password for %1 on %2").arg(m_config.user, m_config.name),
                        m_wrongAnswers + 1);
            const auto answer = ask(question, QStringLiteral("a password"));
            if (!answer)
                return tl::unexpected<Error>(answer.error());
            if (!*answer)
                return LoginState::Refused;
            const auto state = m_steps.make(
                [&] { return ssh_userauth_password(m_steps.raw(), nullptr, (*answer)->c_str()); });
            judge(question, **answer, state);
            const bool right = state && *state != LoginState::Refused;
            if (right)
                m_how << QStringLiteral("with a password");
            else
                noteWrong(QStringLiteral("a password"));
            if (right || !state)
                return state;
        }
        return LoginState::Refused;
    }

    /// A connection that breaks says nothing about an answer, unless the host breaks it for that.
    void judge(const SecretRequest& question, const Secret& answer,
               const Result<LoginState>& state) {
        if (state)
            m_approach.judge(question, answer, *state != LoginState::Refused);
        else if (state.error().message.contains(QLatin1String("Too many authentication")))
            m_approach.judge(question, answer, false);
    }

    void noteWrong(const QString& what) {
        ++m_wrongAnswers;
        if (!m_tried.contains(what))
            m_tried << what;
    }

    Result<LoginState> tryQuestions() {
        const QString what = QStringLiteral("answers to its questions");
        while (m_wrongAnswers < m_config.passwordPrompts) {
            std::vector<std::pair<SecretRequest, Secret>> given;
            const auto state = askAll(given, what);
            const bool right = state && *state && **state != LoginState::Refused;
            for (const auto& [question, answer] : given) {
                if (!state)
                    judge(question, answer, tl::unexpected<Error>(state.error()));
                else if (*state)
                    judge(question, answer, **state);
            }
            if (!state)
                return tl::unexpected<Error>(state.error());
            if (right) {
                m_how << QStringLiteral("with %1").arg(what);
                return **state;
            }
            // A host that refuses without a question has none, and one that nobody answers will
            // have the same again.
            if (given.empty() || !*state)
                return LoginState::Refused;
            noteWrong(what);
        }
        return LoginState::Refused;
    }

    /// One go through the host's questions, in as many rounds as it likes. Nothing when somebody is
    /// needed to answer and nobody does.
    Result<std::optional<LoginState>> askAll(std::vector<std::pair<SecretRequest, Secret>>& given,
                                             const QString& what) {
        const ssh_session raw = m_steps.raw();
        for (int round = 0; round < kMaxRounds; ++round) {
            const auto state =
                m_steps.make([raw] { return ssh_userauth_kbdint(raw, nullptr, nullptr); });
            if (!state)
                return tl::unexpected<Error>(state.error());
            if (*state != LoginState::Asked)
                return std::optional<LoginState>(*state);
            const int count = ssh_userauth_kbdint_getnprompts(raw);
            if (count > kMaxQuestions)
                return std::optional<LoginState>();
            for (int i = 0; i < count; ++i) {
                const auto done = answerOne(unsigned(i), given, what);
                if (!done)
                    return tl::unexpected<Error>(done.error());
                if (!*done)
                    return std::optional<LoginState>();
            }
        }
        return std::optional<LoginState>();
    }

    Result<bool> answerOne(unsigned index, std::vector<std::pair<SecretRequest, Secret>>& given,
                           const QString& what) {
        const ssh_session raw = m_steps.raw();
        char echo = 0;
        const QString prompt =
            plainLine(QString::fromUtf8(ssh_userauth_kbdint_getprompt(raw, index, &echo)));
        SecretRequest question =
            request(SecretRequest::Kind::KeyboardInteractive, prompt, m_wrongAnswers + 1);
        question.instruction = plainLine(QStringLiteral("%1 %2").arg(
            QString::fromUtf8(ssh_userauth_kbdint_getname(raw)),
            QString::fromUtf8(ssh_userauth_kbdint_getinstruction(raw))));
        question.echo = echo != 0;
        auto answer = ask(question, what);
        if (!answer)
            return tl::unexpected<Error>(answer.error());
        if (!*answer)
            return false;
        ssh_userauth_kbdint_setanswer(raw, index, (*answer)->c_str());
        given.emplace_back(std::move(question), std::move(**answer));
        return true;
    }

    [[nodiscard]] QString explain(int offered) const {
        if (m_partial)
            return QStringLiteral("the first part of the proof was accepted, but it wants more "
                                  "(%1) that is not possible here")
                .arg(methodNames(offered));
        if (offered & SSH_AUTH_METHOD_PUBLICKEY)
            return QStringLiteral("a key that it knows is needed, in a file or in the ssh-agent%1")
                .arg(offered & (SSH_AUTH_METHOD_PASSWORD | SSH_AUTH_METHOD_INTERACTIVE)
                         ? QStringLiteral(", or a password")
                         : QString());
        return QStringLiteral("it takes no keys, only: %1").arg(methodNames(offered));
    }

    [[nodiscard]] tl::unexpected<Error> refused(const QString& what) const {
        const QStringList tried = m_keys.tried() + m_tried;
        const QStringList untried = m_keys.untried() + m_untried;
        QStringList detail{what};
        detail << (tried.isEmpty()
                       ? QStringLiteral("no key was offered")
                       : QStringLiteral("tried: %1").arg(tried.join(QStringLiteral(", "))));
        if (!untried.isEmpty())
            detail << QStringLiteral("not tried: %1").arg(untried.join(QStringLiteral(", ")));
        return fail(Error::Code::HostUnusable,
                    QStringLiteral("%1 refuses the login as %2").arg(m_config.name, m_config.user),
                    detail.join(QStringLiteral("; ")));
    }

    const SshConfig& m_config;
    Approach& m_approach;
    LoginSteps m_steps;
    KeyLogin m_keys;
    QStringList m_tried;
    QStringList m_untried;
    QStringList m_how;
    int m_exhausted = 0; ///< methods that have nothing more to offer
    int m_wrongAnswers = 0;
    bool m_partial = false;
};

} // namespace

Result<QString> authenticate(SshSession& session, const SshConfig& config, Approach& approach,
                             Patience patience) {
    return Login(session, config, approach, std::move(patience)).run();
}

} // namespace knobscope
