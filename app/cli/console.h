// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/result.h"

#include <QStringList>

namespace knobscope::cli {

/// Standard output and standard error, as UTF-8. Main thread. Keeps the line that shows progress on
/// a terminal from mixing with other lines.
class Console {
public:
    Console();
    /// A whole line, or several.
    void print(const QString& text);
    void error(const QString& text); ///< "knobscope-cli: ..." on standard error
    void error(const Error& error);
    void note(const QString& text); ///< on standard error, without a prefix

    /// Standard output is a terminal, so that a line can be drawn anew.
    [[nodiscard]] bool interactive() const { return m_interactive; }
    /// Replaces the progress line; cut to the width of the terminal.
    void progress(const QString& line);
    void clearProgress();

private:
    bool m_interactive = false;
    bool m_drawn = false;
};

/// Text columns as wide as their widest entry, two spaces apart. The first row is the header.
[[nodiscard]] QString alignColumns(const QList<QStringList>& rows);

/// "8 s", "1:05", "2:10:00".
[[nodiscard]] QString durationText(double seconds);
/// Four significant digits, no exponent below ten millions.
[[nodiscard]] QString numberText(double value);

} // namespace knobscope::cli
