// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/suggest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace knobscope {

namespace {

/// Longer words are no typing errors of ours, and the distance costs length × length.
constexpr qsizetype kLongestWord = 200;

/// Levenshtein distance: letters to insert, delete or replace.
int editDistance(const QString& from, const QString& to) {
    std::vector<int> row(static_cast<std::size_t>(to.size()) + 1);
    std::iota(row.begin(), row.end(), 0);
    for (qsizetype i = 0; i < from.size(); ++i) {
        int diagonal = row[0];
        row[0] = static_cast<int>(i) + 1;
        for (std::size_t j = 1; j < row.size(); ++j) {
            const bool same = from[i] == to[static_cast<qsizetype>(j) - 1];
            const int replaced = diagonal + (same ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
        }
    }
    return row.back();
}

} // namespace

QString nearestWord(const QString& word, const QStringList& known) {
    if (word.isEmpty() || word.size() > kLongestWord)
        return {};
    QString best;
    int bestDistance = std::max(2, static_cast<int>(word.size() / 3)) + 1;
    for (const QString& candidate : known) {
        const int distance = editDistance(word.toLower(), candidate.toLower());
        // A word of which nothing is left is another word.
        if (distance < bestDistance && distance < candidate.size()) {
            bestDistance = distance;
            best = candidate;
        }
    }
    return best;
}

QString didYouMean(const QString& word, const QStringList& known) {
    const QString near = nearestWord(word, known);
    return near.isEmpty() ? QString() : QStringLiteral(" Did you mean \"%1\"?").arg(near);
}

QString wordList(const QStringList& words) {
    if (words.size() < 2)
        return words.join(QString());
    return words.mid(0, words.size() - 1).join(QStringLiteral(", ")) + QStringLiteral(" or ") +
           words.last();
}

} // namespace knobscope
