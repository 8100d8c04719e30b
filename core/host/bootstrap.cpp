// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/bootstrap.h"

#include <QFile>
#include <QRandomGenerator>

namespace knobscope {

namespace {

/// Output before the first answer that is kept for an error text.
constexpr std::size_t kKeptNoise = 600;
/// Newest builds that stay in a host's cache.
constexpr int kKeptBuilds = 3;

/// @X@ is the nonce, @CASES@ the builds by architecture, @OLD@ the first build too many.
/// own: a folder that only this user can enter. base: a folder in which others cannot rename ours.
/// The trial file has no #! line: the shell runs it itself when exec says "no format", but a
/// noexec mount says "not permitted". Filling it with zeros finds out about space before the
/// upload starts. The agent is asked for only then, as a shell might read ahead.
constexpr const char* kScript = R"sh(
x=@X@; set -f; umask 077; PATH="$PATH:/usr/bin:/bin:/usr/sbin:/sbin"; export PATH;
say() { echo; echo "$x $*"; };
m=$(uname -m); case "$m" in @CASES@ *) say ARCH "$m"; exit 1;; esac;
u=$(id -u);
sum() {
    s=$({ if command -v sha256sum >/dev/null; then sha256sum;
    elif command -v openssl >/dev/null; then openssl dgst -sha256 -r;
    else busybox sha256sum; fi; } <"$1" 2>/dev/null); s=${s%% *};
};
own() {
    [ -h "$1" ] && return 1;
    set -- $(ls -ldn "$1" 2>/dev/null);
    case "$1 $3" in drwx------*" $u") return 0;; esac;
    return 1;
};
base() {
    case "$1" in /*) ;; *) return 1;; esac;
    set -- $(ls -ldn "$1/." 2>/dev/null);
    case "$1" in d???????w[tT]*) return 0;; d???????w*) return 1;; d*) return 0;; esac;
    return 1;
};
for d in "$XDG_CACHE_HOME" /var/tmp "/run/user/$u" /tmp /dev/shm; do
    k="$d/knobscope-$u"; f="$k/agent-$h";
    [ -f "$f" ] && [ -x "$f" ] || continue;
    [ -h "$f" ] && continue;
    base "$d" && own "$k" && sum "$f" && [ "$s" = "$h" ] || continue;
    say HAVE; exec "$f";
done;
g=;
for d in "$XDG_CACHE_HOME" /var/tmp "/run/user/$u" /tmp /dev/shm; do
    base "$d" || continue;
    k="$d/knobscope-$u";
    [ -h "$k" ] && continue;
    mkdir "$k" 2>/dev/null;
    [ -O "$k" ] && chmod 700 "$k" 2>/dev/null;
    own "$k" || continue;
    t="$k/up-$$-$x";
    ( echo "exit 0" >"$t" ) 2>/dev/null && chmod 700 "$t" 2>/dev/null &&
    ( "$t" ) </dev/null >/dev/null 2>&1 && ( head -c "$n" /dev/zero >"$t" ) 2>/dev/null &&
    { g=1; break; };
    rm -f "$t" 2>/dev/null;
done;
[ -n "$g" ] || { say NOPLACE; exit 1; };
say NEED "$m";
head -c "$n" >"$t";
sum "$t";
[ -n "$s" ] || { rm -f "$t"; say NOSUM; exit 1; };
[ "$s" = "$h" ] || { rm -f "$t"; say BADSUM; exit 1; };
f="$k/agent-$h";
chmod 700 "$t" && mv -f "$t" "$f" || { rm -f "$t"; say NOPLACE; exit 1; };
ls -t "$k" | grep "^agent-" | tail -n +@OLD@ | while read -r o; do rm -f "$k/$o"; done;
find "$k" -name "up-*" -mmin +60 -exec rm -f {} + 2>/dev/null;
say RUN; exec "$f"
)sh";

QByteArray makeNonce() {
    return QByteArray::number(QRandomGenerator::system()->generate64() | (1ULL << 63), 16);
}

class Bootstrap {
public:
    Bootstrap(SshChannel& channel, const QList<AgentBinary>& agents, QByteArray nonce,
              Patience patience)
        : m_channel(channel), m_agents(agents), m_nonce(nonce.toStdString()),
          m_patience(std::move(patience)) {}

    Result<void> run() {
        auto answer = nextAnswer();
        if (answer && answer->startsWith(QLatin1String("NEED "))) {
            if (auto sent = upload(answer->mid(5)); !sent)
                return sent;
            answer = nextAnswer();
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
                return noShell();
            if (auto over = m_patience.over(QStringLiteral("its shell")); over) {
                if (over->code == Error::Code::HostUnusable)
                    over->detail = QStringLiteral(
                        "logged in, but no shell command answers: is the account limited to file "
                        "transfer, or does a start-up file of its shell wait for something?");
                return tl::unexpected<Error>(*over);
            }
            m_channel.wait(m_patience.slice(), false);
        }
    }

    [[nodiscard]] tl::unexpected<Error> noShell() {
        const QString reason =
            m_channel.endReason().replace(QStringLiteral("the agent"), QStringLiteral("its shell"));
        m_noise += m_in;
        const QString said = QString::fromUtf8(m_noise).simplified().right(300);
        return unusable(
            QStringLiteral("%1 lets this account log in, but not run commands")
                .arg(m_patience.label()),
            QStringLiteral("%1; %2").arg(
                reason, said.isEmpty()
                            ? QStringLiteral("it said nothing: is its shell nologin, or does a "
                                             "start-up file exit?")
                            : QStringLiteral("it said: %1").arg(said)));
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
        std::string_view rest(content.constData(), std::size_t(content.size()));
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
            if (auto over = m_patience.over(QStringLiteral("the agent's upload")))
                return tl::unexpected<Error>(*over);
            m_channel.wait(m_patience.slice(), true);
        }
        m_patience.renew();
        return {};
    }

    [[nodiscard]] tl::unexpected<Error> lostUpload() {
        return unusable(
            QStringLiteral("bringing the agent to %1 failed").arg(m_patience.label()),
            QStringLiteral("%1; %2").arg(m_channel.endReason(),
                                         QString::fromUtf8(m_noise).simplified().right(300)));
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
    const std::string m_nonce;
    Patience m_patience;
    std::string m_in;
    std::string m_noise;
};

} // namespace

QByteArray bootstrapCommand(const QList<AgentBinary>& agents, const QByteArray& nonce) {
    QByteArray cases;
    for (const AgentBinary& agent : agents)
        cases += agent.arch.toLatin1() + ") h=" + agent.sha256 +
                 "; n=" + QByteArray::number(agent.size) + ";; ";
    QByteArray script = QByteArray(kScript).simplified();
    script.replace("@X@", nonce);
    script.replace("@CASES@", cases);
    script.replace("@OLD@", QByteArray::number(kKeptBuilds + 1));
    return "exec /bin/sh -c '" + script + "'";
}

Result<std::unique_ptr<Transport>> startRemoteAgent(std::unique_ptr<SshSession> session,
                                                    const QList<AgentBinary>& agents,
                                                    Patience patience) {
    const QByteArray nonce = makeNonce();
    auto channel = SshChannel::exec(std::move(session), bootstrapCommand(agents, nonce), patience);
    if (!channel)
        return tl::unexpected<Error>(channel.error());
    const auto done = Bootstrap(**channel, agents, nonce, std::move(patience)).run();
    if (!done) {
        // Nothing worth waiting for runs there.
        (*channel)->session().cut();
        return tl::unexpected<Error>(done.error());
    }
    return std::unique_ptr<Transport>(std::move(*channel));
}

} // namespace knobscope
