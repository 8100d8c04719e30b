// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/experiment.h"

#include <algorithm>

namespace knobscope {

namespace {

/// With control characters written out.
QString visibleText(const QString& text) {
    QString visible;
    for (const QChar c : text) {
        const auto category = c.category();
        if (c == u'\n')
            visible += QStringLiteral("\\n");
        else if (category == QChar::Other_Control || category == QChar::Other_Format)
            visible += QStringLiteral("\\u%1").arg(c.unicode(), 4, 16, QLatin1Char('0'));
        else
            visible += c;
    }
    return visible;
}

} // namespace

QString HostSpec::label() const {
    return local ? QStringLiteral("this computer") : ssh;
}

const HostSpec& Experiment::host(HostRef which) const {
    const bool receives = which.side == Side::Receiver;
    if (which.number <= 1)
        return receives ? receiver : sender;
    return (receives ? moreReceivers : moreSenders).at(which.number - 2);
}

QList<HostSpec> Experiment::hosts(Side side) const {
    return side == Side::Receiver ? QList<HostSpec>{receiver} + moreReceivers
                                  : QList<HostSpec>{sender} + moreSenders;
}

int Experiment::hostCount(Side side) const {
    return 1 + static_cast<int>((side == Side::Receiver ? moreReceivers : moreSenders).size());
}

QList<HostRef> Experiment::hostRefs(Side side) const {
    const int count = hostCount(side);
    if (count == 1)
        return {HostRef(side)};
    QList<HostRef> refs;
    for (int number = 1; number <= count; ++number)
        refs.append(HostRef(side, number));
    return refs;
}

QList<HostRef> Experiment::hostRefs() const {
    return hostRefs(Side::Sender) + hostRefs(Side::Receiver);
}

int Experiment::instances() const {
    return std::max(hostCount(Side::Sender), hostCount(Side::Receiver));
}

HostRef Experiment::endOf(int instance, Side side) const {
    const int count = hostCount(side);
    return count == 1 ? HostRef(side) : HostRef(side, instance % count + 1);
}

QList<int> Experiment::instancesOf(HostRef which) const {
    QList<int> all;
    const bool whole = which.side == Side::Whole || which.number == 0;
    for (int instance = 0; instance < instances(); ++instance) {
        if (whole || endOf(instance, which.side) == which)
            all.append(instance);
    }
    return all;
}

bool Experiment::allLocal() const {
    const auto local = [](const HostSpec& host) { return host.local; };
    return sender.local && receiver.local &&
           std::all_of(moreSenders.begin(), moreSenders.end(), local) &&
           std::all_of(moreReceivers.begin(), moreReceivers.end(), local);
}

QString Experiment::sideLabel(Side side) const {
    QStringList labels;
    for (const HostSpec& host : hosts(side)) {
        if (!labels.contains(host.label()))
            labels.append(host.label());
    }
    return labels.join(QStringLiteral(", "));
}

const CommandKnob* Experiment::commandsOf(const QString& knob) const {
    if (!knob.startsWith(kCommandPrefix))
        return nullptr;
    const auto it = commands.constFind(knob.mid(kCommandPrefix.size()));
    return it == commands.constEnd() ? nullptr : &*it;
}

QStringList commandLines(const Experiment& experiment) {
    QStringList lines;
    for (const Axis& axis : experiment.axes) {
        const CommandKnob* knob = experiment.commandsOf(axis.knob);
        if (knob == nullptr)
            continue;
        for (const auto& [what, line] : {std::pair("get", knob->get), std::pair("set", knob->set),
                                         std::pair("restore", knob->restore)}) {
            // An escape would show something else than what runs.
            if (const QString text = visibleText(line); !text.isEmpty())
                lines.append(
                    QStringLiteral("%1 %2: %3").arg(axis.knob, QString::fromLatin1(what), text));
        }
    }
    return lines;
}

} // namespace knobscope
