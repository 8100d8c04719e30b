// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the conductor that turns counts and socket states into the result.
#include "agents/agent/engine/conductor.h"
#include "agents/agent/error.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

namespace knobscope::agent {

namespace {

double seconds(Clock::duration duration) {
    return std::chrono::duration<double>(duration).count();
}

} // namespace

Counts Conductor::totals() const {
    Counts sum;
    for (const Stream& stream : m_streams)
        sum = sum + stream.counters.read();
    return sum;
}

/// `measuredDatagrams`: of a udp_stream only those sent after the warm-up, since only they count as
/// lost.
std::vector<Counts> Conductor::countsByStream(bool measuredDatagrams) const {
    std::vector<Counts> counts;
    counts.reserve(m_streams.size());
    for (const Stream& stream : m_streams) {
        counts.push_back(stream.counters.read());
        if (measuredDatagrams && m_setup.kind == TestKind::kUdpStream)
            counts.back().transactions = stream.measured().transactions;
    }
    return counts;
}

protocol::Interval Conductor::intervalAt(TimePoint time) const {
    const Counts sum = totals();
    const auto epoch = m_course.epoch();
    return {epoch ? seconds(time - *epoch) : 0.0,
            sum.bytesSent,
            sum.bytesReceived,
            sum.transactions,
            std::nullopt,
            std::nullopt,
            std::nullopt};
}

void Conductor::addTcp(protocol::Interval& interval) const {
    if (!m_setup.lasting())
        return;
    std::int64_t window = 0;
    std::int64_t retransmits = 0;
    double roundTrips = 0;
    int connections = 0;
    for (const Stream& stream : m_streams) {
        tcp_info info{};
        socklen_t length = sizeof info;
        if (::getsockopt(stream.socket.get(), IPPROTO_TCP, TCP_INFO, &info, &length) != 0)
            continue;
        window += info.tcpi_snd_cwnd;
        retransmits += info.tcpi_total_retrans;
        roundTrips += info.tcpi_rtt;
        ++connections;
    }
    if (connections == 0)
        return;
    interval.snd_cwnd = window;
    interval.retransmits = retransmits;
    interval.rtt_us = roundTrips / connections;
}

protocol::Interval Conductor::progress() const {
    const Clock::rep ended = m_ended.load();
    return intervalAt(ended != 0 ? TimePoint(Clock::duration(ended)) : Clock::now());
}

std::optional<protocol::Datagrams> Conductor::datagramsOf(const Stream& stream,
                                                          std::size_t index) const {
    if (!m_setup.udp())
        return std::nullopt;
    protocol::Datagrams datagrams;
    if (m_setup.kind == TestKind::kUdpRr) {
        if (!stream.sends)
            return std::nullopt;
        datagrams.received = stream.measured().transactions;
        datagrams.lost = stream.lost;
        datagrams.sent = datagrams.received + datagrams.lost;
        return datagrams;
    }
    if (stream.sends) {
        datagrams.sent = stream.measured().transactions;
        datagrams.received = m_control->totals()[index].transactions;
    } else {
        datagrams = stream.tracker->measured();
        datagrams.sent = m_control->totals()[index].transactions;
    }
    datagrams.lost = datagrams.sent - std::min(datagrams.sent, datagrams.received);
    return datagrams;
}

protocol::StreamResult Conductor::streamResult(const Stream& stream, std::size_t index) const {
    const Counts total = stream.end->counts;
    const Counts measured = total - stream.begin->counts;
    const SocketState state = stream.state    ? *stream.state
                              : stream.socket ? socketState(stream.socket.get())
                                              : SocketState{};
    return {.sends = stream.sends,
            .bytes_sent = measured.bytesSent,
            .bytes_received = measured.bytesReceived,
            .total_bytes_sent = total.bytesSent,
            .total_bytes_received = total.bytesReceived,
            .send_calls = measured.sendCalls,
            .recv_calls = measured.recvCalls,
            .transactions = measured.transactions,
            .elapsed_s = seconds(stream.end->time - stream.begin->time),
            .sndbuf_initial = stream.initialBuffers.send,
            .rcvbuf_initial = stream.initialBuffers.receive,
            .sndbuf_final = state.buffers.send,
            .rcvbuf_final = state.buffers.receive,
            .rcvlowat = state.receiveLowWater,
            .mss = state.mss,
            .congestion_control = state.congestionControl,
            .tcp_info = state.tcpInfo,
            .datagrams = datagramsOf(stream, index),
            .local_port = state.localPort};
}

/// To be called when all streams are done and still open. The time is that of the streams that
/// receive, where there are any beside those that send.
void Conductor::collect() {
    TimePoint first = TimePoint::max();
    TimePoint last = TimePoint::min();
    const bool receivers = has(false);
    for (std::size_t i = 0; i < m_streams.size(); ++i) {
        Stream& stream = m_streams[i];
        const bool counts = !receivers || !stream.sends;
        if (counts)
            last = std::max(last, stream.end->time);
        if (stream.begin && counts)
            first = std::min(first, stream.begin->time);
        else if (!stream.begin)
            stream.begin = stream.end; // starved by the others after the warm-up: it moved nothing
        m_result.streams.push_back(streamResult(stream, i));
        m_result.strangers += stream.strangers;
        stream.receiveSizes.addTo(m_result.receive_sizes);
    }
    if (first > last)
        throw AgentError(protocol::errorcode::kTraffic,
                         "nothing was moved between " + m_setup.addressText + " and " +
                             m_setup.peerText + " in the measured time; there is no figure");
    m_result.elapsed_s = seconds(last - first);
    if (m_cpuBefore && m_cpuAfter)
        m_result.cpu = cpuUse(*m_cpuBefore, *m_cpuAfter);
    collectLatency();
    for (const Stream& stream : m_streams)
        last = std::max(last, stream.end->time);
    finishIntervals(last);
}

void Conductor::collectLatency() {
    std::optional<protocol::Histogram> all;
    for (const Stream& stream : m_streams) {
        if (!stream.latency)
            continue;
        if (!all)
            all.emplace();
        all->add(*stream.latency);
    }
    if (all)
        m_result.latency = all->toLatency();
}

/// The last interval is the total; one that would be much too short is joined to it.
void Conductor::finishIntervals(TimePoint last) {
    auto& intervals = m_result.intervals;
    protocol::Interval whole = intervalAt(last);
    addTcp(whole);
    const double shortest = m_setup.config.interval_seconds / 2;
    while (!intervals.empty() && intervals.back().time_s > whole.time_s - shortest)
        intervals.pop_back();
    intervals.push_back(whole);
    m_ended.store(last.time_since_epoch().count());
}

} // namespace knobscope::agent
