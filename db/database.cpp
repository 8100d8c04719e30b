// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/database.h"

#include <QDeadlineTimer>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSqlError>
#include <QThread>
#include <QUrl>
#include <QUuid>

#include <sys/stat.h>

namespace knobscope {

namespace {

constexpr int kBusyTimeoutMs = 10000;

/// What to do about an SQLite result code; extended codes carry the plain one in the low byte.
QString adviceFor(int code, const QString& path) {
    switch (code & 0xff) {
    case 5: // SQLITE_BUSY
    case 6: // SQLITE_LOCKED
        return QStringLiteral("another program keeps it locked; end that program or wait for it");
    case 8:  // SQLITE_READONLY
    case 14: // SQLITE_CANTOPEN
        return QStringLiteral("make the file and its folder %1 writable, or use another file")
            .arg(QFileInfo(path).absolutePath());
    case 10: // SQLITE_IOERR
    case 13: // SQLITE_FULL
        return QStringLiteral("see whether the disk that holds %1 is full or failing")
            .arg(QFileInfo(path).absolutePath());
    case 11: // SQLITE_CORRUPT
        return QStringLiteral("the file is damaged; restore a copy, or save what is left with "
                              "\"sqlite3 FILE .recover\"");
    case 26: // SQLITE_NOTADB
        return QStringLiteral("it is no SQLite database; use another file");
    default:
        return {};
    }
}

QString connectOptions(Database::Access access) {
    QStringList options{QStringLiteral("QSQLITE_BUSY_TIMEOUT=%1").arg(kBusyTimeoutMs)};
    if (access != Database::Access::Write)
        options.append(QStringLiteral("QSQLITE_OPEN_READONLY"));
    if (access == Database::Access::Frozen)
        options.append(QStringLiteral("QSQLITE_OPEN_URI"));
    return options.join(QLatin1Char(';'));
}

QString nameFor(const QString& path, Database::Access access) {
    if (access != Database::Access::Frozen)
        return path;
    return QString::fromLatin1(QUrl::fromLocalFile(path).toEncoded()) +
           QStringLiteral("?immutable=1");
}

} // namespace

Result<std::unique_ptr<Database>> Database::open(const QString& path, Access access) {
    const QFileInfo file(path);
    if (path.isEmpty() || file.isDir())
        return fail(Error::Code::Storage, QStringLiteral("\"%1\" cannot be a database").arg(path),
                    QStringLiteral("name a file"));
    if (access == Access::Write && !QDir().mkpath(file.absolutePath()))
        return fail(Error::Code::Storage,
                    QStringLiteral("The folder %1 cannot be made").arg(file.absolutePath()),
                    QStringLiteral("make it writable, or use another file for the database"));

    auto database = std::unique_ptr<Database>(new Database);
    database->m_path = file.absoluteFilePath();
    database->m_connection = QUuid::createUuid().toString();
    QSqlDatabase connection =
        QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), database->m_connection);
    connection.setConnectOptions(connectOptions(access));
    connection.setDatabaseName(nameFor(database->m_path, access));
    if (!connection.open())
        return tl::unexpected(database->failure(connection.lastError()));
    for (const std::string_view pragma :
         {"PRAGMA foreign_keys = ON", "PRAGMA synchronous = FULL", "PRAGMA trusted_schema = OFF"}) {
        if (auto set = database->exec(pragma); !set)
            return tl::unexpected(set.error());
    }
    return database;
}

Database::~Database() {
    m_statements.clear();
    if (QSqlDatabase::contains(m_connection)) {
        QSqlDatabase::database(m_connection, false).close();
        QSqlDatabase::removeDatabase(m_connection);
    }
}

Result<void> Database::stillThere() {
    struct stat info {};
    std::optional<std::pair<quint64, quint64>> file;
    if (::stat(QFile::encodeName(m_path).constData(), &info) == 0)
        file.emplace(info.st_dev, info.st_ino);
    if (!m_file)
        m_file = file;
    if (file && file == m_file)
        return {};
    return fail(
        Error::Code::Storage,
        QStringLiteral("The database %1 was removed or replaced while it was in use").arg(m_path),
        QStringLiteral("what was measured since then is not stored"));
}

