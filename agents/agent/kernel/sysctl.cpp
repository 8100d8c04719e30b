// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/sysctl.h"

#include "agents/agent/error.h"
#include "agents/agent/kernel/knobs.h"
#include "agents/agent/kernel/textfile.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace knobscope::agent {

namespace {

/// The kernel takes at most a page less one byte and cuts the rest off in silence.
constexpr std::size_t kMaxValueBytes = 4094;

[[noreturn]] void fail(const std::string& text) {
    throw AgentError(protocol::errorcode::kKnob, text);
}

[[noreturn]] void failOpen(const std::string& name, const char* purpose, int error) {
    const std::string what = "sysctl " + name;
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        fail(what + " does not exist on this host (a network namespace and an old kernel have "
                    "fewer; a module that is not loaded has none)");
    case EISDIR:
        fail(what + " is a group of settings, not one of them");
    case EACCES:
    case EPERM:
    case EROFS:
        fail(errnoText(what + " cannot be " + purpose +
                           " here (it may need root, or be read-only in this namespace)",
                       error));
    default:
        fail(errnoText(what + " cannot be " + purpose, error));
    }
}

/// Settings whose change changes others, which putting them back does not bring back.
void refuseSideEffects(const std::string& name, const std::string& path) {
    const std::string relative = path.substr(sizeof "/proc/sys/" - 1);
    if (relative == "net/ipv4/ip_forward" || relative == "net/ipv4/conf/all/forwarding" ||
        relative == "net/ipv6/conf/all/forwarding")
        fail("sysctl " + name +
             " also sets the forwarding of every interface, which would not be "
             "put back; set it yourself before the run");
    if (relative.starts_with("net/ipv6/conf/") && relative.ends_with("/disable_ipv6"))
        fail("sysctl " + name +
             " also removes IPv6 addresses and routes, which would not be put "
             "back; set it yourself before the run");
}

} // namespace

std::string sysctlPath(const std::string& name) {
    // As sysctl(8): the first separator tells which of the two it is; the other one then stands
    // for itself ("net.ipv4.conf.eth0/1.mtu" and "net/ipv4/conf/eth0.1/mtu" are the same).
    std::string relative = name;
    const auto first = name.find_first_of("./");
    if (first != std::string::npos && name[first] == '.') {
        for (char& c : relative)
            c = c == '.' ? '/' : c == '/' ? '.' : c;
    }
    std::size_t start = 0;
    for (;;) {
        const std::size_t end = std::min(relative.find('/', start), relative.size());
        const std::string_view part = std::string_view(relative).substr(start, end - start);
        if (part.empty() || part == "." || part == ".." ||
            part.find('\0') != std::string_view::npos)
            fail("'" + std::string(name.c_str()) + // up to a NUL
                 "' is not a sysctl name; give one such as net.ipv4.tcp_rmem");
        if (end == relative.size())
            return "/proc/sys/" + relative;
        start = end + 1;
    }
}

std::string readSysctl(const std::string& name) {
    const auto text = readText(sysctlPath(name), std::size_t{1} << 20);
    if (!text)
        failOpen(name, "read", errno);
    return folded(*text);
}

void writeSysctl(const std::string& name, const std::string& value) {
    const std::string path = sysctlPath(name);
    refuseSideEffects(name, path);
    if (value.find_first_of(std::string("\n\0", 2)) != std::string::npos)
        fail("sysctl " + name + ": a value is one line of text");
    if (value.size() > kMaxValueBytes)
        fail("sysctl " + name + ": a value of " + std::to_string(value.size()) +
             " bytes is too long for the kernel");
    switch (const int error = writeLine(path, value)) {
    case 0:
        return;
    case ENOENT:
        // Also what the kernel says of an algorithm that it does not have.
        if (::access(path.c_str(), F_OK) == 0)
            fail(errnoText("the kernel refuses '" + value + "' for sysctl " + name, error));
        failOpen(name, "written", error);
    case ENOTDIR:
    case EISDIR:
    case EPERM:
    case EACCES:
    case EROFS:
        failOpen(name, "written", error);
    case EMSGSIZE:
        fail("the kernel took only a part of '" + value + "' for sysctl " + name);
    default:
        fail(errnoText("the kernel refuses '" + value + "' for sysctl " + name, error));
    }
}

} // namespace knobscope::agent
