// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/host/agentbinary.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>

#include <map>
#include <mutex>

namespace knobscope {

namespace {

const QString kPrefix = QStringLiteral("knobscope-agent-");

QList<QFileInfo> listAgents(const QStringList& folders) {
    // The name goes into a shell script: letters, digits and _ only.
    static const QRegularExpression archName(QStringLiteral("^[A-Za-z0-9_]+$"));
    QList<QFileInfo> found;
    QStringList seen;
    for (const QString& folder : folders) {
        const QFileInfoList entries = QDir(folder).entryInfoList(
            {kPrefix + QStringLiteral("*")}, QDir::Files | QDir::Readable, QDir::Name);
        for (const QFileInfo& entry : entries) {
            const QString arch = entry.fileName().mid(kPrefix.size());
            if (!archName.match(arch).hasMatch() || seen.contains(arch))
                continue;
            seen << arch;
            found << entry;
        }
    }
    return found;
}

/// A file's SHA-256, in hex; empty when it cannot be read. Kept for the life of the program: hosts
/// are reached by the dozen, and each wants it.
QByteArray hashOf(const QFileInfo& entry) {
    struct Known {
        qint64 size = 0;
        QDateTime changed;
        QByteArray sha256;
    };
    static std::mutex mutex;
    static std::map<QString, Known> files;
    const std::scoped_lock lock(mutex);
    Known& known = files[entry.absoluteFilePath()];
    // A program that is built anew is another file with another time.
    const QDateTime changed = std::max(entry.lastModified(), entry.metadataChangeTime());
    if (known.sha256.isEmpty() || known.size != entry.size() || known.changed != changed) {
        QFile file(entry.absoluteFilePath());
        QCryptographicHash hash(QCryptographicHash::Sha256);
        if (!file.open(QIODevice::ReadOnly) || !hash.addData(&file) || file.size() == 0)
            return {};
        known = {entry.size(), changed, hash.result().toHex()};
    }
    return known.sha256;
}

Error noAgents(const QStringList& folders) {
    return {Error::Code::HostUnusable, QStringLiteral("no agent program found"),
            QStringLiteral("looked for %1ARCHITECTURE in %2; set KNOBSCOPE_AGENT_DIR to the folder "
                           "that has it")
                .arg(kPrefix, folders.join(QStringLiteral(", ")))};
}

} // namespace

QStringList agentFolders() {
    QStringList folders;
    const QString chosen = qEnvironmentVariable("KNOBSCOPE_AGENT_DIR");
    if (!chosen.isEmpty())
        folders << chosen;
    if (QCoreApplication::instance()) {
        const QDir program(QCoreApplication::applicationDirPath());
        for (const char* place : {".", "../libexec/knobscope", "../lib/knobscope"})
            folders << QDir::cleanPath(program.absoluteFilePath(QString::fromLatin1(place)));
    }
    return folders;
}

Result<QList<AgentBinary>> findAgents(const QStringList& folders) {
    QList<AgentBinary> agents;
    for (const QFileInfo& entry : listAgents(folders)) {
        const QByteArray sha256 = hashOf(entry);
        if (sha256.isEmpty())
            return fail(
                Error::Code::HostUnusable,
                QStringLiteral("cannot read the agent program %1").arg(entry.absoluteFilePath()));
        agents << AgentBinary{entry.fileName().mid(kPrefix.size()), entry.absoluteFilePath(),
                              entry.size(), sha256};
    }
    if (agents.isEmpty())
        return tl::unexpected<Error>(noAgents(folders));
    return agents;
}

Result<QString> agentPathFor(const QString& arch, const QStringList& folders) {
    QStringList supported;
    for (const QFileInfo& entry : listAgents(folders)) {
        supported << entry.fileName().mid(kPrefix.size());
        if (supported.last() == arch)
            return entry.absoluteFilePath();
    }
    if (supported.isEmpty())
        return tl::unexpected<Error>(noAgents(folders));
    return tl::unexpected<Error>(noAgentFor(QStringLiteral("this computer"), arch, supported));
}

Error noAgentFor(const QString& host, const QString& arch, const QStringList& supported) {
    return {Error::Code::HostUnusable,
            QStringLiteral("%1 is a %2 machine, and there is no agent for it").arg(host, arch),
            QStringLiteral("supported: %1").arg(supported.join(QStringLiteral(", ")))};
}

} // namespace knobscope
