// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/matrix.h"

#include "core/model/knobcatalogue.h"

#include <QSet>

#include <algorithm>

namespace knobscope {

namespace {

/// Combinations that are looked at, exclusions included: bounds the time of a senseless matrix.
constexpr int kMaxCombinations = 1000000;

/// A knob that has an axis for each side is excluded where both have the value.
bool excludes(const Exclusion& exclusion, const QList<Axis>& axes, const QList<KnobValue>& values) {
    if (exclusion.isEmpty())
        return false;
    for (auto it = exclusion.begin(); it != exclusion.end(); ++it) {
        bool found = false;
        for (qsizetype i = 0; i < axes.size(); ++i) {
            if (axes[i].knob != it.key())
                continue;
            if (!(values[i] == it.value()))
                return false;
            found = true;
        }
        if (!found)
            return false;
    }
    return true;
}

/// Counts `position` one up, the last axis fastest. False after the last combination.
bool advance(QList<qsizetype>& position, const QList<Axis>& axes) {
    for (qsizetype i = axes.size() - 1; i >= 0; --i) {
        if (++position[i] < axes[i].values.size())
            return true;
        position[i] = 0;
    }
    return false;
}

/// Axis and number of a value, for each that an exclusion names.
using Places = QList<std::pair<qsizetype, qsizetype>>;

/// The exclusions that can exclude something.
QList<Places> placesOf(const Experiment& experiment) {
    QList<Places> all;
    for (const Exclusion& exclusion : experiment.exclude) {
        Places places;
        QSet<QString> found;
        bool possible = !exclusion.isEmpty();
        for (qsizetype i = 0; i < experiment.axes.size(); ++i) {
            const Axis& axis = experiment.axes[i];
            const auto value = exclusion.find(axis.knob);
            if (value == exclusion.end())
                continue;
            found.insert(axis.knob);
            places.append({i, axis.values.indexOf(*value)});
            possible = possible && places.last().second >= 0;
        }
        if (possible && found.size() == exclusion.size())
            all.append(places);
    }
    return all;
}

/// The first of the hosts that have the same setting: each its own, unless all are this computer.
HostRef settingOwner(const Experiment& experiment, const KnobEntry& knob, HostRef host) {
    if (!experiment.allLocal())
        return host;
    const QList<HostRef> all = experiment.hostRefs();
    return *std::find_if(all.begin(), all.end(), [&](HostRef other) {
        return knob.hostWide || experiment.host(other).interface == experiment.host(host).interface;
    });
}

bool actsOn(const Axis& axis, Side side) {
    return axis.side == Side::Both || axis.side == side;
}

} // namespace

QList<Cell> expandMatrix(const Experiment& experiment) {
    const QList<Axis>& axes = experiment.axes;
    if (std::any_of(axes.begin(), axes.end(), [](const Axis& a) { return a.values.isEmpty(); }))
        return {};
    QList<Cell> cells;
    QList<qsizetype> position(axes.size(), 0);
    for (int seen = 0; seen < kMaxCombinations && cells.size() <= kMaxCells; ++seen) {
        Cell cell;
        cell.index = static_cast<int>(cells.size());
        for (qsizetype i = 0; i < axes.size(); ++i)
            cell.values << axes[i].values[position[i]];
        const bool left = std::none_of(
            experiment.exclude.begin(), experiment.exclude.end(),
            [&](const Exclusion& exclusion) { return excludes(exclusion, axes, cell.values); });
        if (left)
            cells << cell;
        if (!advance(position, axes))
            break;
    }
    return cells;
}

int countCells(const Experiment& experiment) {
    const QList<Axis>& axes = experiment.axes;
    double combinations = 1;
    for (const Axis& axis : axes)
        combinations *= static_cast<double>(axis.values.size());
    if (experiment.exclude.isEmpty())
        return static_cast<int>(std::min(combinations, kMaxCells + 1.0));
    const QList<Places> excluded = placesOf(experiment);
    QList<qsizetype> position(axes.size(), 0);
    int cells = 0;
    for (int seen = 0; combinations > 0 && seen < kMaxCombinations && cells <= kMaxCells; ++seen) {
        const auto matches = [&](const Places& places) {
            return std::all_of(places.begin(), places.end(), [&](const auto& place) {
                return position[place.first] == place.second;
            });
        };
        if (std::none_of(excluded.begin(), excluded.end(), matches))
            ++cells;
        if (!advance(position, axes))
            break;
    }
    return cells;
}

QString cellLabel(const Experiment& experiment, const Cell& cell) {
    QStringList parts;
    const qsizetype count = std::min(experiment.axes.size(), cell.values.size());
    for (qsizetype i = 0; i < count; ++i) {
        const Axis& axis = experiment.axes[i];
        const auto twins = std::count_if(experiment.axes.begin(), experiment.axes.end(),
                                         [&](const Axis& a) { return a.knob == axis.knob; });
        const QString side = twins > 1 ? sideName(axis.side) + QLatin1Char(' ') : QString();
        parts << side + shortKnobName(axis.knob) + QLatin1Char(' ') + cell.values[i].text;
    }
    return parts.isEmpty() ? QStringLiteral("the only cell") : parts.join(QStringLiteral(", "));
}

QList<HostSetting> hostSettings(const Experiment& experiment, const Cell& cell) {
    QList<HostSetting> settings;
    const qsizetype count = std::min(experiment.axes.size(), cell.values.size());
    for (qsizetype i = 0; i < count; ++i) {
        const Axis& axis = experiment.axes[i];
        const auto knob = findKnob(axis.knob);
        if (!knob || knob->info.scope != KnobScope::Host)
            continue;
        QList<HostRef> owners;
        for (const HostRef host : experiment.hostRefs()) {
            const HostRef owner = settingOwner(experiment, *knob, host);
            if (!actsOn(axis, host.side) || owners.contains(owner))
                continue;
            owners.append(owner);
            settings << HostSetting{owner, axis.knob, cell.values[i]};
        }
    }
    return settings;
}

QMap<QString, KnobValue> testSettings(const Experiment& experiment, const Cell& cell, Side side) {
    QMap<QString, KnobValue> settings = experiment.test.options;
    const qsizetype count = std::min(experiment.axes.size(), cell.values.size());
    for (qsizetype i = 0; i < count; ++i) {
        const Axis& axis = experiment.axes[i];
        const auto knob = findKnob(axis.knob);
        if (knob && knob->info.scope == KnobScope::Test && actsOn(axis, side))
            settings[axis.knob] = cell.values[i];
    }
    return settings;
}

} // namespace knobscope
