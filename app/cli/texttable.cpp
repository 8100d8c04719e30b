// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/texttable.h"

#include <algorithm>
#include <array>

namespace knobscope::cli {

namespace {

constexpr int kGap = 2;
constexpr int kMostIndent = 8;
/// A knob's name of fewer letters says nothing.
constexpr int kLeastKnob = 6;

/// East Asian wide and fullwidth blocks of Unicode, and the pictures that terminals draw as wide.
bool isWide(char32_t c) {
    static constexpr std::array<std::pair<char32_t, char32_t>, 10> blocks{{{0x1100, 0x115f},
                                                                           {0x2e80, 0x303e},
                                                                           {0x3041, 0xa4cf},
                                                                           {0xac00, 0xd7a3},
                                                                           {0xf900, 0xfaff},
                                                                           {0xfe30, 0xfe6f},
                                                                           {0xff00, 0xff60},
                                                                           {0xffe0, 0xffe6},
                                                                           {0x1f300, 0x1faff},
                                                                           {0x20000, 0x3fffd}}};
    return std::any_of(blocks.begin(), blocks.end(),
                       [c](const auto& block) { return c >= block.first && c <= block.second; });
}

int widthOf(char32_t c) {
    switch (QChar::category(c)) {
    case QChar::Mark_NonSpacing:
    case QChar::Mark_Enclosing:
    case QChar::Other_Format:
        return 0;
    default:
        return isWide(c) ? 2 : 1;
    }
}

QString padded(const QString& text, int width) {
    return text + QString(std::max(0, width - displayWidth(text)), QLatin1Char(' '));
}

QString withoutTrailingBlanks(QString line) {
    while (line.endsWith(QLatin1Char(' ')))
        line.chop(1);
    return line;
}

/// Columns that share a line of each row.
struct Line {
    QList<qsizetype> columns;
    int indent = 0;
};

class Layout {
public:
    Layout(const QList<Column>& columns, const QList<QStringList>& rows, int width)
        : m_columns(columns), m_rows(rows), m_width(width) {
        for (qsizetype i = 0; i < columns.size(); ++i) {
            int widest = displayWidth(columns[i].title);
            for (const QStringList& row : rows)
                widest = std::max(widest, displayWidth(row.value(i)));
            m_widths.append(widest);
        }
        fill();
        for (const Line& line : std::as_const(m_lines))
            shrink(line);
    }

    [[nodiscard]] QString text() const {
        QStringList titles;
        for (const Column& column : m_columns)
            titles.append(column.title);
        QString text = rowText(titles);
        for (const QStringList& row : m_rows)
            text += rowText(row);
        return text;
    }

private:
    [[nodiscard]] int least(qsizetype column) const {
        const int shortest = m_columns[column].least;
        return shortest > 0 ? std::min(m_widths[column], shortest) : m_widths[column];
    }

    /// As many columns a line as fit with names at their shortest. Further lines are indented, so
    /// that rows stay apart.
    void fill() {
        const int indent = m_widths.isEmpty() ? 0 : std::min(least(0) + kGap, kMostIndent);
        int used = 0;
        m_lines.append(Line{});
        for (qsizetype i = 0; i < m_columns.size();) {
            QList<qsizetype> group;
            int wanted = -kGap;
            do {
                group.append(i);
                wanted += least(i) + kGap;
            } while (m_columns[i++].withNext && i < m_columns.size());
            if (m_width > 0 && used + wanted > m_width && !m_lines.last().columns.isEmpty()) {
                m_lines.append(Line{{}, indent});
                used = indent;
            }
            m_lines.last().columns += group;
            used += wanted + kGap;
        }
    }

    void shrink(const Line& line) {
        if (m_width <= 0)
            return;
        for (;;) {
            int total = line.indent - kGap;
            qsizetype widest = -1;
            for (const qsizetype i : line.columns) {
                total += m_widths[i] + kGap;
                if (m_widths[i] > least(i) && (widest < 0 || m_widths[i] > m_widths[widest]))
                    widest = i;
            }
            if (total <= m_width || widest < 0)
                return;
            --m_widths[widest];
        }
    }

    [[nodiscard]] QString rowText(const QStringList& row) const {
        QString text;
        for (const Line& line : m_lines) {
            QString fields(line.indent, QLatin1Char(' '));
            for (const qsizetype i : line.columns) {
                const QString field =
                    m_columns[i].least > 0 ? elidedMiddle(row.value(i), m_widths[i]) : row.value(i);
                fields += padded(field, m_widths[i] + kGap);
            }
            text += withoutTrailingBlanks(fields) + QLatin1Char('\n');
        }
        return text;
    }

