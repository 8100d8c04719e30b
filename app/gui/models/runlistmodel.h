// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/run.h"

#include <QAbstractTableModel>

namespace knobscope {

/// The runs of a database, one a row.
class RunListModel : public QAbstractTableModel {
    Q_OBJECT
public:
    enum Column { Name, State, Started, Hosts, Knobs, Samples, ColumnCount };
    /// Sorts by this role: times and numbers rather than their text.
    static constexpr int kSortRole = Qt::UserRole;

    using QAbstractTableModel::QAbstractTableModel;

    void setRuns(const QList<RunInfo>& runs);
    [[nodiscard]] const RunInfo* runAt(int row) const; ///< null: no such row
    [[nodiscard]] int rowOf(qint64 run) const;         ///< -1: not there

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation,
                                      int role) const override;

private:
    QList<RunInfo> m_runs;
};

/// "finished", "stopped: can be resumed"... for lists and headings.
[[nodiscard]] QString stateText(const RunInfo& run);
/// Name of an icon for it.
[[nodiscard]] const char* stateIcon(const RunInfo& run);

} // namespace knobscope
