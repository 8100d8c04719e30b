// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/protocol/protocol.h"

// Here rather than in the header: the conversions are costly to compile.
namespace knobscope::protocol {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(UndoReport, name, interface, original, found, now,
                                                restored, changed_by_other, error)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(HelloParams, protocol, run, lease_seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(HelloResult, protocol, version, build, hostname,
                                                kernel, arch, uid, pid, guardian_pid, cpus,
                                                machine_id, recovered)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(InterfaceParams, interface)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Environment, facts, interfaces)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Snapshot, time_ns, counters)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(KnobTarget, name, interface)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(KnobReading, name, value, error)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(KnobSetting, name, interface, value)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(KnobOutcome, name, interface, original, requested,
                                                accepted, status, error)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(TrafficConfig, kind, direction, seconds,
                                                warmup_seconds, interval_seconds, streams,
                                                message_size, request_size, response_size, burst,
                                                window, mss, nodelay, cpu, congestion_control)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(PrepareParams, role, token, address, peer_address,
                                                port, config)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(PrepareResult, port)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Interval, time_s, bytes_sent, bytes_received,
                                                transactions)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(StreamResult, bytes_sent, bytes_received,
                                                total_bytes_sent, total_bytes_received, send_calls,
                                                recv_calls, transactions, elapsed_s, sndbuf_initial,
                                                rcvbuf_initial, sndbuf_final, rcvbuf_final, mss,
                                                congestion_control, tcp_info)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(CpuUse, user_s, nice_s, system_s, irq_s, softirq_s,
                                                steal_s, idle_s, elapsed_s, cpus,
                                                busiest_cpu_percent, agent_user_s, agent_system_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(TrafficResult, elapsed_s, streams, intervals, cpu,
                                                strangers)

} // namespace knobscope::protocol
