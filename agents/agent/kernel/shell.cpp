// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/shell.h"

#include "agents/agent/error.h"
#include "agents/agent/uniquefd.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace knobscope::agent {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::size_t kLongestOutput = 64 * 1024;
constexpr std::size_t kLongestErrors = 4 * 1024;
/// Between two looks whether the shell has ended; shorter when it has closed its output.
constexpr int kLookMs = 20;
constexpr int kLookAtEndMs = 1;

struct Pipe {
    UniqueFd read, write;
    bool open() {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
            return false;
        read.reset(ends[0]);
        write.reset(ends[1]);
        return true;
    }
};

/// Takes what is there; closes the pipe at its end.
void drain(UniqueFd& pipe, std::string& text, std::size_t longest) {
    std::array<char, 4096> buffer;
    ssize_t n = 0;
    while (pipe && (n = ::read(pipe.get(), buffer.data(), buffer.size())) > 0) {
        const std::size_t room = longest - text.size();
        text.append(buffer.data(), std::min(room, static_cast<std::size_t>(n)));
    }
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        pipe.reset();
}

/// The child's id, or the negative errno.
pid_t start(const std::string& line, char* const* environment, int output, int errors) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, output, 1);
    ::posix_spawn_file_actions_adddup2(&files, errors, 2);
    // The agent blocks and ignores signals that the command must have as usual.
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    for (const int number : {SIGPIPE, SIGHUP, SIGINT, SIGTERM, SIGCHLD})
        sigaddset(&usual, number);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &usual);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                POSIX_SPAWN_SETPGROUP);
    std::string shell = "sh";
    std::string option = "-c";
    std::string command = line;
    char* arguments[] = {shell.data(), option.data(), command.data(), nullptr};
    pid_t child = -1;
    const int error = ::posix_spawn(&child, "/bin/sh", &files, &attributes, arguments, environment);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    return error == 0 ? child : -error;
}

std::string endText(int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return {};
    if (WIFEXITED(status))
        return "ended with status " + std::to_string(WEXITSTATUS(status));
    return "was ended by signal " + std::to_string(WTERMSIG(status));
}

} // namespace

ShellResult runShell(const std::string& line,
                     const std::vector<std::pair<std::string, std::string>>& variables,
                     milliseconds timeout) {
    ShellResult result;
    // A name that is there twice would be read differently by different shells.
    std::vector<std::string> texts;
    for (char** entry = environ; *entry; ++entry) {
        const std::string_view text(*entry);
        if (std::none_of(variables.begin(), variables.end(), [&](const auto& variable) {
                return text.substr(0, text.find('=')) == variable.first;
            }))
            texts.emplace_back(text);
    }
    for (const auto& [name, value] : variables)
        texts.push_back(name + "=" + value);
    std::vector<char*> environment;
    for (std::string& text : texts)
        environment.push_back(text.data());
    environment.push_back(nullptr);

    Pipe output, errors;
    const bool piped = output.open() && errors.open();
    const pid_t child =
        piped ? start(line, environment.data(), output.write.get(), errors.write.get()) : -errno;
    if (child < 0) {
        result.failure = errnoText("could not be started", -child);
        return result;
    }
    output.write.reset();
    errors.write.reset();
    const auto deadline = Clock::now() + timeout;
    int status = 0;
    bool ended = false;
    // What the shell has left running in the background may keep the pipes open for ever.
    while (!ended && Clock::now() < deadline) {
        std::array<pollfd, 2> fds{{{output.read.get(), POLLIN, 0}, {errors.read.get(), POLLIN, 0}}};
        const bool open = output.read || errors.read;
        (void)::poll(fds.data(), fds.size(), open ? kLookMs : kLookAtEndMs);
        drain(output.read, result.output, kLongestOutput);
        drain(errors.read, result.errors, kLongestErrors);
        ended = ::waitpid(child, &status, WNOHANG) == child;
    }
    if (!ended) {
        ::kill(-child, SIGKILL);
        while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        result.failure = "was stopped after " + std::to_string(timeout.count() / 1000) + " s";
    } else {
        result.failure = endText(status);
    }
    drain(output.read, result.output, kLongestOutput);
    drain(errors.read, result.errors, kLongestErrors);
    return result;
}

} // namespace knobscope::agent
