// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/address.h"

#include "agents/agent/error.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cstring>

namespace knobscope::agent {

namespace {

template<typename T>
T as(const sockaddr_storage& storage) {
    T address;
    std::memcpy(&address, &storage, sizeof address);
    return address;
}

} // namespace

Address::Address(const sockaddr_storage& storage, socklen_t length)
    : m_storage(storage), m_length(length) {}

Address Address::parse(const std::string& text, int port) {
    if (port < 0 || port > 65535)
        failTraffic("port " + std::to_string(port) + " is not between 0 and 65535");
    sockaddr_storage storage{};
    sockaddr_in four{};
    if (::inet_pton(AF_INET, text.c_str(), &four.sin_addr) == 1) {
        four.sin_family = AF_INET;
        four.sin_port = htons(static_cast<std::uint16_t>(port));
        std::memcpy(&storage, &four, sizeof four);
        return {storage, sizeof four};
    }
    sockaddr_in6 six{};
    const auto percent = text.find('%');
    if (::inet_pton(AF_INET6, text.substr(0, percent).c_str(), &six.sin6_addr) != 1)
        failTraffic("\"" + text + "\" is not an IPv4 or IPv6 address");
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(static_cast<std::uint16_t>(port));
    if (percent != std::string::npos) {
        const std::string interface = text.substr(percent + 1);
        six.sin6_scope_id = ::if_nametoindex(interface.c_str());
        if (six.sin6_scope_id == 0)
            failTraffic("the address " + text + " names the interface \"" + interface +
                        "\", which this host does not have");
    }
    std::memcpy(&storage, &six, sizeof six);
    Address address(storage, sizeof six);
    if (address.needsScope())
        failTraffic("the link-local address " + text + " needs its interface, as in " + text +
                    "%eth0");
    return address;
}

const sockaddr* Address::data() const {
    return reinterpret_cast<const sockaddr*>(&m_storage);
}

int Address::port() const {
    // Both families have the port at the same place.
    return ntohs(as<sockaddr_in>(m_storage).sin_port);
}

Address Address::withPort(int port) const {
    sockaddr_storage storage = m_storage;
    const in_port_t number = htons(static_cast<std::uint16_t>(port));
    std::memcpy(reinterpret_cast<char*>(&storage) + offsetof(sockaddr_in, sin_port), &number,
                sizeof number);
    return {storage, m_length};
}

bool Address::needsScope() const {
    if (family() != AF_INET6)
        return false;
    const auto six = as<sockaddr_in6>(m_storage);
    return IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr) && six.sin6_scope_id == 0;
}

bool Address::sameHost(const Address& other) const {
    if (family() != other.family())
        return false;
    if (family() == AF_INET)
        return as<sockaddr_in>(m_storage).sin_addr.s_addr ==
               as<sockaddr_in>(other.m_storage).sin_addr.s_addr;
    const auto a = as<sockaddr_in6>(m_storage);
    const auto b = as<sockaddr_in6>(other.m_storage);
    // Interface numbers are this host's own for both, but only link-local addresses have one.
    const bool sameScope =
        a.sin6_scope_id == 0 || b.sin6_scope_id == 0 || a.sin6_scope_id == b.sin6_scope_id;
    return sameScope && std::memcmp(&a.sin6_addr, &b.sin6_addr, sizeof a.sin6_addr) == 0;
}

} // namespace knobscope::agent
