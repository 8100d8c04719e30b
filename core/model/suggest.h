// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

namespace knobscope {

/// The known word that `word` was probably meant to be (few letters differ); empty when none is
/// near.
[[nodiscard]] QString nearestWord(const QString& word, const QStringList& known);

/// " Did you mean \"window\"?" with its leading space, or nothing.
[[nodiscard]] QString didYouMean(const QString& word, const QStringList& known);

/// "a, b or c" for messages.
[[nodiscard]] QString wordList(const QStringList& words);

} // namespace knobscope
