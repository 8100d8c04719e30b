// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/engine/tcpinfo.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>

namespace knobscope::agent {

namespace {

struct Field {
    const char* name;
    std::size_t offset;
    std::size_t size;
};

#define FIELD(name)                                                                                \
    { #name, offsetof(tcp_info, tcpi_##name), sizeof(tcp_info::tcpi_##name) }

constexpr Field kFields[] = {
    FIELD(state),         FIELD(ca_state),
    FIELD(retransmits),   FIELD(probes),
    FIELD(backoff),       FIELD(options),
    FIELD(rto),           FIELD(ato),
    FIELD(snd_mss),       FIELD(rcv_mss),
    FIELD(unacked),       FIELD(sacked),
    FIELD(lost),          FIELD(retrans),
    FIELD(fackets),       FIELD(last_data_sent),
    FIELD(last_ack_sent), FIELD(last_data_recv),
    FIELD(last_ack_recv), FIELD(pmtu),
    FIELD(rcv_ssthresh),  FIELD(rtt),
    FIELD(rttvar),        FIELD(snd_ssthresh),
    FIELD(snd_cwnd),      FIELD(advmss),
    FIELD(reordering),    FIELD(rcv_rtt),
    FIELD(rcv_space),     FIELD(total_retrans),
    FIELD(pacing_rate),   FIELD(max_pacing_rate),
    FIELD(bytes_acked),   FIELD(bytes_received),
    FIELD(segs_out),      FIELD(segs_in),
    FIELD(notsent_bytes), FIELD(min_rtt),
    FIELD(data_segs_in),  FIELD(data_segs_out),
    FIELD(delivery_rate), FIELD(busy_time),
    FIELD(rwnd_limited),  FIELD(sndbuf_limited),
    FIELD(delivered),     FIELD(delivered_ce),
    FIELD(bytes_sent),    FIELD(bytes_retrans),
    FIELD(dsack_dups),    FIELD(reord_seen),
    FIELD(rcv_ooopack),   FIELD(snd_wnd),
};

#undef FIELD

/// The bit fields have no offset of their own; they lie before the first of the 32-bit fields.
void addBitFields(const tcp_info& info, std::map<std::string, std::int64_t>& fields) {
    fields["snd_wscale"] = info.tcpi_snd_wscale;
    fields["rcv_wscale"] = info.tcpi_rcv_wscale;
    fields["delivery_rate_app_limited"] = info.tcpi_delivery_rate_app_limited;
    fields["fastopen_client_fail"] = info.tcpi_fastopen_client_fail;
}

template<typename T>
void addField(const char* name, const char* at, std::map<std::string, std::int64_t>& fields) {
    T value;
    std::memcpy(&value, at, sizeof value);
    // All bits set in a wide field is "unlimited" (max_pacing_rate) or "not measured" (min_rtt).
    if (sizeof value >= sizeof(std::uint32_t) && value == static_cast<T>(-1))
        return;
    fields[name] = static_cast<std::int64_t>(value);
}

} // namespace

std::map<std::string, std::int64_t> tcpInfoFields(const void* data, std::size_t length) {
    tcp_info info{};
    std::memcpy(&info, data, std::min(length, sizeof info));
    const char* bytes = reinterpret_cast<const char*>(&info);
    std::map<std::string, std::int64_t> fields;
    if (length >= offsetof(tcp_info, tcpi_rto))
        addBitFields(info, fields);
    for (const Field& field : kFields) {
        if (field.offset + field.size > length)
            continue;
        if (field.size == sizeof(std::uint8_t))
            addField<std::uint8_t>(field.name, bytes + field.offset, fields);
        else if (field.size == sizeof(std::uint32_t))
            addField<std::uint32_t>(field.name, bytes + field.offset, fields);
        else
            addField<std::uint64_t>(field.name, bytes + field.offset, fields);
    }
    return fields;
}

std::map<std::string, std::int64_t> tcpInfo(int socket) {
    tcp_info info{};
    socklen_t length = sizeof info;
    if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0)
        return {};
    return tcpInfoFields(&info, length);
}

} // namespace knobscope::agent
