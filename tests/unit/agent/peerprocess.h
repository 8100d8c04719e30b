// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "enginetest.h"

#include <QProcess>
#include <QTest>

#include <csignal>

namespace enginetest {

/// The other end as a process that can be killed, or that lives on another host.
class PeerProcess {
public:
    /// `host`: a command that starts the process elsewhere, such as nsenter.
    explicit PeerProcess(QStringList host = {}) : m_command(std::move(host)) {
        m_command.append(QStringLiteral(KNOBSCOPE_BINARY_DIR "/engine_peer"));
    }
    /// Returns the answer to prepare.
    knobscope::Json prepare(const PrepareParams& params) {
        m_process.start(m_command.front(), m_command.mid(1));
        m_process.write((knobscope::Json(params).dump() + "\n").c_str());
        return read();
    }
    void start() {
        m_process.write("start\n");
        m_process.waitForBytesWritten(2000);
    }
    knobscope::Json read() {
        while (!m_process.canReadLine()) {
            if (!m_process.waitForReadyRead(15000))
                return {{"error", "the peer said nothing"}};
        }
        return knobscope::Json::parse(m_process.readLine().toStdString());
    }
    void signal(int number) { ::kill(static_cast<pid_t>(m_process.processId()), number); }
    ~PeerProcess() {
        m_process.kill();
        m_process.waitForFinished(2000);
    }

private:
    QStringList m_command;
    QProcess m_process;
};

} // namespace enginetest
