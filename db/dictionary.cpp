// SPDX-License-Identifier: GPL-3.0-or-later
#include "db/dictionary.h"

#include <QCryptographicHash>

namespace knobscope {

namespace {

/// Reads the id with `select`, or makes it with `insert`; both take `values`.
Result<qint64> findOrInsert(Database& database, std::string_view select, std::string_view insert,
                            const QVariantList& values) {
    const auto found = database.value(select, values);
    if (!found)
        return tl::unexpected(found.error());
    if (*found)
        return (*found)->toLongLong();
    return database.insert(insert, values);
}

tl::unexpected<Error> missing(const Database& database, const char* what, qint64 id) {
    return fail(Error::Code::Storage,
                QStringLiteral("The database %1 is damaged").arg(database.path()),
                QStringLiteral("%1 %2 is missing").arg(QLatin1String(what)).arg(id));
}

} // namespace

Result<qint64> Dictionary::nameId(const QString& text) {
    if (const auto known = m_nameIds.constFind(text); known != m_nameIds.cend())
        return *known;
    auto id = findOrInsert(m_database, "SELECT id FROM name WHERE text = ?",
                           "INSERT INTO name (text) VALUES (?)", {sqlText(text)});
    if (id)
        m_nameIds.insert(text, *id);
    return id;
}

Result<qint64> Dictionary::counterId(const QString& source, const QString& name) {
    const auto key = std::pair(source, name);
    if (const auto known = m_counterIds.constFind(key); known != m_counterIds.cend())
        return *known;
    auto id = findOrInsert(m_database, "SELECT id FROM counter WHERE source = ? AND name = ?",
                           "INSERT INTO counter (source, name) VALUES (?, ?)",
                           {sqlText(source), sqlText(name)});
    if (id)
        m_counterIds.insert(key, *id);
    return id;
}

Result<qint64> Dictionary::counterSetId(const QString& source, const QStringList& names) {
    QStringList sorted = names;
    sorted.sort();
    sorted.removeDuplicates();
    QCryptographicHash hash(QCryptographicHash::Sha256);
    for (const QString& name : sorted) {
        const QByteArray bytes = name.toUtf8();
        hash.addData(QByteArray::number(bytes.size()) + ' ' + bytes); // "a b" is not "a", "b"
    }
    const auto key = std::pair(source, hash.result());
    if (const auto known = m_setIds.constFind(key); known != m_setIds.cend())
        return *known;

    const QVariantList values{sqlText(source), key.second};
    const auto found =
        m_database.value("SELECT id FROM counter_set WHERE source = ? AND hash = ?", values);
    if (!found)
        return tl::unexpected(found.error());
    if (*found) {
        const qint64 id = (*found)->toLongLong();
        m_setIds.insert(key, id);
        return id;
    }
    auto id = m_database.insert("INSERT INTO counter_set (source, hash) VALUES (?, ?)", values);
    if (!id)
        return id;
    for (const QString& name : sorted) {
        const auto counter = counterId(source, name);
        if (!counter)
            return counter;
        if (auto done = m_database.exec(
                "INSERT INTO counter_set_member (counter_set, counter) VALUES (?, ?)",
                {*id, *counter});
            !done)
            return tl::unexpected(done.error());
    }
    m_setIds.insert(key, *id);
    return id;
}

Result<QString> Dictionary::name(qint64 id) {
    if (const auto known = m_names.constFind(id); known != m_names.cend())
        return *known;
    const auto text = m_database.value("SELECT text FROM name WHERE id = ?", {id});
    if (!text)
        return tl::unexpected(text.error());
    if (!*text)
        return missing(m_database, "name", id);
    return *m_names.insert(id, (*text)->toString());
}

Result<Dictionary::Counter> Dictionary::counter(qint64 id) {
    if (const auto known = m_counters.constFind(id); known != m_counters.cend())
        return *known;
    std::optional<Counter> found;
    const auto done =
        m_database.query("SELECT source, name FROM counter WHERE id = ?", {id},
                         [&](const QSqlQuery& row) -> Result<void> {
                             found = Counter{row.value(0).toString(), row.value(1).toString()};
                             return {};
                         });
    if (!done)
        return tl::unexpected(done.error());
    if (!found)
        return missing(m_database, "counter", id);
    return *m_counters.insert(id, *found);
}

Result<Dictionary::CounterSet> Dictionary::counterSet(qint64 id) {
    if (const auto known = m_sets.constFind(id); known != m_sets.cend())
        return *known;
    const auto source = m_database.value("SELECT source FROM counter_set WHERE id = ?", {id});
    if (!source)
        return tl::unexpected(source.error());
    if (!*source)
        return missing(m_database, "counter set", id);
    CounterSet set{(*source)->toString(), {}};
    const auto done = m_database.query(
        "SELECT c.name FROM counter_set_member m JOIN counter c ON c.id = m.counter "
        "WHERE m.counter_set = ?",
        {id}, [&](const QSqlQuery& row) -> Result<void> {
            set.names.append(row.value(0).toString());
            return {};
        });
    if (!done)
        return tl::unexpected(done.error());
    set.names.sort();
    return *m_sets.insert(id, set);
}

void Dictionary::forget() {
    m_nameIds.clear();
    m_counterIds.clear();
    m_setIds.clear();
}

} // namespace knobscope
