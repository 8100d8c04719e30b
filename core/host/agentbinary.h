// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/result.h"

#include <QByteArray>
#include <QList>
#include <QStringList>

namespace knobscope {

/// One build of the agent that lies on this computer, ready to be brought to hosts.
struct AgentBinary {
    QString arch; ///< as uname -m says it
    QString path;
    qint64 size = 0;
    QByteArray sha256; ///< hex
};

/// Where agents may lie, first match wins: $KNOBSCOPE_AGENT_DIR, beside the program,
/// ../libexec/knobscope, ../lib/knobscope.
[[nodiscard]] QStringList agentFolders();

/// All builds there, one an architecture, hashed. HostUnusable when there is none.
[[nodiscard]] Result<QList<AgentBinary>> findAgents(const QStringList& folders = agentFolders());

/// The path of the build for this architecture, not hashed. HostUnusable names what there is.
[[nodiscard]] Result<QString> agentPathFor(const QString& arch,
                                           const QStringList& folders = agentFolders());

/// The error for a host whose architecture has no build.
[[nodiscard]] Error noAgentFor(const QString& host, const QString& arch,
                               const QStringList& supported);

} // namespace knobscope
