// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/json.h"

#include <QByteArray>
#include <QString>

/// Knobs that every network namespace has of its own, for tests to set.
inline constexpr const char* kLimit = "net/ipv4/tcp_limit_output_bytes";
inline constexpr const char* kCorking = "net/ipv4/tcp_autocorking";
inline constexpr const char* kLimitKnob = "sysctl:net.ipv4.tcp_limit_output_bytes";
inline constexpr const char* kCorkingKnob = "sysctl:net.ipv4.tcp_autocorking";

/// A KnobSetting (or, without its value, a KnobTarget).
knobscope::Json setting(const char* name, const char* value, const char* interface = "");

template<typename... Settings>
knobscope::Json listOf(const Settings&... settings) {
    knobscope::Json list = knobscope::Json::array();
    (list.push_back(settings), ...);
    return list;
}

/// Sets a /proc/sys file past the agent; false: refused.
bool writeSysctl(const char* path, const QByteArray& value);
/// As the kernel tells it; /sys shows the namespace it was mounted in.
QByteArray loopbackMtu();

/// The values of those knobs as they are to be again after each test.
struct KnobValues {
    QByteArray limit;
    QByteArray corking;
    QByteArray mtu;
    static KnobValues now();
    /// One text, to compare.
    [[nodiscard]] QString text() const;
};
