// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/error.h"
#include "agents/agent/kernel/knobs.h"
#include "tests/unit/agent/kernelnamespace.h"

#include <QString>

/// What the tests of real knobs have in common: the veth pair kv0, kv1 and short calls.
namespace knobscope::test {

/// What went wrong, or an empty text.
template<typename Call>
QString errorOf(Call call) {
    try {
        call();
    } catch (const agent::AgentError& error) {
        return error.code() == protocol::errorcode::kKnob ? QString::fromStdString(error.what())
                                                          : QStringLiteral("wrong code");
    }
    return {};
}

inline QString writeError(const QByteArray& name, const QByteArray& value,
                          const QByteArray& interface) {
    agent::KnobHost host;
    return errorOf([&] {
        agent::writeKnob(host, {name.toStdString(), interface.toStdString()}, value.toStdString());
    });
}

inline QString readError(const QByteArray& name, const QByteArray& interface) {
    agent::KnobHost host;
    return errorOf([&] {
        (void)agent::readKnob(host, {name.toStdString(), interface.toStdString()});
    });
}

/// Of kv0, where the knob belongs to an interface.
inline QByteArray readValue(const char* name, const char* interface = "kv0") {
    agent::KnobHost host;
    return QByteArray::fromStdString(agent::readKnob(host, {name, interface}));
}

inline QByteArray run(const QString& command) {
    QStringList words = command.split(u' ');
    const QString program = words.takeFirst();
    return witness(program, words);
}

inline void makeVeth() {
    (void)run(QStringLiteral("ip link add name kv0 type veth peer name kv1"));
}

} // namespace knobscope::test
