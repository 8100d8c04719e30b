// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/bootstrap.h"

#include "core/host/bootstrapscript.h"

#include <QFile>
#include <QRandomGenerator>

namespace knobscope {

namespace {

/// Output before an answer that is kept for an error text. sudo repeats its whole command.
constexpr std::size_t kKeptNoise = 16384;
QByteArray makeNonce() {
    return QByteArray::number(QRandomGenerator::system()->generate64() | (1ULL << 63), 16);
}

class Bootstrap {
public:
    Bootstrap(SshChannel& channel, const QList<AgentBinary>& agents, const SshConfig& account,
              Approach& approach, const QByteArray& nonce, Patience patience)
        : m_channel(channel), m_agents(agents), m_account(account), m_approach(approach),
          m_nonce(nonce.toStdString()), m_prompt(sudoPrompt(nonce).toStdString()),
          m_patience(std::move(patience)) {}

    Result<void> run() {
        auto answer = afterSudo();
        HostSteps& steps = m_approach.steps;
        const QString label = m_patience.label();
        if (answer && *answer == QLatin1String("HAVE")) {
            steps.skip(HostStep::Kind::Upload, label, QStringLiteral("the host has this build"));
        } else if (answer && answer->startsWith(QLatin1String("NEED "))) {
            steps.start(HostStep::Kind::Upload, label);
            if (auto sent = upload(answer->mid(5)); !sent)
                return sent;
            answer = nextAnswer();
            if (answer && *answer == QLatin1String("RUN"))
                steps.done(QStringLiteral("%1 kB, verified").arg(m_sentBytes / 1000));
        }
        if (!answer)
            return tl::unexpected<Error>(answer.error());
        if (*answer != QLatin1String("HAVE") && *answer != QLatin1String("RUN"))
            return complaint(*answer);
        // The agent speaks only when spoken to, but nothing of it may get lost.
        m_channel.unread(std::move(m_in));
        return {};
    }

private:
    /// The first answer that is about the agent. What comes before is about sudo.
    Result<QString> afterSudo() {
        HostSteps& steps = m_approach.steps;
        auto answer = nextAnswer();
        if (!answer)
            return answer;
        steps.done(QStringLiteral("runs commands"));
        if (answer->startsWith(QLatin1String("NOSUDO"))) {
            const Error error =
                sudoError(m_patience.label(), m_account.user, plainLine(answer->mid(7)));
            if (m_approach.options.sudo == SudoMode::Password) {
                steps.start(HostStep::Kind::Rights, m_patience.label());
                return tl::unexpected<Error>(error);
            }
            steps.skip(HostStep::Kind::Rights, m_patience.label(),
                       QStringLiteral("runs as %1: %2").arg(m_account.user, error.message),
                       error.detail);
            return nextAnswer();
        }
        if (*answer != QLatin1String("SUDO"))
            return answer;
        m_bySudo = true;
        steps.start(HostStep::Kind::Rights, m_patience.label());
        answer = nextAnswer();
        m_bySudo = false;
        if (!answer)
            return answer;
        if (m_given)
            m_approach.judge(m_question, *m_given, true);
        m_given.reset();
        steps.done(QStringLiteral("root, by sudo"));
        return answer;
    }

    /// sudo waits for the password. It is sent only now: sent earlier, it could end up in something
    /// else than sudo.
    Result<void> givePassword() {
        if (m_given)
            m_approach.judge(m_question, *m_given, false);
        m_question.kind = SecretRequest::Kind::SudoPassword;
        m_question.host = m_account.name;
        m_question.user = m_account.user;
        m_question.account = m_account.account();
        m_question.prompt =
            QStringLiteral("Password of %1 for sudo on %2").arg(m_account.user, m_account.name);
        m_question.attempt = m_given ? m_question.attempt + 1 : 1;
        m_given.reset();
        auto answer = m_approach.ask(m_question, m_patience);
        if (!answer && answer.error().code == Error::Code::Cancelled)
            return tl::unexpected<Error>(answer.error());
        if (!answer)
            return unusable(QStringLiteral("sudo on %1 asks %2 for a password")
                                .arg(m_patience.label(), m_account.user),
                            answer.error().text());
        const Secret line(std::string(answer->view()) + '\n');
        m_given = std::move(*answer);
        return send(line.view(), QStringLiteral("sudo"));
    }

