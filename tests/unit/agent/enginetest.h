// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/engine/engine.h"
#include "agents/agent/error.h"

#include <QDir>
#include <QElapsedTimer>
#include <QString>

#include <poll.h>

#include <functional>
#include <optional>
#include <string>

/// Two engines in one process, as the workbench would lead them on two hosts.
namespace enginetest {

using knobscope::agent::AgentError;
using knobscope::agent::Engine;
using knobscope::protocol::PrepareParams;
using knobscope::protocol::TrafficConfig;
using knobscope::protocol::TrafficResult;

inline const std::string kToken = "00112233445566778899aabbccddeeff";
inline const std::string kOtherToken = "00112233445566778899aabbccddeefe";

/// What came of one end.
struct Outcome {
    std::optional<TrafficResult> result;
    QString error;
    int code = 0;
    double seconds = 0; ///< until it ended
};

/// Waits for the end of the test and takes its figures.
inline Outcome finish(Engine& engine, int timeoutMs = 20000) {
    QElapsedTimer timer;
    timer.start();
    pollfd ended{engine.finishedFd(), POLLIN, 0};
    Outcome outcome;
    if (::poll(&ended, 1, timeoutMs) != 1) {
        outcome.error = "still running";
        return outcome;
    }
    outcome.seconds = static_cast<double>(timer.elapsed()) / 1000;
    try {
        outcome.result = engine.takeResult();
    } catch (const AgentError& error) {
        outcome.error = error.what();
        outcome.code = error.code();
    }
    return outcome;
}

inline PrepareParams params(const std::string& role, const TrafficConfig& config,
                            const std::string& address = "127.0.0.1", int port = 0) {
    return {.role = role,
            .token = kToken,
            .address = address,
            .peer_address = address,
            .port = port,
            .config = config};
}

/// The message of the AgentError that `call` throws; empty when it throws none.
template<typename Call>
QString errorOf(Call call) {
    try {
        call();
    } catch (const AgentError& error) {
        return QString::fromUtf8(error.what());
    }
    return {};
}

/// Whether a test lasted for the time asked. Wide, since a busy host wakes threads late.
inline bool lasted(double elapsed, double asked) {
    return elapsed > asked / 2 && elapsed < asked + 0.8;
}

struct Pair {
    Engine server;
    Engine client;
    int port = 0;

    void prepare(const TrafficConfig& config, const std::string& address = "127.0.0.1") {
        port = server.prepare(params("server", config, address)).port;
        client.prepare(params("client", config, address, port));
    }
    void start() {
        server.start();
        client.start();
    }
};

/// What a test must leave as it found it.
struct Resources {
    qsizetype descriptors = entries("/proc/self/fd");
    qsizetype threads = entries("/proc/self/task");

    static qsizetype entries(const char* path) {
        return QDir(path).entryList(QDir::AllEntries | QDir::System | QDir::NoDotAndDotDot).size();
    }
    bool operator==(const Resources&) const = default;
};

} // namespace enginetest
