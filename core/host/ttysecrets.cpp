// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/ttysecrets.h"

#include "core/host/fd.h"

#include <QFile>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <termios.h>

namespace knobscope {

namespace {

/// What is typed is not shown while this lives.
class HiddenTyping {
public:
    HiddenTyping(int fd, bool hidden) : m_fd(fd) {
        m_changed = hidden && tcgetattr(fd, &m_before) == 0;
        if (!m_changed)
            return;
        termios silent = m_before;
        silent.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL);
        // What was typed before the question was not meant as its answer.
        m_changed = tcsetattr(fd, TCSAFLUSH, &silent) == 0;
    }
    ~HiddenTyping() {
        if (m_changed)
            tcsetattr(m_fd, TCSADRAIN, &m_before);
    }
    HiddenTyping(const HiddenTyping&) = delete;
    HiddenTyping& operator=(const HiddenTyping&) = delete;

private:
    int m_fd;
    termios m_before{};
    bool m_changed = false;
};

void show(int fd, const QString& text) {
    const QByteArray bytes = text.toLocal8Bit();
    // A terminal that takes nothing will not answer either.
    [[maybe_unused]] const ssize_t written = ::write(fd, bytes.constData(), size_t(bytes.size()));
}

tl::unexpected<Error> stopped() {
    return fail(Error::Code::Cancelled, QStringLiteral("Stopped by the user"));
}

/// A line of the terminal without its end; kept where it is wiped.
Result<Secret> readLine(int fd, const CancelToken& cancel) {
    constexpr std::size_t kMaxLine = 1024;
    std::vector<char> line(kMaxLine); // of full size: growing would leave copies behind
    std::size_t length = 0;
    Result<Secret> result = stopped();
    for (;;) {
        pollfd wait{fd, POLLIN, 0};
        const int ready = ::poll(&wait, 1, 50);
        if (cancel.cancelled())
            break;
        if (ready <= 0)
            continue;
        char c = 0;
        const ssize_t got = ::read(fd, &c, 1);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            break; // Ctrl-D, or the terminal is gone
        if (c == '\n' || c == '\r') {
            result = Secret(std::string_view(line.data(), length));
            break;
        }
        if (length < kMaxLine)
            line[length++] = c;
    }
    explicit_bzero(line.data(), line.size());
    return result;
}

/// Puts a question and reads the answer.
Result<Secret> converse(const QString& device, const QString& text, bool hidden,
                        const CancelToken& cancel) {
    const Fd fd(::open(QFile::encodeName(device).constData(), O_RDWR | O_CLOEXEC | O_NOCTTY));
    if (!fd.valid())
        return fail(Error::Code::HostUnusable, QStringLiteral("there is no terminal to ask on"));
    const HiddenTyping typing(fd.get(), hidden);
    show(fd.get(), text);
    auto answer = readLine(fd.get(), cancel);
    if (hidden || !answer)
        show(fd.get(), QStringLiteral("\n"));
    return answer;
}

} // namespace

Result<Secret> TtySecrets::ask(const SecretRequest& request, const CancelToken& cancel) {
    const std::scoped_lock turn(m_turn);
    if (cancel.cancelled())
        return stopped();
    QString text = QStringLiteral("\r");
    if (request.attempt > 1)
        text += QStringLiteral("That was not right.\n");
    if (request.kind == SecretRequest::Kind::KeyboardInteractive)
        text += QStringLiteral("%1@%2 asks%3\n")
                    .arg(request.user, request.host,
                         request.instruction.isEmpty()
                             ? QStringLiteral(":")
                             : QStringLiteral(": %1").arg(request.instruction));
    text += request.prompt;
    if (!text.endsWith(u':'))
        text += u':';
    return converse(m_device, text + u' ', !request.echo, cancel);
}

Result<bool> TtySecrets::trusts(const NewHostKey& key, const CancelToken& cancel) {
    const std::scoped_lock turn(m_turn);
    const QString question =
        QStringLiteral("\rThe host key of %1 (%2) is not known yet: %3 %4\n"
                       "Is that the host's own key? Type yes to trust it from now on: ")
            .arg(key.host, key.name, key.type, key.fingerprint);
    const auto answer = converse(m_device, question, false, cancel);
    if (!answer)
        return tl::unexpected<Error>(answer.error());
    return answer->view() == "yes";
}

} // namespace knobscope
