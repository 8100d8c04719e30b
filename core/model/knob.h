// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/knobvalue.h"

#include <QStringList>

namespace knobscope {

/// Where a knob acts: Sender and Receiver are the two hosts of an experiment. (Whole: of the
/// sample rather than of a host; used by metrics, never by axes.)
enum class Side { Sender, Receiver, Both, Whole };
[[nodiscard]] QString sideName(Side side); ///< "sender", "receiver", "both", ""
[[nodiscard]] std::optional<Side> sideFromName(const QString& name);

/// Test knobs belong to a connection; host knobs to a host or interface and must be put back.
enum class KnobScope { Test, Host };

/// What is known of a knob before any host is asked.
struct KnobInfo {
    QString name; ///< as in the experiment file: "window", "sysctl:net.ipv4.tcp_rmem"
    KnobScope scope = KnobScope::Test;
    QString title;              ///< "Window", "tcp_rmem"
    QString unit;               ///< "bytes", "µs", "packets", "on/off", ""
    QString help;               ///< one line
    bool bothSidesOnly = false; ///< both ends must agree (burst, streams, request_size...)
    bool sizes = false;         ///< values are byte sizes: shown with K and M, log2 axis
};

/// Knob named in an experiment file: "window", "link:mtu", "sysctl:net.ipv4.tcp_rmem". An unknown
/// name is BadInput that says what is near it.
[[nodiscard]] Result<KnobInfo> knobInfo(const QString& name);

/// Checks one value against what the knob can take at all (a window is a size or auto; nodelay is
/// on or off). Whether a host takes it is found out by asking it. BadInput says what would do.
[[nodiscard]] Result<void> checkKnobValue(const KnobInfo& knob, const KnobValue& value);

/// Names for pickers, in the order to show: test knobs, then well-known host knobs.
[[nodiscard]] QStringList knownKnobNames();

} // namespace knobscope
