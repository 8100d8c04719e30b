// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/knob.h"

#include <QList>
#include <QMap>
#include <QMetaType>

namespace knobscope {

/// One of the two hosts of an experiment.
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
struct Experiment {
    QString name;
    HostSpec sender;
    HostSpec receiver;
    TestSpec test;
    QList<Axis> axes;
    QList<Exclusion> exclude;
    PlanSpec plan;

    [[nodiscard]] const HostSpec& host(Side side) const {
        return side == Side::Receiver ? receiver : sender;
    }
    bool operator==(const Experiment&) const = default;
};

} // namespace knobscope

Q_DECLARE_METATYPE(knobscope::Experiment)
