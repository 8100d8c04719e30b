// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/pipetransport.h"

#include "core/host/childprocess.h"

#include <QFile>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <sys/wait.h>

namespace knobscope {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// How long endReason() waits for the exit status of an agent whose output has ended.
constexpr milliseconds kStatusWait{200};
/// Of the time to close, what is left for an agent that did not heed the end of its input.
constexpr milliseconds kTermWait{500};

struct Pipe {
    Fd read;
    Fd write;
};

std::optional<Pipe> makePipe() {
    std::array<int, 2> fds{};
    if (pipe2(fds.data(), O_CLOEXEC) != 0)
        return std::nullopt;
    return Pipe{Fd(fds[0]), Fd(fds[1])};
}

void setNonblocking(const Fd& fd) {
    if (fd.valid())
        fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

} // namespace

Result<std::unique_ptr<PipeTransport>> PipeTransport::start(const QString& program) {
    auto in = makePipe();
    auto out = makePipe();
    auto err = makePipe();
    if (!in || !out || !err)
        return fail(Error::Code::HostUnusable,
                    QStringLiteral("cannot start the agent on this computer"),
                    QString::fromLocal8Bit(std::strerror(errno)));
    Ends ends;
    const int error = startProcess({QFile::encodeName(program)}, in->read.get(), out->write.get(),
                                   err->write.get(), ends.pid);
    if (error != 0)
        return fail(Error::Code::HostUnusable, QStringLiteral("cannot start %1").arg(program),
                    QString::fromLocal8Bit(std::strerror(error)));
    ends.toAgent = std::move(in->write);
    ends.fromAgent = std::move(out->read);
    ends.diagnostics = std::move(err->read);
    return std::make_unique<PipeTransport>(std::move(ends));
}

PipeTransport::PipeTransport(Ends ends) : m_ends(std::move(ends)) {
    setNonblocking(m_ends.toAgent);
    setNonblocking(m_ends.fromAgent);
    setNonblocking(m_ends.diagnostics);
}

PipeTransport::~PipeTransport() {
    close(milliseconds(0));
}

void PipeTransport::addPollFds(std::vector<pollfd>& fds, bool wantWrite) {
    fds.push_back({m_ends.fromAgent.get(), POLLIN, 0});
    if (m_ends.diagnostics.valid())
        fds.push_back({m_ends.diagnostics.get(), POLLIN, 0});
    if (wantWrite)
        fds.push_back({m_ends.toAgent.get(), POLLOUT, 0});
}

Transport::Read PipeTransport::read(std::string& out, std::string& diagnostics) {
    std::array<char, 65536> buffer;
    bool some = false;
    if (m_ends.diagnostics.valid()) {
        const ssize_t got = ::read(m_ends.diagnostics.get(), buffer.data(), buffer.size());
        if (got > 0) {
            diagnostics.append(buffer.data(), std::size_t(got));
            some = true;
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            m_ends.diagnostics.reset();
        }
    }
    const ssize_t got = ::read(m_ends.fromAgent.get(), buffer.data(), buffer.size());
    if (got > 0) {
        out.append(buffer.data(), std::size_t(got));
        some = true;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
        // Its words on stderr may say why; they are there already.
        return some ? Read::Some : Read::Ended;
    }
    return some ? Read::Some : Read::Nothing;
}

std::optional<std::size_t> PipeTransport::write(std::string_view bytes) {
    const ssize_t written = ::write(m_ends.toAgent.get(), bytes.data(), bytes.size());
    if (written >= 0)
        return std::size_t(written);
    if (errno == EAGAIN || errno == EINTR)
        return 0;
    return std::nullopt;
}

/// Waits for the child at most that long; true when it is gone.
bool PipeTransport::reap(milliseconds limit) {
    if (m_ends.pid <= 0 || m_status)
        return true;
    const auto until = Clock::now() + limit;
    for (;;) {
        int status = 0;
        const pid_t done = waitpid(m_ends.pid, &status, WNOHANG);
        if (done == m_ends.pid) {
            m_status = status;
            return true;
        }
        if (done < 0 && errno != EINTR) {
            m_ends.pid = -1;
            return true;
        }
        if (Clock::now() >= until)
            return false;
        // The agent must not block on a full pipe while it is waited for.
        drain(milliseconds(2));
    }
}

void PipeTransport::drain(milliseconds limit) {
    std::vector<pollfd> fds;
    addPollFds(fds, false);
    ::poll(fds.data(), nfds_t(fds.size()), int(limit.count()));
    std::string ignored;
    if (read(ignored, ignored) == Read::Ended)
        ::poll(nullptr, 0, int(limit.count()));
}

QString PipeTransport::endReason() {
    if (!reap(kStatusWait) || !m_status)
        return QStringLiteral("the agent closed its output");
    if (WIFSIGNALED(*m_status))
        return QStringLiteral("the agent was killed by signal %1").arg(WTERMSIG(*m_status));
    return QStringLiteral("the agent ended with status %1").arg(WEXITSTATUS(*m_status));
}

void PipeTransport::close(milliseconds limit) {
    m_ends.toAgent.reset();
    const milliseconds term = std::min(kTermWait, limit / 2);
    if (!reap(limit - term)) {
        kill(m_ends.pid, SIGTERM);
        if (!reap(term)) {
            kill(m_ends.pid, SIGKILL);
            [[maybe_unused]] const bool gone = reap(milliseconds(1000));
        }
    }
    m_ends.fromAgent.reset();
    m_ends.diagnostics.reset();
}

} // namespace knobscope
