// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/console.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

namespace knobscope::cli {

namespace {

constexpr int kFallbackWidth = 80;

void write(std::FILE* stream, const QString& text) {
    const QByteArray bytes = text.toUtf8();
    std::fwrite(bytes.constData(), 1, static_cast<std::size_t>(bytes.size()), stream);
    std::fflush(stream);
}

int terminalWidth() {
    winsize size = {};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return kFallbackWidth;
    return size.ws_col;
}

} // namespace

Console::Console() : m_interactive(isatty(STDOUT_FILENO) != 0) {}

void Console::print(const QString& text) {
    clearProgress();
    write(stdout, text.endsWith(QLatin1Char('\n')) ? text : text + QLatin1Char('\n'));
}

void Console::error(const QString& text) {
    note(QStringLiteral("knobscope-cli: ") + text);
}

void Console::error(const Error& error) {
    this->error(error.text());
}

void Console::note(const QString& text) {
    clearProgress();
    write(stderr, text + QLatin1Char('\n'));
}

void Console::progress(const QString& line) {
    if (!m_interactive)
        return;
    const int width = terminalWidth() - 1; // the last column would wrap on some terminals
    QString shown = line;
    if (shown.size() > width)
        shown = shown.left(std::max(width - 1, 0)) + QStringLiteral("…");
    write(stdout, QStringLiteral("\r") + shown + QStringLiteral("\x1b[K"));
    m_drawn = true;
}

void Console::clearProgress() {
    if (m_drawn)
        write(stdout, QStringLiteral("\r\x1b[K"));
    m_drawn = false;
}

QString alignColumns(const QList<QStringList>& rows) {
    QList<qsizetype> widths;
    for (const QStringList& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (qsizetype i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], row[i].size());
    }
    QString text;
    for (const QStringList& row : rows) {
        QString line;
        for (qsizetype i = 0; i < row.size(); ++i)
            line += row[i].leftJustified(widths[i] + 2);
        while (line.endsWith(QLatin1Char(' ')))
            line.chop(1);
        text += line + QLatin1Char('\n');
    }
    return text;
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
