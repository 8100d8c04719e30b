// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/runrepository.h"

#include "core/model/experimentfile.h"
#include "db/columns.h"
#include "db/databasefile.h"
#include "db/runclaim.h"
#include "db/runreader.h"
#include "db/samplewriter.h"
#include "db/schema.h"

#include <QStandardPaths>

namespace knobscope {

struct RunRepository::Parts {
    explicit Parts(std::unique_ptr<Database> opened)
        : database(std::move(opened)), dictionary(*database), claims(database->path()) {}

    /// Does `work` in one transaction; nothing of it stays when it fails.
    template<typename T>
    Result<T> inTransaction(Transaction::Kind kind, const std::function<Result<T>()>& work) {
        const auto transaction = Transaction::begin(*database, kind);
        if (!transaction)
            return tl::unexpected(transaction.error());
        auto result = work();
        if (result) {
            if (auto done = (*transaction)->commit(); !done)
                result = tl::unexpected(done.error());
        }
        if (!result)
            dictionary.forget();
        return result;
    }

    /// BadInput when there is no such run.
    Result<void> requireRun(qint64 run) {
        const auto found = database->value("SELECT 1 FROM run WHERE id = ?", {run});
        if (!found)
            return tl::unexpected(found.error());
        if (!*found)
            return fail(Error::Code::BadInput, QStringLiteral("There is no run %1").arg(run),
                        QStringLiteral("see the list of runs in %1").arg(database->path()));
        return {};
    }

    std::unique_ptr<Database> database;
    Dictionary dictionary;
    RunClaims claims;
};

namespace {

Result<void> writeAxes(Database& database, qint64 run, const QList<Axis>& axes) {
    for (qsizetype i = 0; i < axes.size(); ++i) {
        if (auto done =
                database.exec("INSERT INTO run_axis (run, axis, knob, side) VALUES (?, ?, ?, ?)",
                              {run, i, sqlText(axes[i].knob), sideCode(axes[i].side)});
            !done)
            return done;
    }
    return {};
}

Result<void> writeCell(Database& database, qint64 run, const Cell& cell) {
    if (auto done = database.exec("INSERT INTO cell (run, cell) VALUES (?, ?)", {run, cell.index});
        !done)
        return done;
    for (qsizetype axis = 0; axis < cell.values.size(); ++axis) {
        if (auto done = database.exec(
                "INSERT INTO cell_knob (run, cell, axis, requested) VALUES (?, ?, ?, ?)",
                {run, cell.index, axis, sqlText(cell.values[axis].text)});
            !done)
            return done;
    }
    return {};
}

/// Cells must stand in the order of their index and have a value for each axis.
Result<void> checkCells(const Experiment& experiment, const QList<Cell>& cells) {
    for (qsizetype i = 0; i < cells.size(); ++i) {
        if (cells[i].index != i || cells[i].values.size() != experiment.axes.size())
            return fail(Error::Code::BadInput,
                        QStringLiteral("Cell %1 does not fit the experiment").arg(i));
    }
    return {};
}

Result<void> writeHost(Database& database, Dictionary& dictionary, qint64 run,
                       const HostFacts& facts) {
    const auto host = database.insert("INSERT INTO run_host (run, side, label) VALUES (?, ?, ?)",
                                      {run, sideCode(facts.host), sqlText(facts.label)});
    if (!host)
        return tl::unexpected(host.error());
    for (auto fact = facts.facts.cbegin(); fact != facts.facts.cend(); ++fact) {
        const auto name = dictionary.nameId(fact.key());
        if (!name)
            return tl::unexpected(name.error());
        if (auto done = database.exec("INSERT INTO host_fact (host, name, value) VALUES (?, ?, ?)",
                                      {*host, *name, sqlText(fact.value())});
            !done)
            return done;
    }
    return {};
}

} // namespace

RunRepository::RunRepository(std::unique_ptr<Parts> parts) : m_parts(std::move(parts)) {}

RunRepository::~RunRepository() = default;

QString RunRepository::defaultPath() {
    return QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) +
           QStringLiteral("/knobscope/runs.db");
}

Result<std::unique_ptr<RunRepository>> RunRepository::open(const QString& path) {
    if (auto size = checkSize(path); !size)
        return tl::unexpected(size.error());
    auto database = Database::open(path);
    if (!database)
        return tl::unexpected(database.error());
    if (auto ready = bringUpToDate(**database, migrations()); !ready)
        return tl::unexpected(ready.error());
    if (auto there = (*database)->stillThere(); !there)
        return tl::unexpected(there.error());
    return std::unique_ptr<RunRepository>(
        new RunRepository(std::make_unique<Parts>(std::move(*database))));
}

Result<std::unique_ptr<RunRepository>> RunRepository::openToRead(const QString& path) {
    auto database = openFileToRead(path);
    if (!database)
        return tl::unexpected(database.error());
    if (!*database)
        return open(path);
    if (auto ready = requireUpToDate(**database, migrations()); !ready)
        return tl::unexpected(ready.error());
    return std::unique_ptr<RunRepository>(
        new RunRepository(std::make_unique<Parts>(std::move(*database))));
}

