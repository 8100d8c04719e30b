// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/bootstrapscript.h"

namespace knobscope {

namespace {

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

/// Before the script, for an account that is to become root: $1 is the script. sudo is tried with
/// a command that does nothing first, as there is no way back from exec. Its words are told in one
/// line, so that the workbench can say why it does not work.
constexpr const char* kBySudo = R"sh(
x=@X@; set -f; PATH="$PATH:/usr/bin:/bin:/usr/sbin:/sbin"; LC_ALL=C; export PATH LC_ALL;
say() { echo; echo "$x $*"; };
[ "$(id -u)" -eq 0 ] && exec /bin/sh -c "$1";
command -v sudo >/dev/null 2>&1 || { say NOSUDO command not found; @MISSING@; };
@BECOME@;
exec /bin/sh -c "$1"
)sh";
constexpr const char* kTrySudo = R"sh(
e=$(sudo -n /bin/sh -c : 2>&1 </dev/null) && { say SUDO; exec sudo -n /bin/sh -c "$1"; };
say NOSUDO $e
)sh";
/// -k: the password is asked for even if sudo remembers one, so that what is sent is always read
/// as the password.
constexpr const char* kAskSudo = R"sh(
say SUDO; exec sudo -S -k -p "@PROMPT@" /bin/sh -c "$1"
)sh";

} // namespace

QByteArray sudoPrompt(const QByteArray& nonce) {
    return "[knobscope " + nonce + "] ";
}

QByteArray bootstrapCommand(const QList<AgentBinary>& agents, const QByteArray& nonce,
                            SudoMode sudo) {
    QByteArray cases;
    for (const AgentBinary& agent : agents)
        cases += agent.arch.toLatin1() + ") h=" + agent.sha256 +
                 "; n=" + QByteArray::number(agent.size) + ";; ";
    QByteArray script = QByteArray(kScript).simplified();
    script.replace("@X@", nonce);
    script.replace("@CASES@", cases);
    script.replace("@OLD@", QByteArray::number(kKeptBuilds + 1));
    if (sudo == SudoMode::None)
        return "exec /bin/sh -c '" + script + "'";
    const bool asks = sudo == SudoMode::Password;
    QByteArray first = QByteArray(kBySudo).simplified();
    first.replace("@MISSING@", asks ? "exit 1" : "exec /bin/sh -c \"$1\"");
    first.replace("@BECOME@", QByteArray(asks ? kAskSudo : kTrySudo).simplified());
    first.replace("@PROMPT@", sudoPrompt(nonce));
    first.replace("@X@", nonce);
    return "exec /bin/sh -c '" + first + "' knobscope '" + script + "'";
}

Error sudoError(const QString& host, const QString& user, const QString& text) {
    // It repeats its command, which is long and says nothing to the user.
    const QString words = text.section(QStringLiteral(" '/bin/sh"), 0, 0);
    const auto says = [&words](const char* part) {
        return words.contains(QLatin1String(part), Qt::CaseInsensitive);
    };
    const auto error = [](const QString& message, const QString& detail) {
        return Error{Error::Code::HostUnusable, message, detail};
    };
    if (says("command not found"))
        return error(QStringLiteral("%1 has no sudo").arg(host),
                     QStringLiteral("log in as root, or install sudo there"));
    if (says("must have a tty"))
        return error(QStringLiteral("sudo on %1 demands a terminal").arg(host),
                     QStringLiteral("requiretty is set in its sudoers; an administrator can except "
                                    "this account with: Defaults:%1 !requiretty")
                         .arg(user));
    if (says("not in the sudoers") || says("may not run sudo") || says("not allowed to"))
        return error(QStringLiteral("sudo on %1 does not let %2 become root").arg(host, user),
                     QStringLiteral("an administrator can allow it in sudoers with: "
                                    "%1 ALL=(root) ALL; it says: %2")
                         .arg(user, words));
    if (says("incorrect password") || says("no password was provided"))
        return error(QStringLiteral("sudo on %1 does not take the password of %2").arg(host, user),
                     QStringLiteral("it says: %1").arg(words));
    if (says("a password is required") || says("a terminal is required"))
        return error(QStringLiteral("sudo on %1 asks %2 for a password").arg(host, user),
                     QStringLiteral("let sudo ask for the password, or allow it without one in "
                                    "sudoers: %1 ALL=(root) NOPASSWD: ALL")
                         .arg(user));
    return error(QStringLiteral("sudo on %1 does not make %2 root").arg(host, user),
                 words.isEmpty() ? QStringLiteral("it does not say why")
                                 : QStringLiteral("it says: %1").arg(words));
}

} // namespace knobscope
