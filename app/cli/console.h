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
    /// Columns of the terminal, which lines should not exceed; 0, no limit, when standard output is
    /// none.
    [[nodiscard]] int width() const;
    /// The first error of writing to standard output, in the system's words; empty: none. A reader
    /// that has gone away is none: it has read what it wanted.
    [[nodiscard]] const QString& outputError() const { return m_outputError; }
    /// Replaces the progress line; cut to the width of the terminal.
    void progress(const QString& line);
    void clearProgress();

private:
    void write(const QString& text);
    bool m_interactive = false;
    bool m_drawn = false;
    QString m_outputError;
};

/// "8 s", "1:05", "2:10:00".
[[nodiscard]] QString durationText(double seconds);
/// Four significant digits, no exponent below ten millions.
[[nodiscard]] QString numberText(double value);

} // namespace knobscope::cli
