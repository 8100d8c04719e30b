// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/recovery.h"

namespace knobscope {

ExitStatus Recovery::status() const {
    if (error && error->code == Error::Code::Cancelled)
        return ExitStatus::Cancelled;
    if (error && error->code == Error::Code::BadInput)
        return ExitStatus::BadInput;
    if (error)
        return ExitStatus::HostUnusable;
    if (!notRestored.isEmpty())
        return ExitStatus::KnobNotRestored;
    return inUse ? ExitStatus::HostUnusable : ExitStatus::AllWell;
}

Recovery recoverHost(const HostSpec& host, const HostOptions& options, const CancelToken& cancel,
                     HostSteps* steps) {
    Recovery recovery;
    const auto session = HostSession::open(host, options, cancel, steps);
    if (!session) {
        recovery.error = session.error();
        return recovery;
    }
    recovery.undone = (*session)->hello().recovered;
    for (const protocol::UndoReport& undo : recovery.undone) {
        if (!undo.restored)
            recovery.notRestored << undoFailureText(host.label(), undo);
    }
    if (const auto free = agentcalls::claim(**session, false).get(); !free)
        recovery.inUse = free.error();
    return recovery;
}

QStringList recoveryLines(const Recovery& recovery) {
    QStringList lines;
    for (const protocol::UndoReport& undo : recovery.undone) {
        if (!undo.restored)
            continue;
        const QString name = undo.interface.empty()
                                 ? QString::fromStdString(undo.name)
                                 : QStringLiteral("%1 of %2")
                                       .arg(QString::fromStdString(undo.name),
                                            QString::fromStdString(undo.interface));
        const QString original = QString::fromStdString(undo.original);
        lines << (undo.found == undo.original
                      ? QStringLiteral("%1 was already back at %2").arg(name, original)
                      : QStringLiteral("%1 is back to %2").arg(name, original));
    }
    if (recovery.undone.empty() && !recovery.inUse && !recovery.error)
        lines << QStringLiteral("nothing was left to put back");
    return lines;
}

} // namespace knobscope