Error Database::failure(const QSqlError& error) const {
    const int code = error.nativeErrorCode().toInt();
    QString words = error.databaseText().trimmed();
    if (words.isEmpty())
        words = error.text().trimmed();
    const QString advice = adviceFor(code, m_path);
    return Error{Error::Code::Storage, QStringLiteral("The database %1 failed").arg(m_path),
                 advice.isEmpty() ? words : words + QStringLiteral("; ") + advice};
}

Result<QSqlQuery*> Database::run(std::string_view sql, const QVariantList& values) {
    auto found = m_statements.find(sql);
    if (found == m_statements.end()) {
        QSqlQuery query(QSqlDatabase::database(m_connection, false));
        query.setForwardOnly(true);
        if (!query.prepare(QString::fromUtf8(sql.data(), static_cast<qsizetype>(sql.size()))))
            return tl::unexpected(failure(query.lastError()));
        found = m_statements.emplace(sql, std::move(query)).first;
    }
    QSqlQuery& query = found->second;
    for (int i = 0; i < values.size(); ++i)
        query.bindValue(i, values[i]);
    if (!query.exec()) {
        const Error error = failure(query.lastError());
        query.finish();
        return tl::unexpected(error);
    }
    return &query;
}

Result<void> Database::exec(std::string_view sql, const QVariantList& values) {
    const auto query = run(sql, values);
    if (!query)
        return tl::unexpected(query.error());
    (*query)->finish();
    return {};
}

Result<void> Database::execOnce(const std::string& sql) {
    QSqlQuery query(QSqlDatabase::database(m_connection, false));
    if (!query.exec(QString::fromStdString(sql)))
        return tl::unexpected(failure(query.lastError()));
    return {};
}

Result<qint64> Database::insert(std::string_view sql, const QVariantList& values) {
    const auto query = run(sql, values);
    if (!query)
        return tl::unexpected(query.error());
    const qint64 id = (*query)->lastInsertId().toLongLong();
    (*query)->finish();
    return id;
}

Result<void> Database::query(std::string_view sql, const QVariantList& values,
                             const std::function<Result<void>(const QSqlQuery&)>& onRow) {
    const auto started = run(sql, values);
    if (!started)
        return tl::unexpected(started.error());
    QSqlQuery& query = **started;
    Result<void> outcome;
    while (outcome && query.next())
        outcome = onRow(query);
    // next() also ends at a damaged page; that must not look like the end of the rows.
    if (outcome && query.lastError().isValid())
        outcome = tl::unexpected(failure(query.lastError()));
    query.finish();
    return outcome;
}

Result<std::optional<QVariant>> Database::value(std::string_view sql, const QVariantList& values) {
    std::optional<QVariant> first;
    const auto done = query(sql, values, [&](const QSqlQuery& row) -> Result<void> {
        if (!first)
            first = row.value(0);
        return {};
    });
    if (!done)
        return tl::unexpected(done.error());
    return first;
}

Result<void> Database::useWal() {
    // SQLite does not wait by itself when several programs switch a new file at the same time.
    const QDeadlineTimer deadline(kBusyTimeoutMs);
    for (;;) {
        const auto mode = value("PRAGMA journal_mode = WAL");
        if (mode && *mode && (*mode)->toString() == QLatin1String("wal"))
            return {};
        const bool busy = !mode && mode.error().detail.contains(QLatin1String("locked"));
        if (!busy || deadline.hasExpired()) {
            if (!mode)
                return tl::unexpected(mode.error());
            return fail(Error::Code::Storage,
                        QStringLiteral("The database %1 cannot use a write-ahead log").arg(m_path),
                        QStringLiteral("use a file on a local disk"));
        }
        QThread::msleep(5);
    }
}

Result<std::unique_ptr<Transaction>> Transaction::begin(Database& database, Kind kind) {
    const auto begun = database.exec(kind == Kind::Write ? "BEGIN IMMEDIATE" : "BEGIN");
    if (!begun)
        return tl::unexpected(begun.error());
    return std::unique_ptr<Transaction>(new Transaction(database));
}

Transaction::~Transaction() {
    // SQLite may have rolled back by itself already (disk full): then this fails, rightly.
    if (m_open)
        (void)m_database.exec("ROLLBACK");
}

Result<void> Transaction::commit() {
    auto done = m_database.exec("COMMIT");
    if (done)
        m_open = false;
    return done;
}

} // namespace knobscope
