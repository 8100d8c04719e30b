// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the conductor that turns counts and socket states into the result.
#include "agents/agent/engine/conductor.h"
#include "agents/agent/engine/tcpinfo.h"
#include "agents/agent/error.h"

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

std::vector<Counts> Conductor::countsByStream() const {
    std::vector<Counts> counts;
    counts.reserve(m_streams.size());
    for (const Stream& stream : m_streams)
        counts.push_back(stream.counters.read());
    return counts;
}

protocol::Interval Conductor::intervalAt(TimePoint time) const {
    const Counts sum = totals();
    const auto epoch = m_course.epoch();
    return {epoch ? seconds(time - *epoch) : 0.0, sum.bytesSent, sum.bytesReceived,
            sum.transactions};
}

protocol::Interval Conductor::progress() const {
    const Clock::rep ended = m_ended.load();
    return intervalAt(ended != 0 ? TimePoint(Clock::duration(ended)) : Clock::now());
}

protocol::StreamResult Conductor::streamResult(const Stream& stream) const {
    const Counts total = stream.end->counts;
    const Counts measured = total - stream.begin->counts;
    const int socket = stream.socket.get();
    const BufferSizes buffers = bufferSizes(socket);
    return {.bytes_sent = measured.bytesSent,
            .bytes_received = measured.bytesReceived,
            .total_bytes_sent = total.bytesSent,
            .total_bytes_received = total.bytesReceived,
            .send_calls = measured.sendCalls,
            .recv_calls = measured.recvCalls,
            .transactions = measured.transactions,
            .elapsed_s = seconds(stream.end->time - stream.begin->time),
            .sndbuf_initial = stream.initialBuffers.send,
            .rcvbuf_initial = stream.initialBuffers.receive,
            .sndbuf_final = buffers.send,
            .rcvbuf_final = buffers.receive,
            .mss = maxSegment(socket),
            .congestion_control = congestionControl(socket),
            .tcp_info = tcpInfo(socket)};
}

/// To be called when all streams are done and still open.
void Conductor::collect() {
    TimePoint first = TimePoint::max();
    TimePoint last = TimePoint::min();
    for (Stream& stream : m_streams) {
        last = std::max(last, stream.end->time);
        if (stream.begin)
            first = std::min(first, stream.begin->time);
        else
            stream.begin = stream.end; // starved by the others after the warm-up: it moved nothing
        m_result.streams.push_back(streamResult(stream));
    }
    if (first > last)
        throw AgentError(protocol::errorcode::kTraffic,
                         "nothing was moved between " + m_setup.addressText + " and " +
                             m_setup.peerText + " in the measured time; there is no figure");
    m_result.elapsed_s = seconds(last - first);
    if (m_cpuBefore && m_cpuAfter)
        m_result.cpu = cpuUse(*m_cpuBefore, *m_cpuAfter);

    // The last interval is the total; one that would be much too short is joined to it.
    auto& intervals = m_result.intervals;
    const protocol::Interval whole = intervalAt(last);
    const double shortest = m_setup.config.interval_seconds / 2;
    while (!intervals.empty() && intervals.back().time_s > whole.time_s - shortest)
        intervals.pop_back();
    intervals.push_back(whole);
    m_ended.store(last.time_since_epoch().count());
}

} // namespace knobscope::agent
