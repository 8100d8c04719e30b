// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDir>
#include <QFile>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QTemporaryDir>

/// Starts knobscope-cli as a user would, in a folder of its own with a home of its own.
class CliProcess {
public:
    struct Outcome {
        int status = -1; ///< -1: it did not end by itself in time
        QByteArray out;
        QByteArray err;
    };

    [[nodiscard]] QString path(const QString& name) const { return m_dir.filePath(name); }

    void prepare(QProcess& process) const {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("XDG_DATA_HOME"), path(QStringLiteral("data")));
        environment.remove(QStringLiteral("DISPLAY"));
        environment.remove(QStringLiteral("QT_QPA_PLATFORM"));
        process.setProcessEnvironment(environment);
        process.setWorkingDirectory(m_dir.path());
        process.setProgram(QStringLiteral(KNOBSCOPE_BINARY_DIR "/knobscope-cli"));
    }

    [[nodiscard]] Outcome run(const QStringList& arguments) const {
        QProcess process;
        prepare(process);
        process.setArguments(arguments);
        process.start();
        return finish(process);
    }

    [[nodiscard]] static Outcome finish(QProcess& process) {
        Outcome outcome;
        const bool ended =
            process.state() == QProcess::NotRunning || process.waitForFinished(60000);
        if (ended && process.exitStatus() == QProcess::NormalExit)
            outcome.status = process.exitCode();
        else
            process.kill();
        outcome.out = process.readAllStandardOutput();
        outcome.err = process.readAllStandardError();
        return outcome;
    }

    /// What is in its folder, homes included.
    [[nodiscard]] QStringList files() const {
        return QDir(m_dir.path()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
    }

    bool write(const QString& name, const QByteArray& content) const {
        QFile file(path(name));
        return file.open(QIODevice::WriteOnly) && file.write(content) == content.size();
    }

    [[nodiscard]] QByteArray read(const QString& name) const {
        QFile file(path(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }

private:
    QTemporaryDir m_dir;
};

/// A small experiment on this computer. `seconds` of traffic a sample.
inline QByteArray localExperiment(double seconds, int repeats) {
    return R"({ "format": "knobscope-experiment", "version": 1, "name": "Größe",
  "hosts": { "sender": { "local": true, "address": "127.0.0.1", "interface": "lo" },
             "receiver": { "local": true, "address": "127.0.0.1", "interface": "lo" } },
  "test": { "kind": "tcp_stream", "seconds": )" +
           QByteArray::number(seconds) + R"( },
  "axes": [ { "knob": "message_size", "side": "both", "values": ["16K", "128K"] } ],
  "plan": { "repeats": )" +
           QByteArray::number(repeats) + R"(, "order": "blocks", "seed": 1 } })";
}

/// JSON lines; an empty object for a line that is none.
inline QList<QJsonObject> jsonLines(const QByteArray& output) {
    QList<QJsonObject> lines;
    for (const QByteArray& line : output.split('\n')) {
        if (!line.isEmpty())
            lines.append(QJsonDocument::fromJson(line).object());
    }
    return lines;
}
