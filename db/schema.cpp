// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/schema.h"

namespace knobscope {

namespace {

/// In the header of the file ("Knob"): tells our files from other programs' databases.
constexpr std::string_view kSetApplicationId = "PRAGMA application_id = 1265528674";
constexpr qint64 kApplicationId = 1265528674;

/// Version 1.
///
/// Times are milliseconds since 1970 UTC. Sides: 0 the sample as a whole, 1 sender, 2 receiver,
/// 3 both. NULL is "not known", never "nothing" or 0.
///
/// What a cell asks for (cell_knob) is the same for all its samples; what a host made of it
/// (accepted, original, status) belongs to each sample and side (sample_knob).
Migration version1() {
    return {
        // `experiment` is the experiment file as written, the truth from which a run is resumed;
        // test_kind ... samples_max repeat parts of it for the run list. samples_min and
        // samples_max are the cells times the fewest and the most repeats. Ids are never used
        // again, so that "run 12" in someone's notes stays that run.
        "CREATE TABLE run ("
        " id INTEGER PRIMARY KEY AUTOINCREMENT,"
        " name TEXT NOT NULL,"
        " experiment TEXT NOT NULL,"
        " state TEXT NOT NULL,"
        " message TEXT NOT NULL,"
        " started_ms INTEGER NOT NULL,"
        " ended_ms INTEGER,"
        " test_kind TEXT NOT NULL,"
        " sender TEXT NOT NULL,"
        " receiver TEXT NOT NULL,"
        " cells INTEGER NOT NULL,"
        " samples_min INTEGER NOT NULL,"
        " samples_max INTEGER NOT NULL"
        ") STRICT",

        "CREATE TABLE run_axis ("
        " run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
        " axis INTEGER NOT NULL,"
        " knob TEXT NOT NULL,"
        " side INTEGER NOT NULL,"
        " PRIMARY KEY (run, axis)"
        ") STRICT, WITHOUT ROWID",

        // Names of metrics, facts and knobs, stored once.
        "CREATE TABLE name ("
        " id INTEGER PRIMARY KEY,"
        " text TEXT NOT NULL UNIQUE"
        ") STRICT",

        // The environment of a host. A resumed run adds a row for a side when it differs.
        "CREATE TABLE run_host ("
        " id INTEGER PRIMARY KEY,"
        " run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
        " side INTEGER NOT NULL,"
        " label TEXT NOT NULL"
        ") STRICT",
        "CREATE INDEX run_host_run ON run_host (run)",
        "CREATE TABLE host_fact ("
        " host INTEGER NOT NULL REFERENCES run_host ON DELETE CASCADE,"
        " name INTEGER NOT NULL REFERENCES name,"
        " value TEXT NOT NULL,"
        " PRIMARY KEY (host, name)"
        ") STRICT, WITHOUT ROWID",

        "CREATE TABLE cell ("
        " run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,"
        " cell INTEGER NOT NULL,"
        " PRIMARY KEY (run, cell)"
        ") STRICT, WITHOUT ROWID",
        "CREATE TABLE cell_knob ("
        " run INTEGER NOT NULL,"
        " cell INTEGER NOT NULL,"
        " axis INTEGER NOT NULL,"
        " requested TEXT NOT NULL,"
        " PRIMARY KEY (run, cell, axis),"
        " FOREIGN KEY (run, cell) REFERENCES cell ON DELETE CASCADE,"
        " FOREIGN KEY (run, axis) REFERENCES run_axis ON DELETE CASCADE"
        ") STRICT, WITHOUT ROWID",

        // One measured repeat of a cell, or one failed attempt at it. In order of id as measured.
        "CREATE TABLE sample ("
        " id INTEGER PRIMARY KEY,"
        " run INTEGER NOT NULL,"
        " cell INTEGER NOT NULL,"
        " block INTEGER NOT NULL,"
        " position INTEGER NOT NULL,"
        " attempt INTEGER NOT NULL,"
        " state TEXT NOT NULL CHECK (state IN ('done', 'flagged', 'failed')),"
        " reason TEXT NOT NULL,"
        " started_ms INTEGER,"
        " ended_ms INTEGER,"
        " FOREIGN KEY (run, cell) REFERENCES cell ON DELETE CASCADE"
        ") STRICT",
        "CREATE INDEX sample_run ON sample (run)",
        "CREATE INDEX sample_progress ON sample (run, cell, block, state)",

        "CREATE TABLE sample_flag ("
        " sample INTEGER NOT NULL REFERENCES sample ON DELETE CASCADE,"
        " position INTEGER NOT NULL,"
        " text TEXT NOT NULL,"
        " PRIMARY KEY (sample, position)"
        ") STRICT, WITHOUT ROWID",
        "CREATE TABLE sample_knob ("
        " sample INTEGER NOT NULL REFERENCES sample ON DELETE CASCADE,"
        " position INTEGER NOT NULL,"
        " side INTEGER NOT NULL,"
        " knob INTEGER NOT NULL REFERENCES name,"
        " requested TEXT NOT NULL,"
        " accepted TEXT,"
        " original TEXT,"
        " status TEXT NOT NULL,"
        " error TEXT NOT NULL,"
        " PRIMARY KEY (sample, position)"
        ") STRICT, WITHOUT ROWID",

        // A metric that is not finite is not known, so it has no row.
        "CREATE TABLE metric ("
        " sample INTEGER NOT NULL REFERENCES sample ON DELETE CASCADE,"
        " side INTEGER NOT NULL,"
        " name INTEGER NOT NULL REFERENCES name,"
        " value REAL NOT NULL,"
        " PRIMARY KEY (sample, side, name)"
        ") STRICT, WITHOUT ROWID",

        // Interval series, see seriesblob.h.
        "CREATE TABLE series ("
        " id INTEGER PRIMARY KEY,"
        " sample INTEGER NOT NULL REFERENCES sample ON DELETE CASCADE,"
        " side INTEGER NOT NULL,"
        " data BLOB NOT NULL"
        ") STRICT",
        "CREATE UNIQUE INDEX series_sample ON series (sample, side)",

        // The dictionary of counters, and the deltas that are not zero.
        "CREATE TABLE counter ("
        " id INTEGER PRIMARY KEY,"
        " source TEXT NOT NULL,"
        " name TEXT NOT NULL,"
        " UNIQUE (source, name)"
        ") STRICT",
        "CREATE TABLE counter_delta ("
        " sample INTEGER NOT NULL REFERENCES sample ON DELETE CASCADE,"
        " side INTEGER NOT NULL,"
        " counter INTEGER NOT NULL REFERENCES counter,"
        " delta INTEGER NOT NULL,"
        " PRIMARY KEY (sample, side, counter)"
        ") STRICT, WITHOUT ROWID",

        // The names a source showed, zero or not: the same for nearly all samples, so each set is
        // kept once (found again by the hash of its names) and samples refer to it.
        "CREATE TABLE counter_set ("
        " id INTEGER PRIMARY KEY,"
        " source TEXT NOT NULL,"
        " hash BLOB NOT NULL,"
        " UNIQUE (source, hash)"
        ") STRICT",
        "CREATE TABLE counter_set_member ("
        " counter_set INTEGER NOT NULL REFERENCES counter_set ON DELETE CASCADE,"
        " counter INTEGER NOT NULL REFERENCES counter,"
        " PRIMARY KEY (counter_set, counter)"
        ") STRICT, WITHOUT ROWID",
        "CREATE TABLE sample_counter_set ("
        " sample INTEGER NOT NULL REFERENCES sample ON DELETE CASCADE,"
        " side INTEGER NOT NULL,"
        " counter_set INTEGER NOT NULL REFERENCES counter_set,"
        " PRIMARY KEY (sample, side, counter_set)"
        ") STRICT, WITHOUT ROWID",
    };
}

/// Version 2: how response times and the sizes of receive calls are spread, see seriesblob.h.
Migration version2() {
    return {
        "CREATE TABLE distribution ("
        " id INTEGER PRIMARY KEY,"
        " sample INTEGER NOT NULL REFERENCES sample ON DELETE CASCADE,"
        " side INTEGER NOT NULL,"
        " name INTEGER NOT NULL REFERENCES name,"
        " data BLOB NOT NULL"
        ") STRICT",
        "CREATE UNIQUE INDEX distribution_sample ON distribution (sample, side, name)",
    };
}

/// Version 3: what each stream did, one row an end of the test, see streamblob.h. From here on a
/// side may have several hosts: in every column "side" but that of run_axis, 4 times the number of
/// a host is added to the code of its side (columns.h). Programs that know only older versions
/// would take such rows for damage; the version keeps them off.
Migration version3() {
    return {
        "CREATE TABLE stream_figures ("
        " id INTEGER PRIMARY KEY,"
        " sample INTEGER NOT NULL REFERENCES sample ON DELETE CASCADE,"
        " side INTEGER NOT NULL,"
        " data BLOB NOT NULL"
        ") STRICT",
        "CREATE UNIQUE INDEX stream_figures_sample ON stream_figures (sample, side)",
    };
}

Result<qint64> pragma(Database& database, std::string_view sql) {
    const auto value = database.value(sql);
    if (!value)
        return tl::unexpected(value.error());
    return *value ? (*value)->toLongLong() : 0;
}

/// The version of the file, 0 for an empty one; an error for a file that is not ours to change.
Result<qint64> usableVersion(Database& database, qint64 newest) {
    const auto version = pragma(database, "PRAGMA user_version");
    if (!version)
        return version;
    const auto application = pragma(database, "PRAGMA application_id");
    if (!application)
        return application;
    const auto tables = pragma(database, "SELECT COUNT(*) FROM sqlite_schema");
    if (!tables)
        return tables;
    const bool empty = *version == 0 && *application == 0 && *tables == 0;
    if (!empty && *application != kApplicationId)
        return fail(Error::Code::Storage,
                    QStringLiteral("%1 is the database of another program").arg(database.path()),
                    QStringLiteral("use another file"));
    if (*version > newest)
        return fail(Error::Code::Storage,
                    QStringLiteral("%1 was written by a newer Knobscope (schema %2; this one knows "
                                   "up to %3)")
                        .arg(database.path())
                        .arg(*version)
                        .arg(newest),
                    QStringLiteral("update Knobscope, or use another file"));
    if (*version < 0)
        return fail(Error::Code::Storage,
                    QStringLiteral("%1 has no valid schema version").arg(database.path()),
                    QStringLiteral("the file is damaged; use another file"));
    return version;
}

/// In one view of the file: another program may bring it up to date between two questions.
Result<qint64> usableVersionNow(Database& database, qint64 newest) {
    const auto view = Transaction::begin(database, Transaction::Kind::Read);
    if (!view)
        return tl::unexpected(view.error());
    return usableVersion(database, newest);
}

/// Runs the steps from `version` on; within a transaction.
Result<void> runSteps(Database& database, const std::vector<Migration>& steps, qint64 version) {
    for (auto step = static_cast<std::size_t>(version); step < steps.size(); ++step) {
        for (const std::string_view statement : steps[step]) {
            if (auto done = database.exec(statement); !done)
                return done;
        }
    }
    if (auto done = database.exec(kSetApplicationId); !done)
        return done;
    // A pragma takes no bound value, and statements are kept by their text.
    const std::string setVersion = "PRAGMA user_version = " + std::to_string(steps.size());
    return database.execOnce(setVersion);
}

} // namespace

const std::vector<Migration>& migrations() {
    static const std::vector<Migration> steps{version1(), version2(), version3()};
    return steps;
}

Result<void> bringUpToDate(Database& database, const std::vector<Migration>& steps) {
    const auto newest = static_cast<qint64>(steps.size());
    auto version = usableVersionNow(database, newest);
    if (!version)
        return tl::unexpected(version.error());
    if (auto wal = database.useWal(); !wal)
        return wal;
    if (*version == newest)
        return {};

    const auto transaction = Transaction::begin(database, Transaction::Kind::Write);
    if (!transaction)
        return tl::unexpected(transaction.error());
    // Another program may have done it while this one waited for the lock.
    version = usableVersion(database, newest);
    if (!version)
        return tl::unexpected(version.error());
    if (*version < newest) {
        if (auto done = runSteps(database, steps, *version); !done)
            return done;
    }
    return (*transaction)->commit();
}

Result<void> requireUpToDate(Database& database, const std::vector<Migration>& steps) {
    const auto newest = static_cast<qint64>(steps.size());
    const auto version = usableVersionNow(database, newest);
    if (!version)
        return tl::unexpected(version.error());
    if (*version == newest)
        return {};
    return fail(Error::Code::Storage,
                *version == 0 ? QStringLiteral("%1 holds no runs").arg(database.path())
                              : QStringLiteral("%1 was written by an older Knobscope and must be "
                                               "brought up to date before it can be read")
                                    .arg(database.path()),
                QStringLiteral("open a copy in a folder that you can write to"));
}

} // namespace knobscope
