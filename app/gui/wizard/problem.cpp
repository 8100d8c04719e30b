// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/problem.h"

#include "core/model/experimentfile.h"

#include <QRegularExpression>

namespace knobscope {

bool Problem::isIn(const QString& part) const {
    return path == part || path.startsWith(part + QLatin1Char('.')) ||
           path.startsWith(part + QLatin1Char('['));
}

int Problem::row(const QString& part) const {
    static const QRegularExpression index(QStringLiteral("\\A([a-z_]+)\\[(\\d+)\\]"));
    const QRegularExpressionMatch match = index.match(path);
    return match.hasMatch() && match.captured(1) == part ? match.captured(2).toInt() : -1;
}

std::optional<Problem> problemOf(const Experiment& experiment) {
    const Result<void> checked = checkExperiment(experiment);
    if (checked)
        return std::nullopt;
    const QString text = checked.error().text();
    static const QRegularExpression form(
        QStringLiteral("\\A([a-z_]+(?:\\[\\d+\\])?(?:\\.\\S*?)?): (.*)\\z"),
        QRegularExpression::DotMatchesEverythingOption);
    const QRegularExpressionMatch match = form.match(text);
    Problem problem;
    problem.path = match.captured(1);
    problem.text = match.hasMatch() ? match.captured(2) : text;
    if (!problem.text.isEmpty())
        problem.text[0] = problem.text[0].toUpper();
    return problem;
}

} // namespace knobscope
