// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonObject>
#include <QMap>
#include <QString>
#include <QStringList>

namespace knobscope::test {

/// Keeps what the program has reported about samples and holds the database to it. Reads the file
/// with SQL of its own, not with the product's classes. One thread.
class Ledger {
public:
    explicit Ledger(QString database) : m_database(std::move(database)) {}

    /// The same samples, to be looked for in another file.
    [[nodiscard]] Ledger in(const QString& database) const;

    /// Takes down an event of `knobscope-cli --json`; those that are no samples are passed over.
    void note(const QJsonObject& event);
    [[nodiscard]] qsizetype samples() const { return m_samples.size(); }

    struct Run {
        qint64 id = 0; ///< 0: there is none
        QString state;
    };
    [[nodiscard]] Run lastRun() const;

    /// Reported samples of a run (0: of all) that are lost or not as reported, and what SQLite
    /// finds wrong with the file. Empty: nothing.
    [[nodiscard]] QStringList check(qint64 run) const;
    /// Runs that were given up.
    [[nodiscard]] QStringList unfinished() const;
    /// What a finished run lacks or has twice.
    [[nodiscard]] QStringList incomplete(qint64 run, int cells, int repeats) const;

private:
    QString m_database;
    qint64 m_run = 0;
    QMap<qint64, QJsonObject> m_samples; ///< by the id in the database
};

} // namespace knobscope::test
