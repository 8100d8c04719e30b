// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/experimentfile.h"
#include "core/model/hostcheck.h"
#include "core/model/knobcatalogue.h"
#include "core/model/matrix.h"
#include "core/model/suggest.h"

#include <algorithm>
#include <cmath>

namespace knobscope {

namespace {

constexpr int kMaxValues = 1000;
constexpr int kMaxRepeats = 1000;
constexpr double kMaxSeconds = 86400;
/// Less than this measures the clock rather than the network.
constexpr double kMinSeconds = 0.01;

tl::unexpected<Error> wrong(const QString& path, const QString& what) {
    return fail(Error::Code::BadInput, path + QStringLiteral(": ") + what);
}

Result<void> checkSeconds(const QString& path, double seconds, double least = 0) {
    if (std::isfinite(seconds) && seconds >= least && seconds <= kMaxSeconds)
        return {};
    return wrong(
        path,
        QStringLiteral("must be %1 or more and at most %2 seconds.").arg(least).arg(kMaxSeconds));
}

Result<void> checkWhole(const QString& path, int value, int least, int most) {
    if (value >= least && value <= most)
        return {};
    return wrong(path,
                 QStringLiteral("must be a whole number from %1 to %2.").arg(least).arg(most));
}

// ---- test and axes

QStringList testKinds() {
    return {QStringLiteral("tcp_stream"), QStringLiteral("tcp_rr"), QStringLiteral("tcp_crr"),
            QStringLiteral("udp_stream"), QStringLiteral("udp_rr")};
}

Result<void> checkKnobFits(const QString& path, const KnobEntry& knob, const TestSpec& test) {
    if (fitsTest(knob, test.kind))
        return {};
    return wrong(path, QStringLiteral("%1 means nothing to a %2 test; it belongs to %3.")
                           .arg(knob.info.name, test.kind, wordList(knob.tests)));
}

Result<void> checkTest(const TestSpec& test) {
    if (!testKinds().contains(test.kind))
        return wrong(QStringLiteral("test.kind"),
                     QStringLiteral("there is no test \"%1\"; known: %2.%3")
                         .arg(test.kind.left(60), wordList(testKinds()),
                              didYouMean(test.kind, testKinds())));
    if (test.backend != QLatin1String("builtin"))
        return wrong(QStringLiteral("test.backend"),
                     QStringLiteral("there is no backend \"%1\"; known: builtin.")
                         .arg(test.backend.left(60)));
    if (auto ok = checkSeconds(QStringLiteral("test.seconds"), test.seconds, kMinSeconds); !ok)
        return ok;
    if (auto ok = checkSeconds(QStringLiteral("test.warmup_seconds"), test.warmupSeconds); !ok)
        return ok;
    for (auto it = test.options.begin(); it != test.options.end(); ++it) {
        const QString path = QStringLiteral("test.") + it.key();
        const auto knob = findKnob(it.key());
        if (!knob || knob->info.scope != KnobScope::Test)
            return wrong(path, QStringLiteral("%1 is no test knob, so it cannot be a fixed option.")
                                   .arg(it.key()));
        if (auto ok = checkKnobFits(path, *knob, test); !ok)
            return ok;
        if (const auto ok = checkKnobValue(knob->info, it.value()); !ok)
            return wrong(path, ok.error().text());
    }
    return {};
}

Result<void> checkValues(const QString& path, const KnobInfo& knob,
                         const QList<KnobValue>& values) {
    if (values.isEmpty())
        return wrong(path, QStringLiteral("empty: give at least one value of %1.").arg(knob.name));
    if (values.size() > kMaxValues)
        return wrong(path, QStringLiteral("%1 values; at most %2 are possible.")
                               .arg(values.size())
                               .arg(kMaxValues));
    for (qsizetype i = 0; i < values.size(); ++i) {
        const QString item = QStringLiteral("%1[%2]").arg(path).arg(i);
        if (const auto ok = checkKnobValue(knob, values[i]); !ok)
            return wrong(item, ok.error().text());
        if (const qsizetype first = values.indexOf(values[i]); first < i)
            return wrong(
                item, QStringLiteral("\"%1\" is there already: it is the same as value %2, \"%3\".")
                          .arg(values[i].text)
                          .arg(first + 1)
                          .arg(values[first].text));
    }
    return {};
}

/// Whether a sender and a receiver name the same interface.
bool shareAnInterface(const Experiment& experiment) {
    const QList<HostSpec> receivers = experiment.hosts(Side::Receiver);
    const QList<HostSpec> senders = experiment.hosts(Side::Sender);
    return std::any_of(senders.begin(), senders.end(), [&](const HostSpec& sender) {
        return std::any_of(receivers.begin(), receivers.end(), [&](const HostSpec& receiver) {
            return sender.interface == receiver.interface;
        });
    });
}

bool overlap(Side one, Side other) {
    return one == other || one == Side::Both || other == Side::Both;
}

/// Whether an earlier axis moves the same setting.
Result<void> checkTwins(const Experiment& experiment, qsizetype index, const KnobEntry& knob) {
    const Axis& axis = experiment.axes[index];
    const QString path = QStringLiteral("axes[%1].knob").arg(index);
    if (experiment.test.options.contains(axis.knob))
        return wrong(
            path,
            QStringLiteral("%1 is a fixed option of the test too; remove one.").arg(axis.knob));
    const bool oneSetting = knob.info.scope == KnobScope::Host && experiment.allLocal() &&
                            (knob.hostWide || shareAnInterface(experiment));
    for (qsizetype i = 0; i < index; ++i) {
        const Axis& earlier = experiment.axes[i];
        if (!sameSetting(earlier.knob, axis.knob))
            continue;
        const QString name = earlier.knob == axis.knob
                                 ? axis.knob
                                 : QStringLiteral("%1 (as %2)").arg(axis.knob, earlier.knob);
        if (overlap(earlier.side, axis.side))
            return wrong(
                path, QStringLiteral("an earlier axis, number %1, moves %2 on this side already.")
                          .arg(i + 1)
                          .arg(name));
        if (oneSetting)
            return wrong(path,
                         QStringLiteral("an earlier axis, number %1, moves %2 already, and both "
                                        "sides are this computer, which has it once. Use side "
                                        "\"both\".")
                             .arg(i + 1)
                             .arg(name));
    }
    return {};
}

Result<void> checkAxis(const Experiment& experiment, qsizetype index) {
    const Axis& axis = experiment.axes[index];
    const QString path = QStringLiteral("axes[%1]").arg(index);
    const auto info = knobInfo(axis.knob);
    if (!info)
        return wrong(path + QStringLiteral(".knob"), info.error().text());
    const KnobEntry knob = *findKnob(axis.knob);
    if (auto ok = checkKnobFits(path + QStringLiteral(".knob"), knob, experiment.test); !ok)
        return ok;
    if (axis.side == Side::Whole)
        return wrong(path + QStringLiteral(".side"),
                     QStringLiteral("must be sender, receiver or both."));
    if (info->bothSidesOnly && axis.side != Side::Both)
        return wrong(
            path + QStringLiteral(".side"),
            QStringLiteral("%1 belongs to the whole test: use side \"both\".").arg(axis.knob));
    if (auto ok = checkTwins(experiment, index, knob); !ok)
        return ok;
    return checkValues(path + QStringLiteral(".values"), *info, axis.values);
}

Result<void> checkCommandLine(const QString& path, const QString& line) {
    constexpr qsizetype kLongest = 4096;
    if (line.trimmed().isEmpty())
        return wrong(path, QStringLiteral("must not be empty."));
    if (line.size() > kLongest)
        return wrong(path, QStringLiteral("must be at most %1 characters long; longer ones belong "
                                          "into a script on the host.")
                               .arg(kLongest));
    if (line.contains(QChar(u'\0')))
        return wrong(path, QStringLiteral("has a zero character."));
    return {};
}

Result<void> checkCommands(const Experiment& experiment) {
    for (auto it = experiment.commands.begin(); it != experiment.commands.end(); ++it) {
        const QString path = QStringLiteral("commands.") + it.key();
        if (!findKnob(kCommandPrefix + it.key()))
            return wrong(path, QStringLiteral("is no name for a knob: use letters, digits, dots, "
                                              "dashes and underscores."));
        if (auto ok = checkCommandLine(path + QStringLiteral(".get"), it->get); !ok)
            return ok;
        if (auto ok = checkCommandLine(path + QStringLiteral(".set"), it->set); !ok)
            return ok;
        if (!it->restore.isEmpty()) {
            if (auto ok = checkCommandLine(path + QStringLiteral(".restore"), it->restore); !ok)
                return ok;
        }
        constexpr double kLeast = 0.1;
        constexpr double kMost = 60;
        if (!(it->timeoutSeconds >= kLeast && it->timeoutSeconds <= kMost))
            return wrong(path + QStringLiteral(".timeout_seconds"),
                         QStringLiteral("must be from %1 to %2 seconds.").arg(kLeast).arg(kMost));
    }
    for (qsizetype i = 0; i < experiment.axes.size(); ++i) {
        const QString& knob = experiment.axes[i].knob;
        if (knob.startsWith(kCommandPrefix) && experiment.commandsOf(knob) == nullptr)
            return wrong(QStringLiteral("axes[%1].knob").arg(i),
                         QStringLiteral("%1 has no command lines: give them in the file as "
                                        "\"commands\": { \"%2\": { \"get\": \"...\", "
                                        "\"set\": \"...\" } }.")
                             .arg(knob, knob.mid(kCommandPrefix.size())));
    }
    return {};
}

// ---- matrix and plan

Result<void> checkExclusions(const Experiment& experiment) {
    for (qsizetype i = 0; i < experiment.exclude.size(); ++i) {
        const Exclusion& exclusion = experiment.exclude[i];
        const QString path = QStringLiteral("exclude[%1]").arg(i);
        if (exclusion.isEmpty())
            return wrong(path, QStringLiteral("empty: it would exclude everything."));
        for (auto it = exclusion.begin(); it != exclusion.end(); ++it) {
            const QString item = path + QLatin1Char('.') + it.key();
            bool axisFound = false;
            bool valueFound = true;
            for (const Axis& axis : experiment.axes) {
                if (axis.knob != it.key())
                    continue;
                axisFound = true;
                valueFound = valueFound && axis.values.contains(it.value());
            }
            if (!axisFound)
                return wrong(item,
                             QStringLiteral("no axis has this knob, so nothing is excluded."));
            if (!valueFound)
                return wrong(item, QStringLiteral("\"%1\" is no value of its axis, so nothing is "
                                                  "excluded.")
                                       .arg(it.value().text));
        }
    }
    return {};
}

Result<void> checkSize(const Experiment& experiment) {
    double combinations = 1;
    for (const Axis& axis : experiment.axes)
        combinations *= static_cast<double>(axis.values.size());
    // Exclusions are looked at one by one, so they do not make an endless matrix possible.
    if (combinations > 100.0 * kMaxCells)
        return wrong(QStringLiteral("axes"), QStringLiteral("%1 combinations are too many to look "
                                                            "at; give fewer values.")
                                                 .arg(combinations, 0, 'g', 4));
    const int cells = countCells(experiment);
    if (cells == 0)
        return wrong(QStringLiteral("exclude"), QStringLiteral("leaves no cell to measure."));
    if (cells > kMaxCells)
        return wrong(QStringLiteral("axes"),
                     QStringLiteral("more than %1 cells; give fewer values or exclude more.")
                         .arg(kMaxCells));
    return {};
}

Result<void> checkPlan(const PlanSpec& plan) {
    const QString repeats = QStringLiteral("plan.repeats");
    const bool fixed = plan.repeatsMin == plan.repeatsMax; // written as one number
    if (auto ok = checkWhole(fixed ? repeats : repeats + QStringLiteral(".min"), plan.repeatsMin, 1,
                             kMaxRepeats);
        !ok)
        return ok;
    if (auto ok = checkWhole(repeats + QStringLiteral(".max"), plan.repeatsMax, 1, kMaxRepeats);
        !ok)
        return ok;
    if (plan.repeatsMax < plan.repeatsMin)
        return wrong(QStringLiteral("plan.repeats"),
                     QStringLiteral("the most, %1, are fewer than the "
                                    "fewest, %2.")
                         .arg(plan.repeatsMax)
                         .arg(plan.repeatsMin));
    if (!(plan.confidenceLevel >= 0.5 && plan.confidenceLevel <= 0.9999))
        return wrong(QStringLiteral("plan.confidence.level"),
                     QStringLiteral("must be from 0.5 to 0.9999, such as 0.95."));
    if (!(plan.halfWidthPercent > 0 && plan.halfWidthPercent <= 100))
        return wrong(QStringLiteral("plan.confidence.half_width_percent"),
                     QStringLiteral("must be more than 0 and at most 100."));
    if (auto ok = checkSeconds(QStringLiteral("plan.pause_seconds"), plan.pauseSeconds); !ok)
        return ok;
    return checkWhole(QStringLiteral("plan.retries"), plan.retries, 0, 100);
}

} // namespace

Result<void> checkExperiment(const Experiment& experiment) {
    if (experiment.name.trimmed().isEmpty())
        return wrong(QStringLiteral("name"), QStringLiteral("must not be empty."));
    if (std::any_of(experiment.name.begin(), experiment.name.end(),
                    [](QChar c) { return c.category() == QChar::Other_Control; }))
        return wrong(QStringLiteral("name"),
                     QStringLiteral("has control characters; use one line of text."));
    if (experiment.name.size() > 200)
        return wrong(QStringLiteral("name"),
                     QStringLiteral("must be at most 200 characters long."));
    if (auto ok = checkHosts(experiment); !ok)
        return ok;
    if (auto ok = checkTest(experiment.test); !ok)
        return ok;
    for (qsizetype i = 0; i < experiment.axes.size(); ++i) {
        if (auto ok = checkAxis(experiment, i); !ok)
            return ok;
    }
    if (auto ok = checkCommands(experiment); !ok)
        return ok;
    if (auto ok = checkExclusions(experiment); !ok)
        return ok;
    if (auto ok = checkPlan(experiment.plan); !ok)
        return ok;
    return checkSize(experiment);
}

} // namespace knobscope