    [[nodiscard]] tl::unexpected<Error> unusable(const QString& message, const QString& detail) {
        return fail(Error::Code::HostUnusable, message, detail);
    }

    /// Takes in what there is; false at the end of the stream.
    bool take() {
        for (;;) {
            std::string words;
            const Transport::Read state = m_channel.read(m_in, words);
            m_noise = (m_noise + words);
            if (m_noise.size() > kKeptNoise)
                m_noise.erase(0, m_noise.size() - kKeptNoise);
            if (state != Transport::Read::Some)
                return state != Transport::Read::Ended;
            dropNoise();
        }
    }

    /// Start-up files may print anything: only the last, unfinished line is kept of it.
    void dropNoise() {
        const std::string mark = m_nonce + ' ';
        if (m_in.find(mark) != std::string::npos || m_in.size() < 65536)
            return;
        m_noise += m_in.substr(m_in.size() - kKeptNoise);
        m_in.erase(0, m_in.size() - mark.size());
    }

    /// The words after the nonce in the next line that has it.
    std::optional<QString> takeAnswer() {
        const std::string mark = '\n' + m_nonce + ' ';
        const std::size_t at = m_in.find(mark);
        const std::size_t end = at == std::string::npos ? at : m_in.find('\n', at + 1);
        if (end == std::string::npos)
            return std::nullopt;
        const std::size_t from = at + mark.size();
        const QString words = QString::fromStdString(m_in.substr(from, end - from)).trimmed();
        m_noise += m_in.substr(0, at);
        m_in.erase(0, end + 1);
        return words;
    }

    Result<QString> nextAnswer() {
        for (;;) {
            const bool alive = take();
            if (auto answer = takeAnswer())
                return *answer;
            if (!alive)
                return m_bySudo ? noRoot() : noShell();
            if (const std::size_t at = m_noise.find(m_prompt);
                m_bySudo && at != std::string::npos) {
                m_noise.erase(at, m_prompt.size());
                if (auto given = givePassword(); !given)
                    return tl::unexpected<Error>(given.error());
            }
            if (auto over = m_patience.over(QStringLiteral("its shell")); over) {
                if (over->code == Error::Code::HostUnusable)
                    over->detail = whySilent();
                return tl::unexpected<Error>(*over);
            }
            m_channel.wait(m_patience.slice(), false);
        }
    }

    [[nodiscard]] QString whySilent() const {
        if (m_bySudo)
            return QStringLiteral("sudo there waits for something%1")
                .arg(said().isEmpty() ? QString() : QStringLiteral("; it said: %1").arg(said()));
        return QStringLiteral(
            "logged in, but no shell command answers: is the account limited to file "
            "transfer, or does a start-up file of its shell wait for something?");
    }

    /// The last of what came before the first answer, in one line.
    [[nodiscard]] QString said() const {
        return plainLine(QString::fromUtf8(m_noise).simplified().right(300));
    }

    [[nodiscard]] tl::unexpected<Error> noRoot() {
        // Of what came on standard error only sudo's own lines are about this.
        QStringList lines;
        for (const QString& line : QString::fromUtf8(m_noise).split(u'\n')) {
            if (line.contains(QLatin1String("sudo")) || line.startsWith(QLatin1String("Sorry")))
                lines << plainLine(line);
        }
        const QString words = lines.isEmpty() ? said() : lines.join(QStringLiteral("; "));
        // It asks for the password first and finds out then what the user may do.
        if (m_given)
            m_approach.judge(m_question, *m_given,
                             !words.contains(QLatin1String("incorrect password")));
        m_given.reset();
        return tl::unexpected<Error>(sudoError(m_patience.label(), m_account.user, words));
    }

    [[nodiscard]] tl::unexpected<Error> noShell() {
        const QString reason =
            m_channel.endReason().replace(QStringLiteral("the agent"), QStringLiteral("its shell"));
        m_noise += m_in;
        const QString words = said();
        return unusable(
            QStringLiteral("%1 lets this account log in, but not run commands")
                .arg(m_patience.label()),
            QStringLiteral("%1; %2").arg(
                reason, words.isEmpty()
                            ? QStringLiteral("it said nothing: is its shell nologin, or does a "
                                             "start-up file exit?")
                            : QStringLiteral("it said: %1").arg(words)));
    }

