// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/frame/guardian.h"
#include "agents/agent/frame/knobkeeper.h"
#include "agents/agent/frame/worker.h"
#include "agents/protocol/build.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

namespace knobscope::agent {
namespace {

constexpr const char* kHelp =
    "Usage: knobscope-agent             answer requests on standard input\n"
    "       knobscope-agent --recover   put back knobs that a dead agent left behind\n"
    "       knobscope-agent --version   print version, protocol version and build\n"
    "       knobscope-agent --help      print this\n"
    "\n"
    "The part of Knobscope that runs on a host: it sets knobs and puts them back, sends test\n"
    "traffic and reads counters. It speaks JSON-RPC 2.0, one message a line:\n"
    "\n"
    "  {\"id\":1,\"method\":\"hello\",\"params\":{\"protocol\":1,\"run\":\"by hand\","
    "\"lease_seconds\":600}}\n"
    "  {\"id\":2,\"method\":\"knob.read\",\"params\":[{\"name\":\"sysctl:net.ipv4.tcp_rmem\"}]}\n"
    "  {\"id\":3,\"method\":\"knob.apply\",\"params\":[{\"name\":\"link:mtu\","
    "\"interface\":\"eth0\",\"value\":\"1400\"}]}\n"
    "  {\"id\":4,\"method\":\"snapshot\",\"params\":{\"interface\":\"eth0\"}}\n"
    "\n"
    "Other methods: ping, environment, knob.restore, traffic.prepare, traffic.start,\n"
    "traffic.result, traffic.cancel, quit. At the end of the input, after lease_seconds without\n"
    "a request, and whatever dies, every knob is put back.\n"
    "\n"
    "Exit status: 0 all well, 1 contact was lost (knobs are back), 2 wrong arguments, 4 a knob\n"
    "could not be put back.\n";

void blockSignals(int how) {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGTERM, SIGINT, SIGCHLD})
        sigaddset(&set, number);
    ::sigprocmask(how, &set, nullptr);
}

/// Starts from a known state, whatever the starter was like.
void tidyProcess() {
    // A descriptor that another pipe gets by chance must not be taken for standard input.
    for (int fd = 0; fd <= 2; ++fd) {
        if (::fcntl(fd, F_GETFD) < 0)
            (void)::open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY);
    }
    // Open ends of the starter's pipes would hide their closing from others.
    ::close_range(3, UINT_MAX, 0);
    ::umask(077);
    if (::chdir("/") != 0) {
        // Staying is no harm.
    }
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGCHLD, SIG_DFL);
}

[[noreturn]] void beWorker(UniqueFd guardian, pid_t parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent)
        std::exit(static_cast<int>(AgentExit::WorkerLost));
    blockSignals(SIG_UNBLOCK);
    int status = 0;
    try {
        Worker(STDIN_FILENO, STDOUT_FILENO, std::move(guardian)).run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "knobscope-agent: %s\n", error.what());
        status = static_cast<int>(AgentExit::WorkerLost);
    }
    std::exit(status);
}

int serve() {
    if (::isatty(STDIN_FILENO))
        std::fputs("knobscope-agent: one JSON-RPC request a line (see --help); Ctrl-D ends.\n",
                   stderr);
    blockSignals(SIG_BLOCK);
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        std::fprintf(stderr, "knobscope-agent: socketpair: %s\n", std::strerror(errno));
        return static_cast<int>(AgentExit::WorkerLost);
    }
    UniqueFd forGuardian(ends[0]);
    UniqueFd forWorker(ends[1]);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
        std::fprintf(stderr, "knobscope-agent: fork: %s\n", std::strerror(errno));
        return static_cast<int>(AgentExit::WorkerLost);
    }
    if (child == 0) {
        forGuardian.reset();
        beWorker(std::move(forWorker), parent);
    }
    forWorker.reset();
    return static_cast<int>(runGuardian(std::move(forGuardian), child));
}

int recoverKnobs() {
    blockSignals(SIG_BLOCK);
    std::signal(SIGHUP, SIG_IGN);
    KnobKeeper keeper([](const std::string& text) { std::printf("%s\n", text.c_str()); });
    for (const protocol::UndoReport& report : keeper.recover()) {
        const std::string knob =
            report.name + (report.interface.empty() ? "" : " of " + report.interface);
        if (!report.restored)
            std::printf("NOT restored: %s should be %s: %s%s%s\n", knob.c_str(),
                        report.original.c_str(), report.error.c_str(),
                        report.command.empty() ? "" : "; by hand: ", report.command.c_str());
        else
            std::printf("restored: %s is %s again%s\n", knob.c_str(), report.original.c_str(),
                        report.changed_by_other ? " (somebody else had changed it meanwhile)" : "");
    }
    return static_cast<int>(keeper.failed() ? AgentExit::NotRestored : AgentExit::AllWell);
}

int runProgram(int argc, char** argv) {
    tidyProcess();
    if (argc == 1)
        return serve();
    const std::string option = argv[1];
    if (argc == 2 && option == "--version") {
        std::printf("knobscope-agent %s (protocol %d, build %s)\n", protocol::kProductVersion,
                    protocol::kVersion, protocol::kBuild);
        return 0;
    }
    if (argc == 2 && option == "--help") {
        std::fputs(kHelp, stdout);
        return 0;
    }
    if (argc == 2 && option == "--recover")
        return recoverKnobs();
    std::fprintf(stderr, "knobscope-agent: %s is not understood; see knobscope-agent --help\n",
                 argc == 2 ? option.c_str() : "more than one argument");
    return static_cast<int>(AgentExit::BadArguments);
}

} // namespace
} // namespace knobscope::agent

int main(int argc, char** argv) {
    try {
        return knobscope::agent::runProgram(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "knobscope-agent: %s\n", error.what());
        return 1;
    }
}
