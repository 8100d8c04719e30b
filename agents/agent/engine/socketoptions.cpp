// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/socketoptions.h"

#include "agents/agent/engine/address.h"
#include "agents/agent/engine/tcpinfo.h"
#include "agents/agent/error.h"
#include "agents/agent/kernel/textfile.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <limits>

namespace knobscope::agent {

namespace {

std::string firstLine(const char* path) {
    return readLine(path).value_or("unknown");
}

[[noreturn]] void failOption(const std::string& what, std::int64_t value, int error) {
    std::string message =
        errnoText(what + " " + std::to_string(value) + " was refused by the kernel", error);
    if (error == EPERM || error == EACCES)
        message += "; it may need root";
    failKnob(message);
}

void setInt(int socket, int level, int option, std::int64_t value, const std::string& what) {
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
        failKnob(what + " " + std::to_string(value) + " is beyond what a socket option holds");
    const int number = static_cast<int>(value);
    if (::setsockopt(socket, level, option, &number, sizeof number) != 0)
        failOption(what, value, errno);
}

void setBuffer(int socket, int option, std::int64_t bytes, const std::string& what) {
    if (bytes < 1 || bytes > std::numeric_limits<int>::max())
        failKnob(what + " " + std::to_string(bytes) + " is not between 1 and 2147483647 bytes");
    setInt(socket, SOL_SOCKET, option, bytes, what);
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
    failKnob(message);
}

std::optional<std::int64_t> getInt(int socket, int level, int option) {
    int value = 0;
    socklen_t length = sizeof value;
    if (::getsockopt(socket, level, option, &value, &length) != 0)
        return std::nullopt;
    return value;
}

bool isIpv6(int socket) {
    return getInt(socket, SOL_SOCKET, SO_DOMAIN) == AF_INET6;
}

void applyIpKnobs(int socket, const protocol::TrafficConfig& config) {
    // Asked only where it matters: tcp_crr comes here once a transaction.
    const bool six = (config.tos || config.ttl) && isIpv6(socket);
    if (config.tos)
        setInt(socket, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_TCLASS : IP_TOS, *config.tos,
               "tos");
    if (config.ttl)
        setInt(socket, six ? IPPROTO_IPV6 : IPPROTO_IP, six ? IPV6_UNICAST_HOPS : IP_TTL,
               *config.ttl, "ttl");
    if (config.priority)
        setInt(socket, SOL_SOCKET, SO_PRIORITY, *config.priority, "priority");
    if (config.busy_poll)
        setInt(socket, SOL_SOCKET, SO_BUSY_POLL, *config.busy_poll, "busy_poll");
    if (!config.bind_interface.empty() &&
        ::setsockopt(socket, SOL_SOCKET, SO_BINDTODEVICE, config.bind_interface.data(),
                     static_cast<socklen_t>(config.bind_interface.size())) != 0)
        failKnob(
            errnoText("cannot bind a test socket to interface " + config.bind_interface, errno));
    if (config.pacing_rate) {
        const auto rate = static_cast<std::uint64_t>(*config.pacing_rate);
        if (::setsockopt(socket, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof rate) != 0)
            failOption("pacing_rate", *config.pacing_rate, errno);
    }
}

void applyTcpKnobs(int socket, const protocol::TrafficConfig& config) {
    if (config.mss)
        setInt(socket, IPPROTO_TCP, TCP_MAXSEG, *config.mss, "mss");
    if (config.nodelay)
        setNoDelay(socket);
    if (config.cork)
        setInt(socket, IPPROTO_TCP, TCP_CORK, 1, "cork");
    if (config.congestion_control)
        setCongestionControl(socket, *config.congestion_control);
    if (config.notsent_lowat)
        setInt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, *config.notsent_lowat, "notsent_lowat");
    if (config.send_method == "zerocopy")
        setInt(socket, SOL_SOCKET, SO_ZEROCOPY, 1, "zero copy");
}

std::optional<std::string> congestionControl(int socket) {
    std::array<char, 32> name{};
    socklen_t length = name.size() - 1;
    if (::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) != 0 ||
        name[0] == '\0')
        return std::nullopt;
    return std::string(name.data());
}

} // namespace

void applyTestKnobs(int socket, const protocol::TrafficConfig& config) {
    if (const auto bytes = config.send_window ? config.send_window : config.window)
        setBuffer(socket, SO_SNDBUF, *bytes, config.send_window ? "send_window" : "window");
    if (const auto bytes = config.receive_window ? config.receive_window : config.window)
        setBuffer(socket, SO_RCVBUF, *bytes, config.receive_window ? "receive_window" : "window");
    applyIpKnobs(socket, config);
    if (config.kind.starts_with("tcp"))
        applyTcpKnobs(socket, config);
    else if (config.udp_gro)
        setInt(socket, IPPROTO_UDP, UDP_GRO, 1, "udp_gro");
}

BufferSizes bufferSizes(int socket) {
    return {getInt(socket, SOL_SOCKET, SO_SNDBUF), getInt(socket, SOL_SOCKET, SO_RCVBUF)};
}

SocketState socketState(int socket) {
    return {bufferSizes(socket),
            getInt(socket, SOL_SOCKET, SO_RCVLOWAT),
            getInt(socket, IPPROTO_TCP, TCP_MAXSEG),
            congestionControl(socket),
            tcpInfo(socket),
            localPort(socket)};
}

int localPort(int socket) {
    sockaddr_storage storage{};
    socklen_t length = sizeof storage;
    if (::getsockname(socket, reinterpret_cast<sockaddr*>(&storage), &length) != 0)
        return 0;
    return Address(storage, length).port();
}

void setBlocking(int socket, bool blocking) {
    const int flags = ::fcntl(socket, F_GETFL);
    const int wanted = blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK;
    if (flags < 0 || ::fcntl(socket, F_SETFL, wanted) != 0)
        failKnob(errnoText("cannot change the mode of a test connection", errno));
}

void setNoDelay(int socket) {
    setInt(socket, IPPROTO_TCP, TCP_NODELAY, 1, "nodelay");
}

void setReceiveLowWater(int socket, std::int64_t bytes) {
    setInt(socket, SOL_SOCKET, SO_RCVLOWAT, bytes, "rcvlowat");
}

void setTimeouts(int socket, double seconds) {
    timeval time{};
    time.tv_sec = static_cast<time_t>(seconds);
    time.tv_usec = static_cast<suseconds_t>(std::lround((seconds - std::floor(seconds)) * 1e6));
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

void resetOnClose(int socket) {
    const linger now{1, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

} // namespace knobscope::agent
