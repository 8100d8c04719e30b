// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/result.h"

#include <QSqlDatabase>
#include <QSqlQuery>
#include <QVariantList>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace knobscope {

/// One connection to an SQLite file: prepared statements that are kept, and errors as values.
/// Belongs to the thread that opened it. All errors are Storage.
class Database {
public:
    enum class Access {
        Write,  ///< opens or makes the file, and its folder
        Read,   ///< an existing file, also beside a program that writes it
        Frozen, ///< an existing file that nobody writes: no lock and no file is made, and a
                ///< write-ahead log beside it is not looked at
    };
    /// Sets what holds for the connection (foreign keys, synchronous FULL, waiting for other
    /// writers) but writes nothing yet.
    static Result<std::unique_ptr<Database>> open(const QString& path,
                                                  Access access = Access::Write);
    ~Database();
    /// Whether the path still names the file that it named when this was first called. What is
    /// written to one that was removed or replaced is lost when it is closed.
    [[nodiscard]] Result<void> stillThere();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    [[nodiscard]] const QString& path() const { return m_path; }

    /// `sql` is a literal: it is prepared once and kept under its text.
    Result<void> exec(std::string_view sql, const QVariantList& values = {});
    /// For a text made at run time: not kept.
    Result<void> execOnce(const std::string& sql);
    /// Returns the rowid of the new row.
    Result<qint64> insert(std::string_view sql, const QVariantList& values);
    /// Calls `onRow` for each row, until it returns an error. It must not run the same `sql`.
    Result<void> query(std::string_view sql, const QVariantList& values,
                       const std::function<Result<void>(const QSqlQuery&)>& onRow);
    /// The first column of the first row; absent when there is no row.
    Result<std::optional<QVariant>> value(std::string_view sql, const QVariantList& values = {});

    /// Writes go into WAL from here on. Readers then never wait for the writer.
    Result<void> useWal();

private:
    Database() = default;
    Result<QSqlQuery*> run(std::string_view sql, const QVariantList& values);
    [[nodiscard]] Error failure(const QSqlError& error) const;

    QString m_path;
    QString m_connection;
    std::optional<std::pair<quint64, quint64>> m_file; ///< device and inode
    std::map<std::string_view, QSqlQuery> m_statements;
};

/// Takes the write lock at once, so that it fails at the start rather than half-way. Rolls back
/// unless committed.
class Transaction {
public:
    enum class Kind { Read, Write };
    static Result<std::unique_ptr<Transaction>> begin(Database& database, Kind kind);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    /// When it returns well, the data is on the disk.
    Result<void> commit();

private:
    explicit Transaction(Database& database) : m_database(database) {}
    Database& m_database;
    bool m_open = true;
};

/// A null QString would be bound as NULL; an empty text is meant.
[[nodiscard]] inline QVariant sqlText(const QString& text) {
    return text.isNull() ? QVariant(QStringLiteral("")) : QVariant(text);
}
[[nodiscard]] inline QVariant sqlText(const std::optional<QString>& text) {
    return text ? sqlText(*text) : QVariant(QMetaType::fromType<QString>());
}

} // namespace knobscope
