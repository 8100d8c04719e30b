// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fault/ledger.h"

#include <QDateTime>
#include <QFile>
#include <QJsonArray>
#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QSqlRecord>
#include <QVariant>

namespace knobscope::test {

namespace {

const QString kRun = QStringLiteral("run");

/// A connection that lives as long as a question.
class Sql {
public:
    explicit Sql(const QString& file) {
        m_database = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), m_name);
        m_database.setDatabaseName(file);
        m_database.setConnectOptions(
            QStringLiteral("QSQLITE_BUSY_TIMEOUT=5000;QSQLITE_OPEN_READONLY"));
        if (!m_database.open())
            m_error = m_database.lastError().text();
    }
    ~Sql() {
        m_database = {};
        QSqlDatabase::removeDatabase(m_name);
    }
    Sql(const Sql&) = delete;
    Sql& operator=(const Sql&) = delete;

    QList<QVariantList> rows(const QString& text, const QVariantList& values = {}) {
        QList<QVariantList> all;
        QSqlQuery query(m_database);
        query.prepare(text);
        for (const QVariant& value : values)
            query.addBindValue(value);
        if (!query.exec())
            m_error = query.lastError().text();
        while (query.next()) {
            QVariantList row;
            for (int i = 0; i < query.record().count(); ++i)
                row.append(query.value(i));
            all.append(row);
        }
        if (query.lastError().isValid())
            m_error = query.lastError().text();
        return all;
    }
    [[nodiscard]] QString error() const { return m_error; }

private:
    QString m_name = QStringLiteral("ledger");
    QSqlDatabase m_database;
    QString m_error;
};

QVariant milliseconds(const QJsonValue& time) {
    return QDateTime::fromString(time.toString(), Qt::ISODateWithMs).toMSecsSinceEpoch();
}

/// What the sample is in the words of the database.
QVariantList expectedRow(const QJsonObject& event) {
    return {event.value(kRun).toInteger(),
            event.value(QStringLiteral("cell")).toInteger() - 1,
            event.value(QStringLiteral("block")).toInteger() - 1,
            event.value(QStringLiteral("order")).toInteger() - 1,
            event.value(QStringLiteral("attempt")).toInteger() - 1,
            event.value(QStringLiteral("state")).toString(),
            event.value(QStringLiteral("reason")).toString(),
            milliseconds(event.value(QStringLiteral("started"))),
            milliseconds(event.value(QStringLiteral("ended")))};
}

QMap<QString, double> expectedMetrics(const QJsonObject& event) {
    QMap<QString, double> all;
    const QJsonObject hosts = event.value(QStringLiteral("metrics")).toObject();
    for (auto host = hosts.begin(); host != hosts.end(); ++host) {
        const QJsonObject metrics = host.value().toObject();
        for (auto metric = metrics.begin(); metric != metrics.end(); ++metric) {
            if (metric.value().isDouble()) // one that is not finite is told as null
                all.insert(host.key() + u' ' + metric.key(), metric.value().toDouble());
        }
    }
    return all;
}

QMap<QString, double> storedMetrics(Sql& sql, qint64 sample) {
    static const QStringList sides{QStringLiteral("sample"), QStringLiteral("sender"),
                                   QStringLiteral("receiver"), QStringLiteral("both")};
    QMap<QString, double> all;
    for (const QVariantList& row :
         sql.rows(QStringLiteral("SELECT m.side, n.text, m.value FROM metric m "
                                 "JOIN name n ON n.id = m.name WHERE m.sample = ?"),
                  {sample}))
        all.insert(sides.value(row[0].toInt()) + u' ' + row[1].toString(), row[2].toDouble());
    return all;
}

