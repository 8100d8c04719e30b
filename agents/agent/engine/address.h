// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <sys/socket.h>

#include <string>

namespace knobscope::agent {

/// A numeric IPv4 or IPv6 address with a port. Names are not looked up: the workbench sends what
/// the host's interface has.
class Address {
public:
    /// "10.0.0.1", "2001:db8::1", "fe80::1%eth0". Throws AgentError, which names `text`.
    static Address parse(const std::string& text, int port);
    /// Of a socket, as accept() and getsockname() give it.
    Address(const sockaddr_storage& storage, socklen_t length);

    [[nodiscard]] const sockaddr* data() const;
    [[nodiscard]] socklen_t length() const { return m_length; }
    [[nodiscard]] int family() const { return m_storage.ss_family; }
    [[nodiscard]] int port() const;
    [[nodiscard]] Address withPort(int port) const;
    [[nodiscard]] bool sameHost(const Address& other) const; ///< ports may differ
    [[nodiscard]] bool needsScope() const;                   ///< link-local without an interface

private:
    sockaddr_storage m_storage{};
    socklen_t m_length = 0;
};

} // namespace knobscope::agent
