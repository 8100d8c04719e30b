// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/columns.h"
#include "db/runreader.h"

#include <string>

namespace knobscope {

namespace {

Result<RunInfo> infoOf(const Database& database, const QSqlQuery& row, int& samplesMax) {
    RunInfo info;
    info.id = row.value(0).toLongLong();
    info.name = row.value(1).toString();
    const auto state = runStateFromName(row.value(2).toString());
    if (!state)
        return fail(Error::Code::Storage,
                    QStringLiteral("Run %1 in %2 is damaged").arg(info.id).arg(database.path()),
                    QStringLiteral("unknown state \"%1\"").arg(row.value(2).toString()));
    info.state = *state;
    info.message = row.value(3).toString();
    info.started = timeFromSql(row.value(4));
    info.ended = timeFromSql(row.value(5));
    info.testKind = row.value(6).toString();
    info.sender = row.value(7).toString();
    info.receiver = row.value(8).toString();
    info.cells = row.value(9).toInt();
    info.samplesPlanned = row.value(10).toInt();
    samplesMax = row.value(11).toInt();
    info.samplesDone = row.value(12).toInt();
    info.samplesFailed = row.value(13).toInt();
    return info;
}

/// A run whose program died may lack nothing but its last word. A stopped or failed one can go on
/// as long as there are samples it could still take.
bool canGoOn(const RunInfo& info, int samplesMax) {
    switch (info.state) {
    case RunState::Running:
        return true;
    case RunState::Failed:
    case RunState::Cancelled:
        return info.samplesDone < samplesMax;
    case RunState::Finished:
        break;
    }
    return false;
}

const std::string kColumns =
    "SELECT r.id, r.name, r.state, r.message, r.started_ms, r.ended_ms, r.test_kind, r.sender, "
    "r.receiver, r.cells, r.samples_min, r.samples_max, IFNULL(p.done, 0), IFNULL(p.failed, 0) ";

// A sample counts once, however many attempts it took: done when one of them was measured.
const std::string kAllRuns =
    kColumns +
    "FROM run r LEFT JOIN ("
    " SELECT run, SUM(measured) AS done, SUM(1 - measured) AS failed FROM ("
    "  SELECT run, MAX(state <> 'failed') AS measured FROM sample GROUP BY run, cell, block"
    " ) GROUP BY run"
    ") p ON p.run = r.id ORDER BY r.id DESC";

const std::string kOneRun =
    kColumns +
    "FROM run r LEFT JOIN ("
    " SELECT SUM(measured) AS done, SUM(1 - measured) AS failed FROM ("
    "  SELECT MAX(state <> 'failed') AS measured FROM sample WHERE run = ? GROUP BY cell, block"
    " )"
    ") p ON TRUE WHERE r.id = ?";

Result<void> addKnob(RunInfo& info, const QSqlQuery& row) {
    const QString knob = row.value(1).toString();
    if (!info.knobs.contains(knob)) // the same knob may be an axis on each side
        info.knobs.append(knob);
    return {};
}

} // namespace

Result<QList<RunInfo>> readRunList(Database& database) {
    QList<RunInfo> runs;
    QHash<qint64, qsizetype> indexOf;
    auto done = database.query(kAllRuns, {}, [&](const QSqlQuery& row) -> Result<void> {
        int samplesMax = 0;
        auto info = infoOf(database, row, samplesMax);
        if (!info)
            return tl::unexpected(info.error());
        info->resumable = canGoOn(*info, samplesMax);
        indexOf.insert(info->id, runs.size());
        runs.append(*info);
        return {};
    });
    if (done) {
        done = database.query("SELECT run, knob FROM run_axis ORDER BY run, axis", {},
                              [&](const QSqlQuery& row) -> Result<void> {
                                  const auto index = indexOf.constFind(row.value(0).toLongLong());
                                  return index == indexOf.cend() ? Result<void>()
                                                                 : addKnob(runs[*index], row);
                              });
    }
    if (!done)
        return tl::unexpected(done.error());
    return runs;
}

Result<std::optional<RunInfo>> readRunInfo(Database& database, qint64 run) {
    std::optional<RunInfo> found;
    auto done = database.query(kOneRun, {run, run}, [&](const QSqlQuery& row) -> Result<void> {
        int samplesMax = 0;
        auto info = infoOf(database, row, samplesMax);
        if (!info)
            return tl::unexpected(info.error());
        info->resumable = canGoOn(*info, samplesMax);
        found = *info;
        return {};
    });
    if (done && found) {
        done = database.query("SELECT run, knob FROM run_axis WHERE run = ? ORDER BY axis", {run},
                              [&](const QSqlQuery& row) { return addKnob(*found, row); });
    }
    if (!done)
        return tl::unexpected(done.error());
    return found;
}

} // namespace knobscope
