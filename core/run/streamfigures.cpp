// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/run/streamfigures.h"

namespace knobscope {

namespace {

/// Fields of TCP_INFO that are kept.
constexpr std::pair<const char*, std::optional<qint64> StreamFigures::*> kTcpFields[] = {
    {"total_retrans", &StreamFigures::retransmits},
    {"snd_cwnd", &StreamFigures::congestionWindow},
    {"rtt", &StreamFigures::roundTripUs},
    {"rttvar", &StreamFigures::roundTripVariationUs},
    {"min_rtt", &StreamFigures::leastRoundTripUs},
    {"pmtu", &StreamFigures::pathMtu},
    {"delivery_rate", &StreamFigures::deliveryBytesPerSecond},
};

std::optional<DatagramFigures> datagramFigures(const std::optional<protocol::Datagrams>& told) {
    if (!told)
        return std::nullopt;
    return DatagramFigures{told->sent,      told->received,   told->lost,
                           told->reordered, told->duplicates, told->jitter_us};
}

std::optional<qint64> optionalNumber(const std::optional<std::int64_t>& value) {
    return value ? std::optional<qint64>(*value) : std::nullopt;
}

} // namespace

StreamFigures streamFigures(const protocol::StreamResult& stream, int instance, int number,
                            bool transactions) {
    StreamFigures figures;
    figures.instance = instance;
    figures.number = number;
    figures.sends = stream.sends;
    figures.bytesSent = stream.bytes_sent;
    figures.bytesReceived = stream.bytes_received;
    figures.sendCalls = stream.send_calls;
    figures.receiveCalls = stream.recv_calls;
    figures.elapsedSeconds = stream.elapsed_s;
    if (transactions)
        figures.transactions = static_cast<qint64>(stream.transactions);
    figures.sndbufInitial = optionalNumber(stream.sndbuf_initial);
    figures.rcvbufInitial = optionalNumber(stream.rcvbuf_initial);
    figures.sndbufFinal = optionalNumber(stream.sndbuf_final);
    figures.rcvbufFinal = optionalNumber(stream.rcvbuf_final);
    figures.rcvlowat = optionalNumber(stream.rcvlowat);
    figures.mss = optionalNumber(stream.mss);
    for (const auto& [field, member] : kTcpFields) {
        if (const auto found = stream.tcp_info.find(field); found != stream.tcp_info.end())
            figures.*member = found->second;
    }
    if (stream.local_port > 0)
        figures.localPort = stream.local_port;
    if (stream.congestion_control)
        figures.congestionControl = QString::fromStdString(*stream.congestion_control);
    figures.datagrams = datagramFigures(stream.datagrams);
    return figures;
}

} // namespace knobscope
