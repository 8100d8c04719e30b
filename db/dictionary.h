// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "db/database.h"

#include <QHash>
#include <QStringList>

namespace knobscope {

/// Ids for the names that every sample repeats: metrics, facts, knobs, counters and the sets of
/// counters that a source showed. Ids once learnt are remembered; they never change or vanish, but
/// those made in a transaction that was rolled back do not exist: call forget() then.
class Dictionary {
public:
    explicit Dictionary(Database& database) : m_database(database) {}

    Result<qint64> nameId(const QString& text);
    Result<qint64> counterId(const QString& source, const QString& name);
    /// Order and repetitions of `names` do not matter.
    Result<qint64> counterSetId(const QString& source, const QStringList& names);

    struct Counter {
        QString source;
        QString name;
    };
    struct CounterSet {
        QString source;
        QStringList names; ///< sorted
    };
    /// The other way round. Storage for an id that is not there.
    Result<QString> name(qint64 id);
    Result<Counter> counter(qint64 id);
    Result<CounterSet> counterSet(qint64 id);

    void forget();

private:
    Database& m_database;
    QHash<QString, qint64> m_nameIds;
    QHash<std::pair<QString, QString>, qint64> m_counterIds;
    QHash<std::pair<QString, QByteArray>, qint64> m_setIds;
    QHash<qint64, QString> m_names;
    QHash<qint64, Counter> m_counters;
    QHash<qint64, CounterSet> m_sets;
};

} // namespace knobscope
