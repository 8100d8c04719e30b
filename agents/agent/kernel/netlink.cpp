// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/netlink.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace knobscope::agent {

namespace {

constexpr std::size_t aligned(std::size_t length) {
    return (length + 3) & ~std::size_t{3};
}

/// "Invalid argument", or the kernel's own words before it.
std::string verdict(int error, std::string_view extended) {
    std::string text(extended);
    if (!text.empty() && text.back() == '.')
        text.pop_back();
    const std::string name = std::strerror(error);
    return text.empty() ? name : text + " (" + name + ")";
}

/// Throws for an NLMSG_ERROR body that is a failure; returns for an acknowledgement.
void checkAcknowledgement(const nlmsghdr& header, std::string_view body) {
    if (body.size() < sizeof(int))
        throw NetlinkError(EBADMSG, "the kernel's netlink answer is cut short");
    int error = 0;
    std::memcpy(&error, body.data(), sizeof error);
    if (error == 0)
        return;
    std::string extended;
    nlmsgerr echoed{};
    if ((header.nlmsg_flags & NLM_F_ACK_TLVS) && body.size() >= sizeof echoed) {
        std::memcpy(&echoed, body.data(), sizeof echoed);
        std::size_t skip = sizeof echoed;
        if (!(header.nlmsg_flags & NLM_F_CAPPED))
            skip = sizeof(int) + aligned(echoed.msg.nlmsg_len);
        if (skip <= body.size())
            extended = NetlinkAttributes(body.substr(skip)).text(NLMSGERR_ATTR_MSG).value_or("");
    }
    throw NetlinkError(-error, verdict(-error, extended));
}

} // namespace

NetlinkError::NetlinkError(int error, const std::string& text)
    : AgentError(protocol::errorcode::kKnob, text), m_error(error) {}

void NetlinkBody::pad() {
    m_bytes.resize(aligned(m_bytes.size()));
}

void NetlinkBody::put(int type, std::string_view value) {
    nlattr header{};
    header.nla_len = static_cast<std::uint16_t>(NLA_HDRLEN + value.size());
    header.nla_type = static_cast<std::uint16_t>(type);
    m_bytes.append(reinterpret_cast<const char*>(&header), sizeof header);
    m_bytes.append(value);
    pad();
}

void NetlinkBody::append(std::string_view bytes) {
    m_bytes.append(bytes);
    pad();
}

void NetlinkBody::putU8(int type, std::uint8_t value) {
    put(type, {reinterpret_cast<const char*>(&value), sizeof value});
}

void NetlinkBody::putU64(int type, std::uint64_t value) {
    put(type, {reinterpret_cast<const char*>(&value), sizeof value});
}

void NetlinkBody::putU32(int type, std::uint32_t value) {
    put(type, {reinterpret_cast<const char*>(&value), sizeof value});
}

void NetlinkBody::putText(int type, std::string_view text) {
    put(type, std::string(text) + '\0');
}

void NetlinkBody::putFlag(int type) {
    put(type, {});
}

std::size_t NetlinkBody::beginNest(int type) {
    const std::size_t nest = m_bytes.size();
    put(type | NLA_F_NESTED, {});
    return nest;
}

void NetlinkBody::endNest(std::size_t nest) {
    const auto length = static_cast<std::uint16_t>(m_bytes.size() - nest);
    std::memcpy(m_bytes.data() + nest, &length, sizeof length);
}

NetlinkAttributes::NetlinkAttributes(std::string_view bytes) {
    nlattr header{};
    while (bytes.size() >= sizeof header) {
        std::memcpy(&header, bytes.data(), sizeof header);
        if (header.nla_len < sizeof header || header.nla_len > bytes.size())
            return;
        m_all.emplace_back(header.nla_type & NLA_TYPE_MASK,
                           bytes.substr(sizeof header, header.nla_len - sizeof header));
        bytes.remove_prefix(std::min(aligned(header.nla_len), bytes.size()));
    }
}

std::optional<std::string_view> NetlinkAttributes::find(int type) const {
    for (const auto& [one, value] : m_all)
        if (one == type)
            return value;
    return std::nullopt;
}

std::optional<std::uint64_t> NetlinkAttributes::number(int type) const {
    const auto bytes = find(type);
    if (!bytes)
        return std::nullopt;
    const auto as = [&]<typename T>(T value) -> std::uint64_t {
        std::memcpy(&value, bytes->data(), sizeof value);
        return value;
    };
    switch (bytes->size()) {
    case 1:
        return as(std::uint8_t{});
    case 2:
        return as(std::uint16_t{});
    case 4:
        return as(std::uint32_t{});
    case 8:
        return as(std::uint64_t{});
    default:
        return std::nullopt;
    }
}

