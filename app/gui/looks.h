// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPalette>
#include <QSize>

class QAbstractItemView;
class QLabel;
class QMessageBox;
class QWidget;

namespace knobscope {

[[nodiscard]] bool isDark(const QPalette& palette);
/// The palette with a colour of hints that is legible on its base; some themes have none.
[[nodiscard]] QPalette withReadableHints(QPalette palette);

/// The label shows all of its text on as many lines as it takes and never widens its window.
void letWrap(QLabel* label);
/// Gives the label the colour of hints.
void makeHint(QLabel* label);
/// The widget at the top of an area that scrolls when there is more of it than room.
[[nodiscard]] QWidget* scrolled(QWidget* content, QWidget* parent);
/// Size of a first window: as wished, or as much as the screen has room for with its frame.
[[nodiscard]] QSize fittingSize(const QWidget* window, QSize wished);
/// Enter and Escape leave all as it was: for questions whose other answer cannot be undone.
void preferCancel(QMessageBox* question);
/// In the middle of a table that has nothing to show: why.
void paintNote(QAbstractItemView* view, const QString& text);

} // namespace knobscope
