// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>

#include <utility>

namespace knobscope::cli {

// Text for the width of a terminal. A width of 0 is no limit: then nothing is shortened or broken.

/// Columns a text takes on a terminal: wide letters take two, accents that combine none.
[[nodiscard]] int displayWidth(const QString& text);
/// "tcp_limit_output_bytes" → "tcp_li…_bytes": the middle of a name tells least.
[[nodiscard]] QString elidedMiddle(const QString& text, int width);

struct Column {
    QString title;
    int least = 0;         ///< a name that may be shortened to this width; 0: never shortened
    bool withNext = false; ///< stands on the same line as the next column
};

/// Columns as wide as their widest entry, two spaces apart, below their titles. In too narrow a
/// width names are shortened; when that is not enough, the columns that do not fit stand in further
/// lines of each row.
[[nodiscard]] QString table(const QList<Column>& columns, const QList<QStringList>& rows,
                            int width);
/// Two columns without titles; long entries of the second are broken.
[[nodiscard]] QString nameValueTable(const QList<QStringList>& rows, int width);

/// Breaks lines that are too long at blanks; what follows is indented by `indent` more than the
/// line. Nothing is left out: a word longer than a line goes beyond it.
[[nodiscard]] QString wrapped(const QString& text, int width, int indent = 2);

/// "window 64K, tcp_limit_output_bytes 16384": with shorter names where the width asks for it, and
/// with no names at last. Values are always whole.
[[nodiscard]] QString settingsText(const QList<std::pair<QString, QString>>& settings, int width);

} // namespace knobscope::cli
