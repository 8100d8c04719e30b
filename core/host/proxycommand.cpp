// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/proxycommand.h"

#include "core/host/childprocess.h"
#include "core/host/secretsource.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

namespace knobscope {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// So much of its standard error is kept; what comes after is refused.
constexpr off_t kKeptWords = 65536;

/// A file in memory that cannot grow: a program that goes on complaining neither fills memory nor
/// waits for somebody to read it.
Fd boundedFile() {
    Fd file(memfd_create("proxy", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (file.valid() && (ftruncate(file.get(), kKeptWords) != 0 ||
                         fcntl(file.get(), F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) != 0))
        file.reset();
    return file;
}

tl::unexpected<Error> notStarted(const SshConfig& config, int error) {
    return fail(Error::Code::HostUnusable,
                QStringLiteral("the ProxyCommand for %1 cannot be started").arg(config.name),
                QString::fromLocal8Bit(std::strerror(error)));
}

} // namespace

Result<Underlay> ProxyCommand::start(const SshConfig& config) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        return notStarted(config, errno);
    Underlay underlay;
    underlay.socket = Fd(ends[0]);
    const Fd theirs(ends[1]);
    Fd words = boundedFile();
    if (!words.valid())
        return notStarted(config, errno);
    QByteArray shell = qgetenv("SHELL");
    if (shell.isEmpty())
        shell = "/bin/sh";
    const QByteArray command = "exec " + config.expandedTokens(config.proxyCommand).toLocal8Bit();
    pid_t pid = -1;
    if (const int error =
            startProcess({shell, "-c", command}, theirs.get(), theirs.get(), words.get(), pid))
        return notStarted(config, error);
    fcntl(underlay.socket.get(), F_SETFL, O_NONBLOCK);
    underlay.carrier.reset(new ProxyCommand(pid, std::move(words)));
    return underlay;
}

ProxyCommand::~ProxyCommand() {
    // Its socket is closed; most programs end by that. The others are told, the shell's children
    // with it.
    if (reap(milliseconds(100)))
        return;
    for (const int signal : {SIGHUP, SIGTERM, SIGKILL}) {
        kill(-m_pid, signal);
        if (reap(milliseconds(250)))
            return;
    }
}

bool ProxyCommand::reap(milliseconds limit) const {
    const auto until = Clock::now() + limit;
    while (!m_gone) {
        const pid_t done = waitpid(m_pid, &m_status, WNOHANG);
        if (done == m_pid || (done < 0 && errno != EINTR))
            m_gone = true;
        else if (Clock::now() >= until)
            return false;
        else
            ::poll(nullptr, 0, 5);
    }
    return true;
}

QString ProxyCommand::endReason() const {
    // The end of its output may be seen a moment before its own.
    if (!reap(milliseconds(200)))
        return {};
    std::array<char, 4096> buffer{};
    const ssize_t got = pread(m_words.get(), buffer.data(), buffer.size() - 1, 0);
    const QString said = got > 0 ? plainLine(QString::fromLocal8Bit(buffer.data())) : QString();
    const QString how = WIFEXITED(m_status) ? QStringLiteral("status %1").arg(WEXITSTATUS(m_status))
                                            : QStringLiteral("signal %1").arg(WTERMSIG(m_status));
    return QStringLiteral("its ProxyCommand ended with %1%2")
        .arg(how, said.isEmpty() ? QString() : QStringLiteral(" and said: %1").arg(said));
}

} // namespace knobscope
