// SPDX-License-Identifier: GPL-3.0-or-later
// The part of an execution that puts knobs back and keeps account of what is back.
#include "core/run/agentcalls.h"
#include "core/run/runexecution.h"

namespace knobscope {

void RunExecution::restoreKnobs() {
    emit m_controller.phaseChanged(QStringLiteral("Putting the knobs back"));
    std::vector<std::pair<HostRef, Pending<std::vector<protocol::UndoReport>>>> pending;
    for (const HostRef host : m_hosts->hosts()) {
        HostSession& session = m_hosts->at(host);
        if (!session.lost()) {
            pending.emplace_back(host, agentcalls::restoreKnobs(session));
            continue;
        }
        m_unverified.append(
            QStringLiteral("%1: contact lost; its guardian, if it lives, puts the knobs back "
                           "within %2 s (knobscope-cli recover %1 makes sure of it)")
                .arg(session.label())
                .arg(m_options.lease.count()));
        emit m_controller.logged(m_unverified.last());
    }
    for (auto& [host, answer] : pending) {
        const auto reports = answer.get();
        if (reports)
            noteUndo(m_hosts->at(host).label(), *reports);
        else
            noteUnknown(host, reports.error());
    }
}

/// No word that the knobs are back: what was set may still stand.
void RunExecution::noteUnknown(HostRef which, const Error& error) {
    const QString host = m_hosts->at(which).label();
    QMap<QString, QString> originals;
    for (const SampleRecord& sample : m_run.samples) {
        for (const KnobState& knob : sample.knobs) {
            if (knob.host == which && knob.original)
                originals.insert(knob.knob, *knob.original);
        }
    }
    for (auto it = originals.cbegin(); it != originals.cend(); ++it)
        m_notRestored.append(
            QStringLiteral("%1: no word that %2 is back: look whether it is \"%3\" and set it by "
                           "hand if not (%4)")
                .arg(host, it.key(), it.value(), error.text()));
    emit m_controller.logged(
        QStringLiteral("%1: no word that the knobs are back (%2)").arg(host, error.text()));
}

void RunExecution::noteUndo(const QString& host, const std::vector<protocol::UndoReport>& reports) {
    for (const protocol::UndoReport& report : reports) {
        const QString knob = QString::fromStdString(report.name);
        if (report.interface_gone)
            continue; // of an earlier run; the checks have told
        if (!report.restored) {
            const QString text = undoFailureText(host, report);
            m_notRestored.append(text);
            emit m_controller.logged(text);
            continue;
        }
        emit m_controller.logged(QStringLiteral("%1: %2 is back to %3")
                                     .arg(host, knob, QString::fromStdString(report.original)));
        if (!report.note.empty())
            emit m_controller.logged(
                QStringLiteral("%1: %2: %3").arg(host, knob, QString::fromStdString(report.note)));
        if (report.changed_by_other)
            emit m_controller.logged(
                QStringLiteral("%1: somebody else had changed %2 to %3 during the run")
                    .arg(host, knob, QString::fromStdString(report.found.value_or("?"))));
    }
}

/// Whichever agent of a host starts first puts back what a dead one had left.
void RunExecution::noteRecovered() {
    for (const HostRef host : m_hosts->hosts()) {
        for (const HostSession* agent : m_hosts->agents(host))
            noteUndo(agent->label(), agent->hello().recovered);
    }
}

} // namespace knobscope
