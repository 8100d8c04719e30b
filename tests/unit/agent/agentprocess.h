// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/protocol.h"

#include <QProcess>
#include <QString>

#include <optional>

/// The real agent program, driven over its pipes as the workbench does.
class AgentProcess {
public:
    AgentProcess();
    /// Closes the input and waits; kills what is left.
    ~AgentProcess();

    void send(const QByteArray& bytes);
    /// Sends a request; returns its id.
    int request(const char* method, const knobscope::Json& params = knobscope::Json::object());
    /// The next message of any kind; absent after `timeoutMs` or at the end of the output.
    std::optional<knobscope::Json> next(int timeoutMs = 5000);
    /// The answer with this id; notifications before it are collected.
    std::optional<knobscope::Json> answer(int id, int timeoutMs = 5000);
    /// request() and answer() in one; null when none came.
    knobscope::Json call(const char* method,
                         const knobscope::Json& params = knobscope::Json::object());
    /// Says hello; returns the result, null on error.
    knobscope::Json hello(const std::string& run = "test", double leaseSeconds = 30,
                          const std::string& group = {});

    [[nodiscard]] qint64 guardian() const { return m_process.processId(); }
    [[nodiscard]] qint64 worker() const { return m_worker; }
    void closeInput() { m_process.closeWriteChannel(); }
    /// Waits for the end of the guardian; its exit status, -1 when it does not end or was killed.
    int waitForEnd(int timeoutMs = 10000);
    QProcess& process() { return m_process; }
    std::vector<knobscope::Json> notifications;

private:
    QProcess m_process;
    qint64 m_worker = 0;
    int m_lastId = 0;
};

/// A value as text, to be compared: JSON strings without quotes, other JSON as it is written.
QString text(const knobscope::Json& value);
QString text(const QByteArray& value);
QString text(const char* value);
/// QCOMPARE of two values as text.
#define COMPARE_TEXT(actual, expected) QCOMPARE(text(actual), text(expected))

/// What a /proc/sys file has, trimmed.
QByteArray readSysctl(const char* path);
/// Whether a process exists and is no zombie.
bool isAlive(qint64 pid);
/// A network namespace of its own for this test program and what it starts. False: not permitted.
bool enterOwnNetwork();
/// Files in the folder of the journals that name this network namespace.
QStringList journalsHere();