    const QList<Column>& m_columns;
    const QList<QStringList>& m_rows;
    const int m_width;
    QList<int> m_widths;
    QList<Line> m_lines;
};

qsizetype leadingBlanks(const QString& line) {
    qsizetype count = 0;
    while (count < line.size() && line[count] == QLatin1Char(' '))
        ++count;
    return count;
}

/// The last blank behind `from` at which the line fits, else the first one; -1 where there is none.
qsizetype breakAt(const QString& line, qsizetype from, int width) {
    qsizetype best = -1;
    for (qsizetype i = line.indexOf(QLatin1Char(' '), from); i >= 0;
         i = line.indexOf(QLatin1Char(' '), i + 1)) {
        if (best >= 0 && displayWidth(line.left(i)) > width)
            break;
        best = i;
    }
    return best;
}

QString joined(const QList<std::pair<QString, QString>>& settings, int nameWidth) {
    QStringList parts;
    for (const auto& [name, value] : settings)
        parts.append(nameWidth > 0 ? elidedMiddle(name, nameWidth) + QLatin1Char(' ') + value
                                   : value);
    return parts.join(QStringLiteral(", "));
}

} // namespace

int displayWidth(const QString& text) {
    int width = 0;
    for (const char32_t c : text.toUcs4())
        width += widthOf(c);
    return width;
}

QString elidedMiddle(const QString& text, int width) {
    if (displayWidth(text) <= width)
        return text;
    if (width < 1)
        return {};
    const auto letters = text.toUcs4();
    const int tail = (width - 1) / 2;
    const int head = width - 1 - tail;
    const auto letter = [&](qsizetype at) { return static_cast<char32_t>(letters[at]); };
    QString start;
    QString end;
    int used = 0;
    for (qsizetype i = 0; i < letters.size() && used + widthOf(letter(i)) <= head; ++i) {
        start += QChar::fromUcs4(letter(i));
        used += widthOf(letter(i));
    }
    used = 0;
    for (qsizetype i = letters.size() - 1; i >= 0 && used + widthOf(letter(i)) <= tail; --i) {
        end = QString().append(QChar::fromUcs4(letter(i))) + end;
        used += widthOf(letter(i));
    }
    return start + QStringLiteral("…") + end;
}

QString table(const QList<Column>& columns, const QList<QStringList>& rows, int width) {
    return Layout(columns, rows, width).text();
}

QString nameValueTable(const QList<QStringList>& rows, int width) {
    int names = 0;
    for (const QStringList& row : rows)
        names = std::max(names, displayWidth(row.value(0)));
    QString text;
    for (const QStringList& row : rows) {
        QString value = row.value(1);
        value.replace(QLatin1Char('\n'),
                      QLatin1Char('\n') + QString(names + kGap, QLatin1Char(' ')));
        text += wrapped(withoutTrailingBlanks(padded(row.value(0), names + kGap) + value), width,
                        names + kGap);
    }
    return text;
}

QString wrapped(const QString& text, int width, int indent) {
    QString result;
    const QString whole = text.endsWith(QLatin1Char('\n')) ? text.chopped(1) : text;
    for (const QString& line : whole.split(QLatin1Char('\n'))) {
        const qsizetype blanks = leadingBlanks(line);
        const QString further(blanks + indent, QLatin1Char(' '));
        QString rest = line;
        qsizetype from = blanks;
        while (width > further.size() && displayWidth(rest) > width) {
            const qsizetype at = breakAt(rest, from, width);
            if (at < 0)
                break;
            result += withoutTrailingBlanks(rest.left(at)) + QLatin1Char('\n');
            rest = further + rest.mid(at).trimmed();
            from = further.size();
        }
        result += rest + QLatin1Char('\n');
    }
    return result;
}

QString settingsText(const QList<std::pair<QString, QString>>& settings, int width) {
    int longest = kLeastKnob;
    for (const auto& setting : settings)
        longest = std::max(longest, displayWidth(setting.first));
    if (width <= 0)
        return joined(settings, longest);
    for (int names = longest; names >= kLeastKnob; --names) {
        const QString text = joined(settings, names);
        if (displayWidth(text) <= width)
            return text;
    }
    return joined(settings, 0);
}

} // namespace knobscope::cli
