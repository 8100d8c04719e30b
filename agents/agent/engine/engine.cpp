// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/engine.h"

#include "agents/agent/engine/conductor.h"
#include "agents/agent/error.h"

#include <exception>
#include <optional>
#include <thread>
#include <vector>

namespace knobscope::agent {

namespace {

/// A splice has a pipe and its sink beside the socket.
constexpr std::size_t kDescriptorsPerStream = 4;
/// Of the conductor and its control link, and connections that have not shown the token yet.
constexpr std::size_t kDescriptorsSpare = 128;

} // namespace

struct Engine::Private {
    std::optional<Setup> setup;
    std::vector<Stream> streams;
    Course course;
    Event finished;
    std::atomic<bool> cancelled{false};
    std::unique_ptr<Conductor> conductor;
    std::thread thread;
    // Written by the thread, read after it was joined.
    protocol::TrafficResult result;
    std::exception_ptr failure;
    std::atomic<bool> ended{false};

    void run() {
        try {
            result = conductor->run();
        } catch (...) {
            failure = std::current_exception();
        }
        ended.store(true);
        finished.raise();
    }

    [[noreturn]] static void failState(const char* message) {
        throw AgentError(protocol::errorcode::kState, message);
    }
};

Engine::Engine() : d(std::make_unique<Private>()) {}

Engine::~Engine() {
    cancel();
    if (d->thread.joinable())
        d->thread.join();
}

protocol::PrepareResult Engine::prepare(const protocol::PrepareParams& params) {
    if (d->setup)
        Private::failState("this engine has already been given a test");
    d->setup = Setup::check(params);
    allowDescriptors(d->setup->connections() * kDescriptorsPerStream + kDescriptorsSpare);
    d->streams = std::vector<Stream>(d->setup->connections());
    auto conductor = std::make_unique<Conductor>(*d->setup, d->streams, d->course, d->cancelled);
    protocol::PrepareResult answer;
    if (d->setup->server) {
        auto acceptor = std::make_unique<Acceptor>(*d->setup, d->streams);
        answer.port = acceptor->port();
        conductor->useAcceptor(std::move(acceptor));
    } else {
        try {
            conductor->useControl(
                connectStreams(*d->setup, d->streams, d->course.changed(), [this] {
                    if (d->cancelled.load())
                        throw AgentError(protocol::errorcode::kCancelled, "the test was cancelled");
                }));
        } catch (...) {
            for (Stream& stream : d->streams)
                stream.socket.reset();
            throw;
        }
    }
    d->conductor = std::move(conductor);
    d->thread = std::thread([this] { d->run(); });
    return answer;
}

void Engine::start() {
    if (!d->conductor)
        Private::failState("the test has not been prepared");
    if (d->conductor->started())
        Private::failState("the test has been started already");
    d->conductor->start();
}

void Engine::cancel() {
    d->cancelled.store(true);
    d->course.changed().raise();
}

protocol::Interval Engine::progress() const {
    return d->conductor ? d->conductor->progress() : protocol::Interval{};
}

int Engine::finishedFd() const {
    return d->finished.fd();
}

protocol::TrafficResult Engine::takeResult() {
    if (!d->ended.load())
        Private::failState("the test has not ended");
    if (d->thread.joinable())
        d->thread.join();
    if (d->failure)
        std::rethrow_exception(d->failure);
    return std::move(d->result);
}

} // namespace knobscope::agent
