// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/console.h"

#include "app/cli/texttable.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include <sys/ioctl.h>
#include <unistd.h>

namespace knobscope::cli {

namespace {

constexpr int kFallbackWidth = 80;

/// False, with errno, when not all was written.
bool writeTo(std::FILE* stream, const QString& text) {
    const QByteArray bytes = text.toUtf8();
    const auto size = static_cast<std::size_t>(bytes.size());
    return std::fwrite(bytes.constData(), 1, size, stream) == size && std::fflush(stream) == 0;
}

} // namespace

Console::Console() : m_interactive(isatty(STDOUT_FILENO) != 0) {}

int Console::width() const {
    if (!m_interactive)
        return 0;
    winsize size = {};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return kFallbackWidth;
    return size.ws_col;
}

void Console::write(const QString& text) {
    if (!writeTo(stdout, text) && errno != EPIPE && m_outputError.isEmpty())
        m_outputError = QString::fromLocal8Bit(std::strerror(errno));
}

void Console::print(const QString& text) {
    clearProgress();
    write(text.endsWith(QLatin1Char('\n')) ? text : text + QLatin1Char('\n'));
}

void Console::error(const QString& text) {
    note(QStringLiteral("knobscope-cli: ") + text);
}

void Console::error(const Error& error) {
    this->error(error.text());
}

void Console::note(const QString& text) {
    clearProgress();
    (void)writeTo(stderr, text + QLatin1Char('\n'));
}

void Console::progress(const QString& line) {
    if (!m_interactive)
        return;
    // The last column would wrap on some terminals.
    write(QLatin1Char('\r') + elidedMiddle(line, width() - 1) + QStringLiteral("\x1b[K"));
    m_drawn = true;
}

void Console::clearProgress() {
    if (m_drawn)
        write(QStringLiteral("\r\x1b[K"));
    m_drawn = false;
}

QString durationText(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0)
        return QStringLiteral("?");
    const auto whole = static_cast<qint64>(std::ceil(seconds));
    const QLatin1Char zero('0');
    if (whole < 60)
        return QStringLiteral("%1 s").arg(whole);
    if (whole < 3600)
        return QStringLiteral("%1:%2").arg(whole / 60).arg(whole % 60, 2, 10, zero);
    return QStringLiteral("%1:%2:%3")
        .arg(whole / 3600)
        .arg(whole / 60 % 60, 2, 10, zero)
        .arg(whole % 60, 2, 10, zero);
}

QString numberText(double value) {
    if (!std::isfinite(value))
        return QStringLiteral("-");
    if (std::abs(value) >= 1000 && std::abs(value) < 1e7)
        return QString::number(value, 'f', 0);
    return QString::number(value, 'g', 4);
}

} // namespace knobscope::cli
