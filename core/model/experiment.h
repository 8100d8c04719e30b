// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/hostref.h"

#include <QList>
#include <QMap>
#include <QMetaType>
#include <QStringList>

namespace knobscope {

/// One host of an experiment.
struct HostSpec {
    bool local = false; ///< this computer: the agent runs over a pipe
    QString ssh;        ///< else a name for ssh: "host1", "user@host1", "ssh://user@host1:2222"
    QString address;    ///< test address; traffic goes here, not to the control address
    QString interface;  ///< test interface; empty: found by the address

    [[nodiscard]] QString label() const; ///< "this computer" or the ssh name
    bool operator==(const HostSpec&) const = default;
};

struct TestSpec {
    QString kind =
        QStringLiteral("tcp_stream"); ///< tcp_stream, tcp_rr, tcp_crr, udp_stream, udp_rr
    QString backend = QStringLiteral("builtin");
    double seconds = 10;
    double warmupSeconds = 0;
    QMap<QString, KnobValue> options; ///< test knobs held fixed, both sides
    bool operator==(const TestSpec&) const = default;
};

struct Axis {
    QString knob;
    Side side = Side::Both;
    QList<KnobValue> values;
    bool operator==(const Axis&) const = default;
};

/// A knob of the user's own, "command:NAME": command lines that hosts run with /bin/sh -c, with
/// VALUE and INTERFACE in the environment.
struct CommandKnob {
    QString get; ///< prints the value
    QString set;
    QString restore; ///< puts VALUE back; empty: as `set`
    double timeoutSeconds = 10;
    bool operator==(const CommandKnob&) const = default;
};
inline const QString kCommandPrefix = QStringLiteral("command:");

/// Cells in which every named knob has the given value are left out.
using Exclusion = QMap<QString, KnobValue>;

struct PlanSpec {
    int repeatsMin = 5;
    int repeatsMax = 5; ///< equal to repeatsMin: a fixed number
    double confidenceLevel = 0.95;
    double halfWidthPercent = 2.5; ///< a cell stops here, once it has repeatsMin
    bool blocks = true;            ///< randomised blocks; else in matrix order
    quint64 seed = 1;
    double pauseSeconds = 0; ///< between samples
    int retries = 1;         ///< further attempts at a failed sample
    bool operator==(const PlanSpec&) const = default;
};

/// What is to be measured: the content of an experiment file.
///
/// A side may have several hosts. Traffic then runs in several instances of the test at once:
/// instance i (from 0) from sender i mod n to receiver i mod m, of n senders and m receivers.
/// Either n or m is 1, or both are equal; there are as many instances as the larger side has hosts.
struct Experiment {
    QString name;
    HostSpec sender; ///< the first host of its side, in most experiments the only one
    HostSpec receiver;
    QList<HostSpec> moreSenders; ///< the second host of the side and those that follow
    QList<HostSpec> moreReceivers;
    TestSpec test;
    QList<Axis> axes;
    QList<Exclusion> exclude;
    PlanSpec plan;
    QMap<QString, CommandKnob> commands; ///< by NAME

    /// Of a side as a whole: its first host.
    [[nodiscard]] const HostSpec& host(HostRef which) const;
    /// All hosts of the sender's or the receiver's side.
    [[nodiscard]] QList<HostSpec> hosts(Side side) const;
    [[nodiscard]] int hostCount(Side side) const;
    /// How the hosts of a side are called: number 0 alone, or 1 to n.
    [[nodiscard]] QList<HostRef> hostRefs(Side side) const;
    /// Of both sides, senders first.
    [[nodiscard]] QList<HostRef> hostRefs() const;
    [[nodiscard]] int instances() const;
    /// The host at one end of an instance.
    [[nodiscard]] HostRef endOf(int instance, Side side) const;
    /// The numbers of the instances that a host, or a side as a whole, takes part in.
    [[nodiscard]] QList<int> instancesOf(HostRef which) const;
    /// The command lines of a "command:NAME"; null for any other knob.
    [[nodiscard]] const CommandKnob* commandsOf(const QString& knob) const;
    /// Whether every host is this computer.
    [[nodiscard]] bool allLocal() const;
    /// "host1, host2": the labels of a side's hosts, each once.
    [[nodiscard]] QString sideLabel(Side side) const;
    bool operator==(const Experiment&) const = default;
};

/// The command lines that the axes run on hosts, in full, for a person to read before they are
/// allowed: one line each, "command:fan get: cat /run/fan". Empty when there are none.
[[nodiscard]] QStringList commandLines(const Experiment& experiment);

} // namespace knobscope

Q_DECLARE_METATYPE(knobscope::Experiment)
