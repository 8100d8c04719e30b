// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/run/runstore.h"

#include <memory>

namespace knobscope {

/// The runs in one SQLite file (WAL, foreign keys on, synchronous FULL, schema versions in
/// user_version). An object belongs to the thread that opened it; other threads open their own.
class RunRepository : public RunStore {
public:
    /// Opens or makes the file and brings its schema up to date. A file of a newer version, no
    /// SQLite file, or one that cannot be written is Storage, and the file is left as it is.
    static Result<std::unique_ptr<RunRepository>> open(const QString& path);
    /// Opens an existing file for the calls that only read; makes none. Where file or folder cannot
    /// be written, the runs can be read all the same, unless a part of them lies in a write-ahead
    /// log that cannot be read there: that is an error rather than left out.
    static Result<std::unique_ptr<RunRepository>> openToRead(const QString& path);
    ~RunRepository() override;

    Result<qint64> createRun(const Experiment& experiment, const QList<Cell>& cells) override;
    /// Facts that differ from those stored for the host are added to them: a resumed run may find
    /// another kernel.
    Result<void> addHostFacts(qint64 run, const HostFacts& facts) override;
    Result<qint64> addSample(qint64 run, const SampleRecord& sample) override;
    /// A state other than Running ends this object's claim on the run.
    Result<void> setRunState(qint64 run, RunState state, const QString& message) override;
    Result<StoredRun> loadRun(qint64 run) override;
    Result<void> claimRun(qint64 run) override;

    /// Newest first.
    Result<QList<RunInfo>> listRuns();
    /// BadInput for a run that is being measured.
    Result<void> deleteRun(qint64 run);
    /// Empty when PRAGMA integrity_check and foreign_key_check find nothing.
    Result<QStringList> check();

    /// $XDG_DATA_HOME/knobscope/runs.db
    static QString defaultPath();

private:
    struct Parts;
    explicit RunRepository(std::unique_ptr<Parts> parts);
    void setResumable(RunInfo& info);
    std::unique_ptr<Parts> m_parts;
};

} // namespace knobscope