/// What is not as it was reported; empty: nothing.
QString alteration(Sql& sql, qint64 id, const QJsonObject& event) {
    const auto rows = sql.rows(
        QStringLiteral("SELECT run, cell, block, position, attempt, state, reason, started_ms, "
                       "ended_ms FROM sample WHERE id = ?"),
        {id});
    if (rows.isEmpty())
        return QStringLiteral("is lost");
    if (rows.first() != expectedRow(event))
        return QStringLiteral("has another row");
    QJsonArray flags;
    for (const QVariantList& row :
         sql.rows(QStringLiteral("SELECT text FROM sample_flag WHERE sample = ? ORDER BY position"),
                  {id}))
        flags.append(row[0].toString());
    if (flags != event.value(QStringLiteral("flags")).toArray())
        return QStringLiteral("has other flags");
    if (storedMetrics(sql, id) != expectedMetrics(event))
        return QStringLiteral("has other metrics");
    return {};
}

} // namespace

Ledger Ledger::in(const QString& database) const {
    Ledger other(*this);
    other.m_database = database;
    return other;
}

void Ledger::note(const QJsonObject& event) {
    const QString kind = event.value(QStringLiteral("event")).toString();
    if (kind == QLatin1String("run_started")) {
        m_run = event.value(kRun).toInteger();
    } else if (kind == QLatin1String("sample")) {
        QJsonObject sample = event;
        sample.insert(kRun, m_run);
        m_samples.insert(event.value(QStringLiteral("id")).toInteger(), sample);
    }
}

Ledger::Run Ledger::lastRun() const {
    if (!QFile::exists(m_database))
        return {};
    Sql sql(m_database);
    const auto rows =
        sql.rows(QStringLiteral("SELECT id, state FROM run ORDER BY id DESC LIMIT 1"));
    return rows.isEmpty() ? Run{} : Run{rows.first()[0].toLongLong(), rows.first()[1].toString()};
}

QStringList Ledger::check(qint64 run) const {
    QStringList wrong;
    if (m_samples.isEmpty() && !QFile::exists(m_database))
        return wrong;
    Sql sql(m_database);
    for (auto sample = m_samples.cbegin(); sample != m_samples.cend(); ++sample) {
        if (run != 0 && sample->value(kRun).toInteger() != run)
            continue;
        const QString what = alteration(sql, sample.key(), *sample);
        if (!what.isEmpty())
            wrong.append(QStringLiteral("sample %1 of run %2 %3")
                             .arg(sample.key())
                             .arg(sample->value(kRun).toInteger())
                             .arg(what));
    }
    for (const QVariantList& row : sql.rows(QStringLiteral("PRAGMA integrity_check"))) {
        if (row[0].toString() != QLatin1String("ok"))
            wrong.append(row[0].toString());
    }
    for (const QVariantList& row : sql.rows(QStringLiteral("PRAGMA foreign_key_check")))
        wrong.append(QStringLiteral("%1 refers to nothing").arg(row[0].toString()));
    if (!sql.error().isEmpty())
        wrong.append(sql.error());
    return wrong;
}

QStringList Ledger::unfinished() const {
    QStringList wrong;
    Sql sql(m_database);
    for (const QVariantList& row :
         sql.rows(QStringLiteral("SELECT id, state, message FROM run WHERE state <> 'finished'")))
        wrong.append(QStringLiteral("run %1 is left %2: %3")
                         .arg(row[0].toString(), row[1].toString(), row[2].toString()));
    return wrong;
}

QStringList Ledger::incomplete(qint64 run, int cells, int repeats) const {
    QStringList wrong;
    Sql sql(m_database);
    const auto measured =
        sql.rows(QStringLiteral("SELECT cell, block, COUNT(*) FROM sample "
                                "WHERE run = ? AND state <> 'failed' GROUP BY cell, block"),
                 {run});
    if (measured.size() != qsizetype(cells) * repeats)
        wrong.append(QStringLiteral("run %1 is finished with %2 samples instead of %3")
                         .arg(run)
                         .arg(measured.size())
                         .arg(cells * repeats));
    for (const QVariantList& row : measured) {
        if (row[2].toInt() != 1)
            wrong.append(QStringLiteral("run %1 has block %2 of cell %3 %4 times")
                             .arg(run)
                             .arg(row[1].toInt() + 1)
                             .arg(row[0].toInt() + 1)
                             .arg(row[2].toInt()));
    }
    return wrong;
}

} // namespace knobscope::test
