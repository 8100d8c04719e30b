// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/protocol/protocol.h"

// Here rather than in the header, because the conversions are costly to compile. The library's own
// macro makes inline functions, which no other source could call; this is the same without it.
#define KNOBSCOPE_WIRE_FORM(Type, ...)                                                             \
    void to_json(Json& nlohmann_json_j, const Type& nlohmann_json_t) {                             \
        NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_TO, __VA_ARGS__))                   \
    }                                                                                              \
    void from_json(const Json& nlohmann_json_j, Type& nlohmann_json_t) {                           \
        const Type nlohmann_json_default_obj;                                                      \
        NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_FROM_WITH_DEFAULT, __VA_ARGS__))    \
    }

namespace knobscope::protocol {

KNOBSCOPE_WIRE_FORM(UndoReport, name, interface, original, found, now, restored, changed_by_other,
                    interface_gone, error, command, note)
KNOBSCOPE_WIRE_FORM(HelloParams, protocol, run, group, lease_seconds)
KNOBSCOPE_WIRE_FORM(HelloResult, protocol, version, build, hostname, kernel, arch, uid, pid,
                    guardian_pid, cpus, machine_id, recovered)
KNOBSCOPE_WIRE_FORM(PingResult, time_ms)
KNOBSCOPE_WIRE_FORM(ClaimParams, hold, lease_seconds)
KNOBSCOPE_WIRE_FORM(InterfaceParams, interface)
KNOBSCOPE_WIRE_FORM(Environment, facts, interfaces)
KNOBSCOPE_WIRE_FORM(Snapshot, time_ns, counters)
KNOBSCOPE_WIRE_FORM(KnobCommands, get, set, restore, timeout_seconds)
KNOBSCOPE_WIRE_FORM(KnobTarget, name, interface, commands)
KNOBSCOPE_WIRE_FORM(KnobReading, name, value, error)
KNOBSCOPE_WIRE_FORM(KnobSetting, name, interface, value, commands)
KNOBSCOPE_WIRE_FORM(KnobOutcome, name, interface, original, requested, accepted, status, error,
                    note)
KNOBSCOPE_WIRE_FORM(TrafficConfig, kind, direction, seconds, warmup_seconds, interval_seconds,
                    limit_bytes, limit_transactions, streams, threads, message_size, receive_size,
                    request_size, response_size, burst, pace, rate, close, timeout_seconds,
                    latency_histogram, window, send_window, receive_window, mss, nodelay, cork,
                    quickack, congestion_control, tos, ttl, priority, pacing_rate, notsent_lowat,
                    rcvlowat, busy_poll, spin, send_method, receive_method, udp_gso, udp_gro, cpu,
                    numa_node, realtime, bind_interface, local_ports)
KNOBSCOPE_WIRE_FORM(PrepareParams, role, token, address, peer_address, port, config)
KNOBSCOPE_WIRE_FORM(PrepareResult, port)
KNOBSCOPE_WIRE_FORM(Interval, time_s, bytes_sent, bytes_received, transactions, snd_cwnd, rtt_us,
                    retransmits)
KNOBSCOPE_WIRE_FORM(Datagrams, sent, received, lost, reordered, duplicates, jitter_us)
KNOBSCOPE_WIRE_FORM(StreamResult, sends, bytes_sent, bytes_received, total_bytes_sent,
                    total_bytes_received, send_calls, recv_calls, transactions, elapsed_s,
                    sndbuf_initial, rcvbuf_initial, sndbuf_final, rcvbuf_final, rcvlowat, mss,
                    congestion_control, tcp_info, datagrams, local_port)
KNOBSCOPE_WIRE_FORM(CpuUse, user_s, nice_s, system_s, irq_s, softirq_s, steal_s, idle_s, elapsed_s,
                    cpus, busiest_cpu_percent, busy_percent, context_switches,
                    agent_voluntary_switches, agent_involuntary_switches, agent_user_s,
                    agent_system_s)
KNOBSCOPE_WIRE_FORM(Latency, count, min, max, mean, buckets)
KNOBSCOPE_WIRE_FORM(TrafficResult, elapsed_s, streams, intervals, cpu, latency, receive_sizes,
                    strangers)

} // namespace knobscope::protocol
