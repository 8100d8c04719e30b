// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/model/run.h"
#include "tests/lab/lab.h"

#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>

#include <functional>
#include <memory>

namespace knobscope::test {

/// A `knobscope-cli` process that a test starts, watches by its JSON events, and may kill.
class CliProcess {
public:
    explicit CliProcess(const QStringList& arguments);
    ~CliProcess(); ///< kills it when it still runs

    /// Reads events until one satisfies `wanted`; false when the program ended or time ran out.
    [[nodiscard]] bool waitFor(const std::function<bool(const QJsonObject&)>& wanted,
                               int timeoutMs);
    /// Until a sample was reported.
    [[nodiscard]] bool waitForSample(int timeoutMs = 30000);
    /// Until its end; −1 when time ran out or it was killed.
    [[nodiscard]] int waitForEnd(int timeoutMs = 90000);
    /// Whether it has ended, however; waits for it as long as that.
    [[nodiscard]] bool hasEnded(int waitMs);
    [[nodiscard]] qint64 pid() const { return m_process.processId(); }
    [[nodiscard]] const QList<QJsonObject>& events() const { return m_events; }
    /// Everything it said on standard error, for messages of failing tests.
    [[nodiscard]] QByteArray errorText();

private:
    void takeLines();

    QProcess m_process;
    QByteArray m_pending;
    QByteArray m_errors;
    QList<QJsonObject> m_events;
    qsizetype m_seen = 0;
};

/// Experiment files, a database and reference values for tests on a lab.
class LabRun {
public:
    explicit LabRun(const Lab& lab);

    /// The hosts part of an experiment file for host1 (sender) and host2 (receiver).
    [[nodiscard]] QJsonObject hosts() const;
    /// Writes an experiment file with these parts; returns its path.
    [[nodiscard]] QString write(const QJsonObject& experiment) const;
    /// Arguments for `knobscope-cli run FILE --json` on this lab and database.
    [[nodiscard]] QStringList runArguments(const QString& file) const;
    [[nodiscard]] QStringList resumeArguments(qint64 run) const;
    [[nodiscard]] QString database() const { return m_dir.filePath(QStringLiteral("runs.db")); }
    [[nodiscard]] QString path(const QString& name) const { return m_dir.filePath(name); }

    /// A sysctl of a host as it is now, white space folded; empty when it cannot be read.
    [[nodiscard]] QString sysctl(const QString& host, const QString& name) const;
    /// The run as the database has it now.
    [[nodiscard]] StoredRun load(qint64 run) const;
    /// What is wrong with the database; empty: nothing.
    [[nodiscard]] QStringList checkDatabase() const;
    /// An absolute counter by nstat's name, read by nstat itself; −1 when it is not there.
    [[nodiscard]] qint64 nstat(const QString& host, const QString& counter) const;

private:
    const Lab& m_lab;
    QTemporaryDir m_dir;
};

} // namespace knobscope::test
