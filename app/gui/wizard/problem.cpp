// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/wizard/problem.h"

#include "app/gui/format.h"
#include "core/model/experimentfile.h"

#include <QMap>
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

namespace {

/// What the fields of the window are called, for sentences that begin with "must".
QString subjectOf(const QString& path) {
    static const QMap<QString, QString> subjects = {
        {QStringLiteral("name"), QStringLiteral("The name")},
        {QStringLiteral("test.seconds"), QStringLiteral("The measured time")},
        {QStringLiteral("test.warmup_seconds"), QStringLiteral("The warm-up")},
        {QStringLiteral("plan.repeats"), QStringLiteral("The repeats")},
        {QStringLiteral("plan.repeats.min"), QStringLiteral("The fewest repeats")},
        {QStringLiteral("plan.repeats.max"), QStringLiteral("The most repeats")},
        {QStringLiteral("plan.confidence.level"), QStringLiteral("The confidence level")},
        {QStringLiteral("plan.confidence.half_width_percent"),
         QStringLiteral("The half width of the interval")},
        {QStringLiteral("plan.pause_seconds"), QStringLiteral("The pause")},
        {QStringLiteral("plan.retries"), QStringLiteral("The retries")}};
    return subjects.value(path);
}

/// The texts are made for files and windows alike; these are the places where the words differ.
QString inWords(const Experiment& experiment, Problem& problem) {
    QString text = problem.text;
    for (const HostRef which : experiment.hostRefs()) {
        const QString host = hostPath(which);
        const HostSpec& spec = experiment.host(which);
        if (problem.path == host && !spec.local && spec.ssh.isEmpty()) {
            problem.path += QStringLiteral(".ssh");
            return QStringLiteral("Give a name that ssh knows, or choose this computer.");
        }
        if (problem.path == host + QStringLiteral(".address") && spec.address.isEmpty())
            return QStringLiteral("Give the address of the %1 in the test network.")
                .arg(hostName(which));
        if (problem.path == host + QStringLiteral(".interface") && spec.interface.isEmpty())
            return QStringLiteral("Give the interface that has the test address.");
    }
    if (problem.path == QLatin1String("plan.confidence.level"))
        return QStringLiteral("The confidence level must be from 50 to 99.99 %.");
    if (problem.path == QLatin1String("exclude"))
        return QStringLiteral("The combinations left out leave no cell to measure.");
    static const QRegularExpression kind(
        QStringLiteral("\\b(?:tcp_stream|tcp_rr|tcp_crr|udp_stream|udp_rr)\\b"));
    for (auto match = kind.match(text); match.hasMatch(); match = kind.match(text))
        text.replace(match.capturedStart(), match.capturedLength(),
                     testKindTitle(match.captured()));
    const bool predicate =
        text.startsWith(QLatin1String("must ")) || text.startsWith(QLatin1String("has "));
    if (predicate && !subjectOf(problem.path).isEmpty())
        return subjectOf(problem.path) + QLatin1Char(' ') + text;
    // The names of knobs keep their spelling.
    static const QRegularExpression firstWord(QStringLiteral("\\A[^\\s,;]+"));
    if (!text.isEmpty() && !knobInfo(firstWord.match(text).captured()))
        text[0] = text[0].toUpper();
    return text;
}

} // namespace

QString incompleteText(const Axis& row) {
    if (row.knob.isEmpty())
        return QStringLiteral("Choose a knob.");
    const bool empty =
        row.values.isEmpty() || (row.values.size() == 1 && row.values.first().text.isEmpty());
    return empty ? QStringLiteral("Give at least one value.") : QString();
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
    problem.text = inWords(experiment, problem);
    return problem;
}

} // namespace knobscope