std::optional<std::string> NetlinkAttributes::text(int type) const {
    const auto bytes = find(type);
    if (!bytes)
        return std::nullopt;
    return std::string(bytes->substr(0, bytes->find('\0')));
}

NetlinkAttributes NetlinkAttributes::nest(int type) const {
    return NetlinkAttributes(find(type).value_or(std::string_view{}));
}

NetlinkSocket::NetlinkSocket(int protocol) {
    m_fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
    if (m_fd < 0)
        throw NetlinkError(errno, errnoText("cannot open a netlink socket", errno));
    const int on = 1;
    // Kernels before 4.12 know neither; then there is only the errno.
    (void)::setsockopt(m_fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
    (void)::setsockopt(m_fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
    const timeval limit{2, 0};
    (void)::setsockopt(m_fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    (void)::setsockopt(m_fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

NetlinkSocket::~NetlinkSocket() {
    ::close(m_fd);
}

std::string NetlinkSocket::receive() {
    for (;;) {
        // Ask for the size first: a cut answer would be a silent loss.
        ssize_t size = ::recv(m_fd, nullptr, 0, MSG_PEEK | MSG_TRUNC);
        std::string datagram;
        sockaddr_nl from{};
        if (size > 0) {
            datagram.resize(static_cast<std::size_t>(size));
            socklen_t length = sizeof from;
            size = ::recvfrom(m_fd, datagram.data(), datagram.size(), 0,
                              reinterpret_cast<sockaddr*>(&from), &length);
        }
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0 && errno == EAGAIN)
            throw NetlinkError(ETIMEDOUT, "the kernel did not answer over netlink within 2 s");
        if (size < 0)
            throw NetlinkError(errno, errnoText("cannot receive from netlink", errno));
        if (from.nl_pid != 0) // not the kernel
            continue;
        datagram.resize(static_cast<std::size_t>(size));
        return datagram;
    }
}

bool NetlinkSocket::take(std::string_view datagram, std::uint32_t sequence,
                         std::vector<std::string>& answers) {
    nlmsghdr header{};
    while (datagram.size() >= sizeof header) {
        std::memcpy(&header, datagram.data(), sizeof header);
        if (header.nlmsg_len < sizeof header || header.nlmsg_len > datagram.size())
            throw NetlinkError(EBADMSG, "the kernel's netlink answer is cut short");
        const std::string_view body =
            datagram.substr(sizeof header, header.nlmsg_len - sizeof header);
        datagram.remove_prefix(std::min(aligned(header.nlmsg_len), datagram.size()));
        if (header.nlmsg_seq != sequence)
            continue;
        if (header.nlmsg_type == NLMSG_ERROR) {
            checkAcknowledgement(header, body);
            return true;
        }
        if (header.nlmsg_type == NLMSG_DONE)
            return true;
        if (header.nlmsg_type >= NLMSG_MIN_TYPE)
            answers.emplace_back(body);
    }
    return false;
}

std::vector<std::string> NetlinkSocket::ask(int type, int flags, const NetlinkBody& body) {
    nlmsghdr header{};
    header.nlmsg_len = static_cast<std::uint32_t>(sizeof header + body.bytes().size());
    header.nlmsg_type = static_cast<std::uint16_t>(type);
    // A dump ends with NLMSG_DONE; all else is acknowledged on demand. The bits of NLM_F_DUMP have
    // another meaning in requests that make something, which have NLM_F_CREATE too.
    const int ack = flags == NLM_F_DUMP ? 0 : NLM_F_ACK;
    header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | ack | flags);
    header.nlmsg_seq = ++m_sequence;
    std::string message(reinterpret_cast<const char*>(&header), sizeof header);
    message += body.bytes();
    sockaddr_nl kernel{};
    kernel.nl_family = AF_NETLINK;
    if (::sendto(m_fd, message.data(), message.size(), 0, reinterpret_cast<sockaddr*>(&kernel),
                 sizeof kernel) < 0)
        throw NetlinkError(errno, errnoText("cannot send to netlink", errno));
    std::vector<std::string> answers;
    while (!take(receive(), m_sequence, answers)) {
    }
    return answers;
}

} // namespace knobscope::agent