Result<qint64> RunRepository::createRun(const Experiment& experiment, const QList<Cell>& cells) {
    // What could not be read back must not be stored.
    if (auto checked = checkExperiment(experiment); !checked)
        return tl::unexpected(checked.error());
    if (auto checked = checkCells(experiment, cells); !checked)
        return tl::unexpected(checked.error());
    return m_parts->inTransaction<qint64>(Transaction::Kind::Write, [&]() -> Result<qint64> {
        Database& database = *m_parts->database;
        const auto run = database.insert(
            "INSERT INTO run (name, experiment, state, message, started_ms, test_kind, sender, "
            "receiver, cells, samples_min, samples_max) VALUES (?, ?, ?, '', ?, ?, ?, ?, ?, ?, ?)",
            {sqlText(experiment.name), QString::fromUtf8(writeExperiment(experiment)),
             runStateName(RunState::Running), sqlTime(QDateTime::currentDateTimeUtc()),
             sqlText(experiment.test.kind), sqlText(experiment.sideLabel(Side::Sender)),
             sqlText(experiment.sideLabel(Side::Receiver)), cells.size(),
             cells.size() * experiment.plan.repeatsMin, cells.size() * experiment.plan.repeatsMax});
        if (!run)
            return run;
        if (auto done = writeAxes(database, *run, experiment.axes); !done)
            return tl::unexpected(done.error());
        for (const Cell& cell : cells) {
            if (auto done = writeCell(database, *run, cell); !done)
                return tl::unexpected(done.error());
        }
        return run;
    });
}

Result<void> RunRepository::addHostFacts(qint64 run, const HostFacts& facts) {
    return m_parts->inTransaction<void>(Transaction::Kind::Write, [&]() -> Result<void> {
        if (auto found = m_parts->requireRun(run); !found)
            return found;
        const auto stored = readHosts(*m_parts->database, m_parts->dictionary, run);
        if (!stored)
            return tl::unexpected(stored.error());
        for (auto host = stored->crbegin(); host != stored->crend(); ++host) {
            if (host->host != facts.host)
                continue;
            if (host->label == facts.label && host->facts == facts.facts)
                return {};
            break;
        }
        return writeHost(*m_parts->database, m_parts->dictionary, run, facts);
    });
}

Result<qint64> RunRepository::addSample(qint64 run, const SampleRecord& sample) {
    const auto id =
        m_parts->inTransaction<qint64>(Transaction::Kind::Write, [&]() -> Result<qint64> {
            const auto cell = m_parts->database->value(
                "SELECT 1 FROM cell WHERE run = ? AND cell = ?", {run, sample.cell});
            if (!cell)
                return tl::unexpected(cell.error());
            if (!*cell)
                return fail(
                    Error::Code::BadInput,
                    QStringLiteral("There is no cell %1 in run %2").arg(sample.cell).arg(run));
            return writeSample(*m_parts->database, m_parts->dictionary, run, sample);
        });
    // Reported as done is only what can be found again.
    if (auto there = m_parts->database->stillThere(); id && !there)
        return tl::unexpected(there.error());
    return id;
}

Result<void> RunRepository::setRunState(qint64 run, RunState state, const QString& message) {
    auto done = m_parts->inTransaction<void>(Transaction::Kind::Write, [&]() -> Result<void> {
        if (auto found = m_parts->requireRun(run); !found)
            return found;
        const QDateTime ended =
            state == RunState::Running ? QDateTime() : QDateTime::currentDateTimeUtc();
        return m_parts->database->exec(
            "UPDATE run SET state = ?, message = ?, ended_ms = ? WHERE id = ?",
            {runStateName(state), sqlText(message), sqlTime(ended), run});
    });
    if (done && state != RunState::Running)
        m_parts->claims.release(run);
    return done;
}

Result<StoredRun> RunRepository::loadRun(qint64 run) {
    auto stored = m_parts->inTransaction<StoredRun>(Transaction::Kind::Read, [&] {
        return readRun(*m_parts->database, m_parts->dictionary, run);
    });
    if (stored)
        setResumable(stored->info);
    return stored;
}

Result<void> RunRepository::claimRun(qint64 run) {
    if (auto found = m_parts->requireRun(run); !found)
        return found;
    return m_parts->claims.claim(run);
}

void RunRepository::setResumable(RunInfo& info) {
    if (!info.resumable)
        return;
    // Where the lock cannot be examined, resuming would fail at the claim: not resumable.
    const auto claimed = m_parts->claims.claimed(info.id);
    info.resumable = claimed && !*claimed;
}

Result<QList<RunInfo>> RunRepository::listRuns() {
    auto runs = m_parts->inTransaction<QList<RunInfo>>(
        Transaction::Kind::Read, [&] { return readRunList(*m_parts->database); });
    if (runs) {
        for (RunInfo& info : *runs)
            setResumable(info);
    }
    return runs;
}

Result<void> RunRepository::deleteRun(qint64 run) {
    if (m_parts->claims.holds(run))
        return fail(Error::Code::BadInput, QStringLiteral("Run %1 is being measured").arg(run),
                    QStringLiteral("stop it first"));
    // Holding the claim keeps others from measuring it while it goes.
    if (auto claimed = claimRun(run); !claimed)
        return claimed;
    auto done = m_parts->inTransaction<void>(Transaction::Kind::Write, [&] {
        return m_parts->database->exec("DELETE FROM run WHERE id = ?", {run});
    });
    m_parts->claims.release(run);
    return done;
}

Result<QStringList> RunRepository::check() {
    QStringList found;
    auto done = m_parts->database->query("PRAGMA integrity_check", {},
                                         [&](const QSqlQuery& row) -> Result<void> {
                                             if (row.value(0).toString() != QLatin1String("ok"))
                                                 found.append(row.value(0).toString());
                                             return {};
                                         });
    if (done) {
        done = m_parts->database->query(
            "PRAGMA foreign_key_check", {}, [&](const QSqlQuery& row) -> Result<void> {
                found.append(QStringLiteral("%1, row %2: refers to a missing %3")
                                 .arg(row.value(0).toString(), row.value(1).toString(),
                                      row.value(2).toString()));
                return {};
            });
    }
    if (!done)
        return tl::unexpected(done.error());
    return found;
}

} // namespace knobscope
