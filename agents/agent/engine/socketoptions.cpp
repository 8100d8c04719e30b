// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/socketoptions.h"

#include "agents/agent/error.h"
#include "agents/agent/kernel/textfile.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <exception>
#include <limits>
#include <memory>
#include <thread>

namespace knobscope::agent {

namespace {

[[noreturn]] void fail(const std::string& message) {
    throw AgentError(protocol::errorcode::kTraffic, message);
}

std::string firstLine(const char* path) {
    return readLine(path).value_or("unknown");
}

void setInt(int socket, int level, int option, int value, const std::string& what) {
    if (::setsockopt(socket, level, option, &value, sizeof value) != 0)
        fail(errnoText(what + " " + std::to_string(value) + " was refused by the kernel", errno));
}

void setWindow(int socket, std::int64_t window) {
    if (window < 1 || window > std::numeric_limits<int>::max())
        fail("window " + std::to_string(window) + " is not between 1 and 2147483647 bytes");
    const int bytes = static_cast<int>(window);
    setInt(socket, SOL_SOCKET, SO_SNDBUF, bytes, "window (SO_SNDBUF)");
    setInt(socket, SOL_SOCKET, SO_RCVBUF, bytes, "window (SO_RCVBUF)");
}

void setCongestionControl(int socket, const std::string& name) {
    if (::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(),
                     static_cast<socklen_t>(name.size())) == 0)
        return;
    const int error = errno;
    std::string message = errnoText("congestion control \"" + name + "\" was refused", error);
    if (error == EPERM)
        message += "; this user may choose: " +
                   firstLine("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
    else
        message +=
            "; this host has: " + firstLine("/proc/sys/net/ipv4/tcp_available_congestion_control");
    fail(message);
}

std::optional<std::int64_t> getInt(int socket, int level, int option) {
    int value = 0;
    socklen_t length = sizeof value;
    if (::getsockopt(socket, level, option, &value, &length) != 0)
        return std::nullopt;
    return value;
}

/// A cpu_set_t of any size: hosts with more than 1024 CPUs exist.
int setAffinity(int cpu) {
    const auto count = static_cast<std::size_t>(cpu) + 1;
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(count), [](cpu_set_t* old) { CPU_FREE(old); });
    if (!set)
        return ENOMEM;
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    CPU_ZERO_S(bytes, set.get());
    CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set.get());
    return ::pthread_setaffinity_np(::pthread_self(), bytes, set.get());
}

} // namespace

void applyTestKnobs(int socket, const protocol::TrafficConfig& config) {
    if (config.window)
        setWindow(socket, *config.window);
    if (config.mss)
        setInt(socket, IPPROTO_TCP, TCP_MAXSEG, *config.mss, "mss");
    if (config.nodelay)
        setNoDelay(socket);
    if (config.congestion_control)
        setCongestionControl(socket, *config.congestion_control);
}

BufferSizes bufferSizes(int socket) {
    return {getInt(socket, SOL_SOCKET, SO_SNDBUF), getInt(socket, SOL_SOCKET, SO_RCVBUF)};
}

std::optional<std::int64_t> maxSegment(int socket) {
    return getInt(socket, IPPROTO_TCP, TCP_MAXSEG);
}

std::optional<std::string> congestionControl(int socket) {
    std::array<char, 32> name{};
    socklen_t length = name.size() - 1;
    if (::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) != 0 ||
        name[0] == '\0')
        return std::nullopt;
    return std::string(name.data());
}

void setBlocking(int socket, bool blocking) {
    const int flags = ::fcntl(socket, F_GETFL);
    const int wanted = blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK;
    if (flags < 0 || ::fcntl(socket, F_SETFL, wanted) != 0)
        fail(errnoText("cannot change the mode of a test connection", errno));
}

void setNoDelay(int socket) {
    setInt(socket, IPPROTO_TCP, TCP_NODELAY, 1, "nodelay");
}

void resetOnClose(int socket) {
    const linger now{1, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

void pinThread(int cpu) {
    constexpr int kMaxCpus = 65536; // beyond what Linux can be built for
    const int error = cpu < 0 || cpu >= kMaxCpus ? EINVAL : setAffinity(cpu);
    if (error == 0)
        return;
    fail(errnoText("cannot run on CPU " + std::to_string(cpu), error) + "; this host has CPUs " +
         firstLine("/sys/devices/system/cpu/online") + " online");
}

void checkCpu(int cpu) {
    // Only trying tells, since cpusets and offline CPUs count too; a thread that ends leaves the
    // caller's own affinity alone.
    std::exception_ptr failure;
    std::thread([&] {
        try {
            pinThread(cpu);
        } catch (...) {
            failure = std::current_exception();
        }
    }).join();
    if (failure)
        std::rethrow_exception(failure);
}

} // namespace knobscope::agent
