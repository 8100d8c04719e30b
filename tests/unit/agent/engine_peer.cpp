// SPDX-License-Identifier: GPL-3.0-or-later
// One end of a test as a process of its own, for tests that kill it and for the benchmark.
// Line by line on stdin and stdout: takes PrepareParams as JSON and answers PrepareResult, takes
// "start" and answers TrafficResult, or {"error": "..."} in place of either.
#include "agents/agent/engine/engine.h"

#include <poll.h>

#include <iostream>
#include <string>

using namespace knobscope;

namespace {

protocol::TrafficResult runTest(agent::Engine& engine) {
    engine.start();
    pollfd ended{engine.finishedFd(), POLLIN, 0};
    while (::poll(&ended, 1, -1) != 1) {
    }
    return engine.takeResult();
}

int answer(const Json& json) {
    std::cout << json.dump() << std::endl;
    return json.contains("error") ? 1 : 0;
}

} // namespace

int main() {
    try {
        agent::Engine engine;
        std::string line;
        std::getline(std::cin, line);
        answer(Json(engine.prepare(Json::parse(line).get<protocol::PrepareParams>())));
        std::getline(std::cin, line);
        if (line != "start")
            return answer({{"error", "expected start, got \"" + line + "\""}});
        return answer(Json(runTest(engine)));
    } catch (const std::exception& error) {
        return answer({{"error", error.what()}});
    }
}
