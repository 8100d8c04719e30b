// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/models/runlistmodel.h"

#include "app/gui/format.h"
#include "app/gui/icons.h"

namespace knobscope {
namespace {

QString hostsText(const RunInfo& run) {
    return run.sender == run.receiver ? run.sender
                                      : run.sender + QStringLiteral(" → ") + run.receiver;
}

QString samplesText(const RunInfo& run) {
    QString text = QStringLiteral("%1 of %2")
                       .arg(run.samplesDone)
                       .arg(std::max(run.samplesPlanned, run.samplesDone));
    if (run.samplesFailed > 0)
        text += RunListModel::tr(", %1 failed").arg(run.samplesFailed);
    return text;
}

QString knobsText(const RunInfo& run) {
    QStringList titles;
    for (const QString& knob : run.knobs)
        titles.append(knobTitle(knob));
    return titles.join(QStringLiteral(", "));
}

QVariant sortValue(const RunInfo& run, int column) {
    if (column == RunListModel::Started)
        return run.started;
    if (column == RunListModel::Samples)
        return run.samplesDone;
    return {};
}

} // namespace

QString stateText(const RunInfo& run) {
    switch (run.state) {
    case RunState::Running:
        return run.resumable ? RunListModel::tr("interrupted") : RunListModel::tr("running");
    case RunState::Finished:
        return RunListModel::tr("finished");
    case RunState::Failed:
        return RunListModel::tr("failed");
    case RunState::Cancelled:
        return RunListModel::tr("stopped");
    }
    return {};
}

const char* stateIcon(const RunInfo& run) {
    switch (run.state) {
    case RunState::Running:
        return run.resumable ? "warning" : "start";
    case RunState::Finished:
        return "ok";
    case RunState::Failed:
        return "failed";
    case RunState::Cancelled:
        break;
    }
    return "stop";
}

void RunListModel::setRuns(const QList<RunInfo>& runs) {
    beginResetModel();
    m_runs = runs;
    endResetModel();
}

const RunInfo* RunListModel::runAt(int row) const {
    return row >= 0 && row < m_runs.size() ? &m_runs[row] : nullptr;
}

int RunListModel::rowOf(qint64 run) const {
    for (int row = 0; row < m_runs.size(); ++row) {
        if (m_runs[row].id == run)
            return row;
    }
    return -1;
}

int RunListModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_runs.size());
}

int RunListModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : ColumnCount;
}

QVariant RunListModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const RunInfo& run = m_runs[index.row()];
    if (role == Qt::DecorationRole && index.column() == State)
        return icon(stateIcon(run));
    if (role == Qt::ToolTipRole)
        return run.message.isEmpty() ? QVariant() : run.message;
    if (role == kSortRole) {
        if (const QVariant value = sortValue(run, index.column()); value.isValid())
            return value;
    }
    if (role != Qt::DisplayRole && role != kSortRole)
        return {};
    switch (index.column()) {
    case Name:
        return run.name;
    case State:
        return stateText(run);
    case Started:
        return timeText(run.started);
    case Hosts:
        return hostsText(run);
    case Knobs:
        return knobsText(run);
    case Samples:
        return samplesText(run);
    default:
        return {};
    }
}

QVariant RunListModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Name:
        return tr("Name");
    case State:
        return tr("State");
    case Started:
        return tr("Started");
    case Hosts:
        return tr("Hosts");
    case Knobs:
        return tr("Knobs");
    case Samples:
        return tr("Samples");
    default:
        return {};
    }
}

} // namespace knobscope
