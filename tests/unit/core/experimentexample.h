// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>

/// The documented example, in which rows replace one piece.
inline QByteArray example() {
    return R"({ "format": "knobscope-experiment", "version": 1, "name": "Window on the test link",
  "hosts": { "sender":   { "ssh": "host1", "address": "10.77.0.1", "interface": "test0" },
             "receiver": { "ssh": "host2", "address": "10.77.0.2", "interface": "test0" } },
  "test": { "kind": "tcp_stream", "backend": "builtin", "seconds": 2, "warmup_seconds": 0.2 },
  "axes": [ { "knob": "window", "side": "both", "values": ["32K", "64K", "256K", "auto"] },
            { "knob": "sysctl:net.ipv4.tcp_limit_output_bytes", "side": "sender", "values": [16384, 65536, 1048576] } ],
  "exclude": [ { "window": "32K", "sysctl:net.ipv4.tcp_limit_output_bytes": 1048576 } ],
  "plan": { "repeats": { "min": 5, "max": 30 }, "confidence": { "level": 0.95, "half_width_percent": 2.5 },
            "order": "blocks", "seed": 1 } }
)";
}

inline QByteArray replaced(const QByteArray& from, const QByteArray& to) {
    QByteArray text = example();
    const qsizetype at = text.indexOf(from);
    return at < 0 ? QByteArray() : text.replace(at, from.size(), to);
}
