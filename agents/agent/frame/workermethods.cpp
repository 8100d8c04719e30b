// SPDX-License-Identifier: GPL-3.0-or-later
// What each method does; worker.cpp has the loop around them.
#include "agents/agent/frame/worker.h"

#include "agents/agent/kernel/snapshot.h"
#include "agents/protocol/build.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>

namespace knobscope::agent {

namespace errorcode = protocol::errorcode;
namespace method = protocol::method;

namespace {

constexpr double kShortestLease = 0.5;
constexpr double kLongestLease = 3600;

/// More than any host has of knobs worth setting.
constexpr std::size_t kMostKnobs = 1000;
constexpr std::size_t kLongestRunName = 200;

template<typename Knob>
std::vector<Knob> knobList(const Request& request) {
    if (request.params.size() > kMostKnobs)
        throw AgentError(errorcode::kInvalidParams,
                         request.method + ": more than " + std::to_string(kMostKnobs) + " knobs");
    auto knobs = paramsAs<std::vector<Knob>>(request);
    for (std::size_t i = 0; i < knobs.size(); ++i) {
        if (knobs[i].name.empty())
            throw AgentError(errorcode::kInvalidParams,
                             request.method + ": [" + std::to_string(i) + "] has no name");
    }
    return knobs;
}

void checkLease(const char* method, double seconds) {
    if (!(seconds >= kShortestLease && seconds <= kLongestLease))
        throw AgentError(errorcode::kInvalidParams,
                         std::string(method) + ": lease_seconds must be from 0.5 to 3600");
}

protocol::HelloParams helloParams(const Request& request) {
    auto params = paramsAs<protocol::HelloParams>(request);
    if (params.protocol != protocol::kVersion)
        throw AgentError(errorcode::kVersionMismatch,
                         "the workbench speaks protocol version " +
                             std::to_string(params.protocol) + ", this agent (" +
                             protocol::kProductVersion + ") speaks version " +
                             std::to_string(protocol::kVersion) +
                             "; use the agent that came with the workbench");
    checkLease("hello", params.lease_seconds);
    if (params.run.size() > kLongestRunName)
        throw AgentError(errorcode::kInvalidParams,
                         "hello: the name of the run is longer than 200 bytes");
    if (params.group.size() > kLongestRunName)
        throw AgentError(errorcode::kInvalidParams,
                         "hello: the group of the run is longer than 200 bytes");
    if (params.run.empty())
        params.run = "unnamed " + std::to_string(::getpid());
    if (params.group.empty())
        params.group = params.run;
    return params;
}

protocol::HelloResult aboutThisHost() {
    protocol::HelloResult result;
    result.version = protocol::kProductVersion;
    result.build = protocol::kBuild;
    utsname names{};
    if (::uname(&names) == 0) {
        result.hostname = names.nodename;
        result.kernel = names.release;
        result.arch = names.machine;
    }
    result.uid = static_cast<int>(::geteuid());
    result.pid = ::getpid();
    result.guardian_pid = ::getppid();
    result.cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
    result.machine_id = machineId();
    return result;
}

} // namespace

const std::map<std::string, Worker::Handler>& Worker::handlers() {
    static const std::map<std::string, Handler> table{
        {method::kHello, &Worker::hello},
        {method::kPing, &Worker::ping},
        {method::kEnvironment, &Worker::environment},
        {method::kSnapshot, &Worker::snapshot},
        {method::kHostClaim, &Worker::hostClaim},
        {method::kKnobRead, &Worker::knobRead},
        {method::kKnobApply, &Worker::knobApply},
        {method::kKnobRestore, &Worker::knobRestore},
        {method::kTrafficPrepare, &Worker::trafficPrepare},
        {method::kTrafficStart, &Worker::trafficStart},
        {method::kTrafficResult, &Worker::trafficResult},
        {method::kTrafficCancel, &Worker::trafficCancel},
        {method::kQuit, &Worker::quit},
    };
    return table;
}

void Worker::hello(const Request& request, const Answer& answer) {
    if (m_hello)
        throw AgentError(errorcode::kState, "hello has been said already");
    const protocol::HelloParams params = helloParams(request);
    m_hello = true;
    askGuardian(method::kHello, params, [answer](const Outcome& outcome) {
        if (std::holds_alternative<AgentError>(outcome))
            return answer(outcome);
        Json result = aboutThisHost();
        result["recovered"] = std::get<Json>(outcome);
        answer(result);
    });
}

void Worker::ping(const Request&, const Answer& answer) {
    using namespace std::chrono;
    const auto now = system_clock::now().time_since_epoch();
    answer(Json(protocol::PingResult{duration_cast<milliseconds>(now).count()}));
}

void Worker::environment(const Request& request, const Answer& answer) {
    answer(Json(readEnvironment(paramsAs<protocol::InterfaceParams>(request).interface)));
}

void Worker::snapshot(const Request& request, const Answer& answer) {
    answer(Json(takeSnapshot(paramsAs<protocol::InterfaceParams>(request).interface)));
}

void Worker::hostClaim(const Request& request, const Answer& answer) {
    const auto params = paramsAs<protocol::ClaimParams>(request);
    if (params.lease_seconds != 0)
        checkLease("host.claim", params.lease_seconds);
    askGuardian(request.method, params, answer);
}

void Worker::knobRead(const Request& request, const Answer& answer) {
    askGuardian(request.method, knobList<protocol::KnobTarget>(request), answer);
}

void Worker::knobApply(const Request& request, const Answer& answer) {
    askGuardian(request.method, knobList<protocol::KnobSetting>(request), answer);
}

void Worker::knobRestore(const Request& request, const Answer& answer) {
    askGuardian(request.method, Json::object(), answer);
}

void Worker::trafficPrepare(const Request& request, const Answer& answer) {
    m_traffic.prepare(paramsAs<protocol::PrepareParams>(request), answer);
}

void Worker::trafficStart(const Request&, const Answer& answer) {
    m_traffic.start();
    answer(Json::object());
}

void Worker::trafficResult(const Request&, const Answer& answer) {
    m_traffic.result(answer);
}

void Worker::trafficCancel(const Request&, const Answer& answer) {
    m_traffic.cancel();
    answer(Json::object());
}

void Worker::quit(const Request& request, const Answer& answer) {
    m_traffic.cancel();
    askGuardian(request.method, Json::object(), answer);
}

} // namespace knobscope::agent
