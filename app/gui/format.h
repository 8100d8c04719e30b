// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDateTime>
#include <QString>

#include <optional>

namespace knobscope {

/// Values as the window writes them. Absent values are an en dash, never 0.

/// "8 s", "1 min 05 s", "2 h 10 min".
[[nodiscard]] QString durationText(double seconds);
/// Four significant digits, no exponent below a million: "941.2", "0.01234", "8532".
[[nodiscard]] QString numberText(double value);
[[nodiscard]] QString numberText(const std::optional<double>& value);
/// Local time without seconds' fractions: "2026-01-31 14:05:09".
[[nodiscard]] QString timeText(const QDateTime& time);
[[nodiscard]] QString absentText();
/// A kind of test in words: "TCP stream". An unknown kind stays as it is.
[[nodiscard]] QString testKindTitle(const QString& kind);
/// A knob as windows name it: "Window", "tcp_rmem", "MTU". What is no knob stays as it is.
[[nodiscard]] QString knobTitle(const QString& knob);
/// Numbers and their units stay on one line: "941.2 Mbit/s".
[[nodiscard]] QString unbroken(QString text);
/// The text with places where paths and the like may go on in the next line.
[[nodiscard]] QString breakable(const QString& text);

} // namespace knobscope
