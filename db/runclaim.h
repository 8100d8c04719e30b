// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/result.h"

#include <QSet>

namespace knobscope {

/// Says which runs are being measured right now, in a way that ends with the process however it
/// dies: locks of the open file description, byte n for run n, on an empty file FILE.lock beside
/// the database. That file is never removed, since a removed file's locks hold nobody off.
class RunClaims {
public:
    explicit RunClaims(const QString& databasePath);
    ~RunClaims();
    RunClaims(const RunClaims&) = delete;
    RunClaims& operator=(const RunClaims&) = delete;

    /// BadInput when someone else has the run; no error when this object has it already.
    Result<void> claim(qint64 run);
    void release(qint64 run);
    [[nodiscard]] bool holds(qint64 run) const { return m_held.contains(run); }
    /// Claimed by anyone, this object included. An error where it cannot be found out.
    Result<bool> claimed(qint64 run);

private:
    Result<void> openFile();
    QString m_path;
    int m_file = -1;
    QSet<qint64> m_held;
};

} // namespace knobscope
