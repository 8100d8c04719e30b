// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/knob.h"

#include <QList>

namespace knobscope {

/// What kind of value a knob takes.
enum class ValueKind {
    Size,   ///< number of bytes within limits
    Number, ///< whole number within limits
    Switch, ///< on or off
    Word,   ///< one of the listed words
    Name,   ///< a name that the host knows, such as cubic
    Ports,  ///< a range of ports: 40000-40100
    Text,   ///< anything printable, or what the pattern says: what a sysctl file takes
};

/// An entry of the knob catalogue (resources/knobs.json).
struct KnobEntry {
    KnobInfo info;
    ValueKind kind = ValueKind::Text;
    qint64 minimum = 0;
    qint64 maximum = 0;
    QStringList words;   ///< taken beside the kind's own values
    QStringList tests;   ///< kinds of test it fits; empty: all
    QStringList aliases; ///< other spellings of the name
    QString covers;      ///< the names it stands for, with '*' for any text; empty: only its own
    QString pattern;     ///< Text: what a value looks like; empty: anything printable
    QString form;        ///< the same in words: "a list of CPUs such as 0-3,8"

    // Of host knobs:
    QString mechanism; ///< how the agent reads and sets it: "ethtool rings: netlink, else ioctl"
    QString trap;      ///< what to know before it is set, one line; empty: nothing
    int rank = 0;      ///< order of application: lower is set first and put back last
    bool hostWide = false; ///< of the host as a whole, not of an interface
};

/// Host knobs with the same beginning of their names, such as sysctl: or ring:.
struct KnobFamily {
    QString prefix;
    KnobEntry entry; ///< what members have in common
    /// What a member's name looks like where only the host knows the names; empty: all members
    /// have entries of their own.
    QString names;
    QString member;  ///< such a name in messages: "NAME", "PATH"
    QString example; ///< a whole knob name: "sysctl:net.ipv4.tcp_rmem"
    QString title;   ///< of a member, with %1 for its name

    [[nodiscard]] bool isOpen() const { return !names.isEmpty(); }
};

struct KnobCatalogue {
    QList<KnobEntry> knobs; ///< in the order to show
    QList<KnobFamily> families;
};

/// The catalogue that is compiled in; constant, so any thread may read it.
[[nodiscard]] const KnobCatalogue& knobCatalogue();

/// The one spelling of a knob's name: "sysctl:net/ipv4/tcp_rmem" is "sysctl:net.ipv4.tcp_rmem",
/// "sysfs:/sys/class/net/eth0/mtu" is "sysfs:class/net/eth0/mtu".
/// What is no knob stays as it is.
[[nodiscard]] QString canonicalKnobName(const QString& name);

/// Whether two canonical names move the same setting ("feature:tso" and
/// "feature:tx-tcp-segmentation").
[[nodiscard]] bool sameSetting(const QString& knob, const QString& other);

/// Entry of any well-formed knob name, under its one spelling; absent for others.
[[nodiscard]] std::optional<KnobEntry> findKnob(const QString& name);

/// Whether the knob means something to a kind of test ("burst" needs tcp_rr). Host knobs always do.
[[nodiscard]] bool fitsTest(const KnobEntry& knob, const QString& testKind);

/// How messages and tables name a knob in few letters: "window", "tcp_rmem", "MTU", "ring rx".
[[nodiscard]] QString shortKnobName(const QString& name);

} // namespace knobscope