    Result<void> upload(const QString& arch) {
        const auto agent = std::find_if(m_agents.begin(), m_agents.end(),
                                        [&](const auto& one) { return one.arch == arch; });
        if (agent == m_agents.end())
            return complaint(QStringLiteral("ARCH ") + arch);
        QFile file(agent->path);
        QByteArray content;
        if (file.open(QIODevice::ReadOnly))
            content = file.readAll();
        if (content.size() != agent->size)
            return unusable(QStringLiteral("the agent program %1 cannot be read or has changed")
                                .arg(agent->path),
                            file.errorString());
        m_sentBytes = content.size();
        return send(std::string_view(content.constData(), std::size_t(content.size())),
                    QStringLiteral("the agent's upload"));
    }

    Result<void> send(std::string_view rest, const QString& stage) {
        while (!rest.empty()) {
            // Reading comes first: it may also finish what write() left behind, and then there is
            // nothing to wait for.
            if (!take())
                return lostUpload();
            const auto taken = m_channel.write(rest);
            if (!taken)
                return lostUpload();
            if (*taken > 0) {
                rest.remove_prefix(*taken);
                m_patience.renew();
                continue;
            }
            if (auto over = m_patience.over(stage))
                return tl::unexpected<Error>(*over);
            m_channel.wait(m_patience.slice(), true);
        }
        m_patience.renew();
        return {};
    }

    [[nodiscard]] tl::unexpected<Error> lostUpload() {
        return unusable(QStringLiteral("bringing the agent to %1 failed").arg(m_patience.label()),
                        QStringLiteral("%1; %2").arg(m_channel.endReason(), said()));
    }

    [[nodiscard]] tl::unexpected<Error> complaint(const QString& answer) {
        const QString label = m_patience.label();
        QStringList supported;
        for (const AgentBinary& agent : m_agents)
            supported << agent.arch;
        if (answer.startsWith(QLatin1String("ARCH ")))
            return tl::unexpected<Error>(noAgentFor(label, answer.mid(5), supported));
        if (answer == QLatin1String("NOPLACE"))
            return unusable(
                QStringLiteral("%1 has no place for the agent").arg(label),
                QStringLiteral("none of $XDG_CACHE_HOME, /var/tmp, /run/user, /tmp and /dev/shm is "
                               "writable, safe from other users, not mounted noexec, and has "
                               "space for it"));
        if (answer == QLatin1String("NOSUM"))
            return unusable(
                QStringLiteral("%1 cannot verify the agent").arg(label),
                QStringLiteral("it has no sha256sum, openssl or busybox; install coreutils"));
        if (answer == QLatin1String("BADSUM"))
            return unusable(QStringLiteral("the agent arrived damaged on %1").arg(label),
                            QStringLiteral("its SHA-256 is not that of the program sent; is a "
                                           "disk full there?"));
        return unusable(QStringLiteral("%1 answers strangely").arg(label), answer.left(200));
    }

    SshChannel& m_channel;
    const QList<AgentBinary>& m_agents;
    const SshConfig& m_account;
    Approach& m_approach;
    const std::string m_nonce;
    const std::string m_prompt;
    Patience m_patience;
    bool m_bySudo = false; ///< what is waited for now is sudo
    SecretRequest m_question;
    std::optional<Secret> m_given; ///< the password that sudo has, not known yet to be right
    qint64 m_sentBytes = 0;
    std::string m_in;
    std::string m_noise;
};

} // namespace

Result<std::unique_ptr<Transport>> startRemoteAgent(std::unique_ptr<SshSession> session,
                                                    const QList<AgentBinary>& agents,
                                                    const SshConfig& account, Approach& approach,
                                                    Patience patience) {
    const QByteArray nonce = makeNonce();
    approach.steps.start(HostStep::Kind::Shell, patience.label());
    auto channel = SshChannel::exec(
        std::move(session), bootstrapCommand(agents, nonce, approach.options.sudo), patience);
    if (!channel)
        return tl::unexpected<Error>(channel.error());
    const auto done =
        Bootstrap(**channel, agents, account, approach, nonce, std::move(patience)).run();
    if (!done) {
        // Nothing worth waiting for runs there.
        (*channel)->session().cut();
        return tl::unexpected<Error>(done.error());
    }
    return std::unique_ptr<Transport>(std::move(*channel));
}

} // namespace knobscope
