// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The least of netlink that the agent needs: one question, its answers, the kernel's verdict.
namespace knobscope::agent {

/// The kernel (or the socket) said no. `error()` is the errno; the message has the kernel's
/// extended error text where it gave one.
class NetlinkError : public AgentError {
public:
    NetlinkError(int error, const std::string& text);
    [[nodiscard]] int error() const { return m_error; }

private:
    int m_error;
};

/// Builds a message body: a fixed header of the family, then attributes.
class NetlinkBody {
public:
    template<typename Header>
    explicit NetlinkBody(const Header& header)
        : m_bytes(reinterpret_cast<const char*>(&header), sizeof header) {
        pad();
    }
    void put(int type, std::string_view bytes);
    void putU8(int type, std::uint8_t value);
    void putU32(int type, std::uint32_t value);
    void putU64(int type, std::uint64_t value);
    void putText(int type, std::string_view text); ///< NUL-terminated
    void putFlag(int type);
    /// Opens a nested attribute; give what it returns to endNest().
    [[nodiscard]] std::size_t beginNest(int type);
    void endNest(std::size_t nest);
    /// Plain bytes, such as the struct with which some nests begin.
    void append(std::string_view bytes);
    [[nodiscard]] const std::string& bytes() const { return m_bytes; }

private:
    void pad();
    std::string m_bytes;
};

/// Attributes of a message or of a nest, in order. Views into the bytes that it was made from;
/// what does not fit into them is left out.
class NetlinkAttributes {
public:
    explicit NetlinkAttributes(std::string_view bytes);
    [[nodiscard]] bool has(int type) const { return find(type).has_value(); }
    [[nodiscard]] std::optional<std::string_view> find(int type) const;
    /// Numbers of one, two, four or eight bytes, in host order.
    [[nodiscard]] std::optional<std::uint64_t> number(int type) const;
    [[nodiscard]] std::optional<std::string> text(int type) const;
    [[nodiscard]] NetlinkAttributes nest(int type) const;
    [[nodiscard]] const std::vector<std::pair<int, std::string_view>>& all() const& {
        return m_all;
    }
    void all() const&& = delete; // a loop over a temporary would outlive it

private:
    std::vector<std::pair<int, std::string_view>> m_all;
};

/// One netlink socket. Not shared between threads. A question waits 2 s for the kernel at most.
class NetlinkSocket {
public:
    explicit NetlinkSocket(int protocol); ///< NETLINK_ROUTE, NETLINK_GENERIC; throws NetlinkError
    ~NetlinkSocket();
    NetlinkSocket(const NetlinkSocket&) = delete;
    NetlinkSocket& operator=(const NetlinkSocket&) = delete;

    /// Asks and gives the bodies of all answers (with the family's header); throws NetlinkError.
    std::vector<std::string> ask(int type, int flags, const NetlinkBody& body);

private:
    /// Takes one datagram apart; true when it ended the conversation.
    bool take(std::string_view datagram, std::uint32_t sequence, std::vector<std::string>& answers);
    std::string receive();
    int m_fd = -1;
    std::uint32_t m_sequence = 0;
};

} // namespace knobscope::agent
