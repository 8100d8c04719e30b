// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/json.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// What the agent and the workbench say to each other.
///
/// JSON-RPC 2.0, one message a line (UTF-8, no line break inside), over the agent's stdin and
/// stdout. The workbench asks, the agent answers; the agent also sends notifications. Requests may
/// overlap: answers carry the id of their request. `traffic.result` is answered when the traffic
/// has ended; all others at once.
///
/// The structs below are the params and results of the methods, one definition for both ends.
/// Fields that a peer leaves out take their default, so that fields can be added within a version.
namespace knobscope::protocol {

/// Raised when a message changes its meaning. Both ends must have the same.
inline constexpr int kVersion = 1;

/// A line longer than this is not a message; the reader closes the link.
inline constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;

namespace method {
inline constexpr const char* kHello = "hello";              ///< HelloParams → HelloResult
inline constexpr const char* kPing = "ping";                ///< {} → PingResult; renews the lease
inline constexpr const char* kEnvironment = "environment";  ///< InterfaceParams → Environment
inline constexpr const char* kSnapshot = "snapshot";        ///< InterfaceParams → Snapshot
inline constexpr const char* kHostClaim = "host.claim";     ///< ClaimParams → {}
inline constexpr const char* kKnobRead = "knob.read";       ///< [KnobTarget] → [KnobReading]
inline constexpr const char* kKnobApply = "knob.apply";     ///< [KnobSetting] → [KnobOutcome]
inline constexpr const char* kKnobRestore = "knob.restore"; ///< {} → [UndoReport]; ends the claim
inline constexpr const char* kTrafficPrepare = "traffic.prepare"; ///< PrepareParams → PrepareResult
inline constexpr const char* kTrafficStart = "traffic.start";     ///< {} → {}
inline constexpr const char* kTrafficResult = "traffic.result"; ///< {} → TrafficResult, at the end
inline constexpr const char* kTrafficCancel = "traffic.cancel"; ///< {} → {}
inline constexpr const char* kQuit = "quit"; ///< {} → [UndoReport], restores and ends the agent
} // namespace method

namespace notification {
inline constexpr const char* kInterval = "traffic.interval"; ///< Interval
inline constexpr const char* kLog = "log";                   ///< {"text": "..."}
} // namespace notification

/// Error codes beside those of JSON-RPC itself (-32700, -32600, -32601, -32602, -32603).
namespace errorcode {
inline constexpr int kParse = -32700;
inline constexpr int kInvalidRequest = -32600;
inline constexpr int kMethodNotFound = -32601;
inline constexpr int kInvalidParams = -32602;
inline constexpr int kInternal = -32603;
inline constexpr int kVersionMismatch = 1; ///< the other end speaks another protocol version
inline constexpr int kKnob = 2;            ///< a knob could not be read or set
inline constexpr int kBusy = 3;            ///< another run holds this host
inline constexpr int kTraffic = 4;         ///< the test connection failed; message says why
inline constexpr int kCancelled = 5;       ///< traffic.cancel ended it
inline constexpr int kState = 6;           ///< the method does not fit the agent's state
} // namespace errorcode

/// One knob put back, or not.
struct UndoReport {
    std::string name;
    std::string interface;
    std::string original;             ///< the value to have again
    std::optional<std::string> found; ///< what the host had just before the undo
    std::optional<std::string> now;   ///< what it has after it
    bool restored = false;
    bool changed_by_other = false; ///< found differs from what the agent had set
    bool interface_gone = false;   ///< not restored now; it will be once the interface is there
    std::string error;             ///< why not, when not restored
    std::string command;           ///< what a person can type to do it, when not restored
    std::string note;              ///< worth saying all the same: the link has not come back
};
void to_json(Json& j, const UndoReport& value);
void from_json(const Json& j, UndoReport& value);

struct HelloParams {
    int protocol = kVersion;
    std::string run;           ///< name of the run, for the journal and other people's messages
    std::string group;         ///< the same for agents of one run, of no others; empty: the name
    double lease_seconds = 10; ///< without a ping for this long, knobs go back and the agent ends
};
void to_json(Json& j, const HelloParams& value);
void from_json(const Json& j, HelloParams& value);

struct HelloResult {
    int protocol = kVersion;
    std::string version; ///< of the product
    std::string build;   ///< hash of the agent's sources
    std::string hostname;
    std::string kernel; ///< uname -r
    std::string arch;   ///< uname -m
    int uid = -1;
    int pid = 0; ///< of the worker
    int guardian_pid = 0;
    int cpus = 0;
    std::string machine_id; ///< the same for two agents on one kernel and network namespace
    std::vector<UndoReport> recovered; ///< what a dead agent had left behind, put back at start
};
void to_json(Json& j, const HelloResult& value);
void from_json(const Json& j, HelloResult& value);

struct PingResult {
    std::int64_t time_ms = 0; ///< CLOCK_REALTIME of the host; 0: an agent that does not tell it
};
void to_json(Json& j, const PingResult& value);
void from_json(const Json& j, PingResult& value);

/// Asks for the host as a whole, so that no other run disturbs what this one measures. kBusy names
/// the run that has it. Agents of one run share it. knob.restore and the agent's end let go of it.
struct ClaimParams {
    bool hold = true;         ///< false only asks whether another run has it
    double lease_seconds = 0; ///< replaces the lease of hello for good; 0: leaves it as it is
};
void to_json(Json& j, const ClaimParams& value);
void from_json(const Json& j, ClaimParams& value);

struct InterfaceParams {
    std::string interface; ///< empty: host-wide parts only
};
void to_json(Json& j, const InterfaceParams& value);
void from_json(const Json& j, InterfaceParams& value);

/// What a host is: facts by dotted name ("kernel", "cpu.model", "nic.driver", "nic.firmware",
/// "processes.irqbalance", "ssh.interface", "sysctl.net.ipv4.tcp_rmem", and the knobs of the
/// interface: "link.mtu", "feature.tso", "coalesce.rx-usecs", "ring.rx", "qdisc.root", ...).
/// A fact that the host does not tell is absent.
struct Environment {
    std::map<std::string, std::string> facts;
    std::vector<std::string> interfaces; ///< names of all interfaces of the host
};
void to_json(Json& j, const Environment& value);
void from_json(const Json& j, Environment& value);

/// Counters at one moment, by source, then name.
/// Sources: "ethtool" (as ethtool -S names them), "snmp" and "netstat" and "snmp6" (as nstat names
/// them: TcpOutSegs, TcpExtTCPTimeouts, Ip6InReceives), "interface" (rx_bytes...), "softnet"
/// (summed over CPUs), "interrupts" (summed over CPUs, by "irq label"). A source that the host
/// does not have is absent.
struct Snapshot {
    std::int64_t time_ns = 0; ///< CLOCK_MONOTONIC of the host, at the start of reading
    std::map<std::string, std::map<std::string, std::uint64_t>> counters;
};
void to_json(Json& j, const Snapshot& value);
void from_json(const Json& j, Snapshot& value);

/// Command lines of a user's own knob, "command:NAME". The guardian runs them with /bin/sh -c, with
/// VALUE (to set, or to put back) and INTERFACE in the environment.
struct KnobCommands {
    std::string get; ///< prints the value; it is taken as it is, without the line break at its end
    std::string set;
    std::string restore;         ///< puts VALUE back; empty: as `set`
    double timeout_seconds = 10; ///< of one of them, at most 60; then it is killed and has failed
};
void to_json(Json& j, const KnobCommands& value);
void from_json(const Json& j, KnobCommands& value);

/// A host knob by its name in the experiment file: "sysctl:NAME", "coalesce:rx-usecs", "link:mtu",
/// "feature:NAME"... `interface` is the test interface, used by the knobs that belong to one.
struct KnobTarget {
    std::string name;
    std::string interface;
    std::optional<KnobCommands> commands = {}; ///< of a command: knob only
};
void to_json(Json& j, const KnobTarget& value);
void from_json(const Json& j, KnobTarget& value);

struct KnobReading {
    std::string name;
    std::optional<std::string> value;
    std::string error; ///< why there is no value
};
void to_json(Json& j, const KnobReading& value);
void from_json(const Json& j, KnobReading& value);

struct KnobSetting {
    std::string name;
    std::string interface;
    std::string value;
    std::optional<KnobCommands> commands = {}; ///< of a command: knob only
};
void to_json(Json& j, const KnobSetting& value);
void from_json(const Json& j, KnobSetting& value);

/// What came of a setting. All settings of one knob.apply are made, then all are read back.
struct KnobOutcome {
    std::string name;
    std::string interface;
    std::optional<std::string> original; ///< before this agent first touched it
    std::string requested;
    std::optional<std::string> accepted; ///< read back after all were set
    /// "applied" (accepted is what was asked), "unchanged" (it was so already),
    /// "adjusted" (the host has another value; the note says so when it is the one it had before),
    /// "rejected" (see error; the host kept its value)
    std::string status;
    std::string error;
    std::string note; ///< worth saying, whatever the status: the link has not come back
};
void to_json(Json& j, const KnobOutcome& value);
void from_json(const Json& j, KnobOutcome& value);

/// One agent's part of a test. Both ends get the same values but for the options of a side.
/// Options that change what is measured (how the receiver takes its bytes, offloads of UDP,
/// spinning) are off unless they are asked for.
struct TrafficConfig {
    std::string kind = "tcp_stream"; ///< tcp_stream, tcp_rr, tcp_crr, udp_stream, udp_rr
    /// Streams: to_receiver, from_receiver (maerts), both (`streams` connections each way).
    std::string direction = "to_receiver";
    double seconds = 10;           ///< measured time; with a limit, the most
    double warmup_seconds = 0;     ///< before it, sent but not counted
    double interval_seconds = 0.1; ///< between interval notifications
    std::int64_t limit_bytes = 0;  ///< streams: ends when all have sent this together; 0: by time
    std::int64_t limit_transactions = 0; ///< *_rr, *_crr: likewise
    int streams = 1;                     ///< connections, one thread each
    int threads = 0;                     ///< tcp_stream, tcp_rr: share the connections; 0: one each
    /// Bytes a send call; of a datagram. A little less than two GSO packets hold (each at most
    /// 65535 bytes of whole segments): of 64K or 128K a rest of some hundred bytes would be left,
    /// which goes as a packet of its own wherever the queue is empty.
    std::int64_t message_size = 120 << 10;
    std::int64_t receive_size = 0;  ///< bytes a receive call of a stream; 0: chosen
    std::int64_t request_size = 1;  ///< *_rr, *_crr
    std::int64_t response_size = 1; ///< *_rr, *_crr
    int burst = 1;                  ///< *_rr: transactions in flight
    double pace = 0; ///< *_rr: transactions a second of one connection; 0: as fast as they go
    double rate = 0; ///< udp_stream: payload bits a second of one stream; 0: as fast as it goes
    std::string close = "server"; ///< tcp_crr: who closes first: server, client, or reset (client)
    double timeout_seconds = 0.5; ///< udp_rr: then a transaction counts as lost
    /// *_rr, *_crr: what each transaction took is taken down; false to measure what that costs.
    bool latency_histogram = true;

    std::optional<std::int64_t> window;         ///< SO_SNDBUF and SO_RCVBUF; absent: autotuned
    std::optional<std::int64_t> send_window;    ///< SO_SNDBUF only
    std::optional<std::int64_t> receive_window; ///< SO_RCVBUF only
    std::optional<int> mss;                     ///< TCP_MAXSEG
    bool nodelay = false;                       ///< TCP_NODELAY
    bool cork = false;                          ///< TCP_CORK
    std::optional<bool> quickack;               ///< TCP_QUICKACK before each receive
    std::optional<std::string> congestion_control;
    std::optional<int> tos;                    ///< IP_TOS or IPV6_TCLASS, all eight bits
    std::optional<int> ttl;                    ///< IP_TTL or IPV6_UNICAST_HOPS
    std::optional<int> priority;               ///< SO_PRIORITY
    std::optional<std::int64_t> pacing_rate;   ///< SO_MAX_PACING_RATE, bytes a second a connection
    std::optional<std::int64_t> notsent_lowat; ///< TCP_NOTSENT_LOWAT
    std::optional<std::int64_t> rcvlowat;      ///< SO_RCVLOWAT; absent: chosen, see Watermark
    std::optional<int> busy_poll;              ///< SO_BUSY_POLL, µs
    int spin = 0; ///< µs to ask for bytes again and again before the thread sleeps
    std::string send_method = "send";    ///< send, zerocopy, sendfile, splice
    std::string receive_method = "recv"; ///< recv, truncate (drops the bytes uncopied), splice
    bool udp_gso = false;                ///< many datagrams a send call (UDP_SEGMENT)
    bool udp_gro = false;                ///< many datagrams a receive call (UDP_GRO)
    std::optional<int> cpu;              ///< pin this side's threads to this CPU
    std::optional<int> numa_node;        ///< or to the CPUs of this node
    std::optional<int> realtime;         ///< SCHED_FIFO at this priority, 1 to 99
    std::string bind_interface;          ///< SO_BINDTODEVICE; empty: not bound
    std::string local_ports;             ///< "40000-40100": ports of this side; empty: any
};
void to_json(Json& j, const TrafficConfig& value);
void from_json(const Json& j, TrafficConfig& value);

/// The receiver host is asked first (role "server"): it listens on `address` and answers with the
/// port. Then the sender (role "client") connects to it, proves itself with the token on every
/// connection and answers when all are up. traffic.start on both lets the bytes flow.
struct PrepareParams {
    std::string role;    ///< "server" or "client"
    std::string token;   ///< 32 hex digits, made anew for every sample
    std::string address; ///< this host's test address
    std::string peer_address;
    int port = 0; ///< client: where the server listens
    TrafficConfig config;
};
void to_json(Json& j, const PrepareParams& value);
void from_json(const Json& j, PrepareParams& value);

struct PrepareResult {
    int port = 0; ///< server only
};
void to_json(Json& j, const PrepareResult& value);
void from_json(const Json& j, PrepareResult& value);

/// Progress of this side since traffic.start, warm-up included. Differences of successive
/// intervals are the series; the last one equals the total. What TCP says (absent for UDP) is of
/// that moment: the windows and retransmits of all connections together, their mean round trip.
struct Interval {
    double time_s = 0;
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_received = 0;
    std::uint64_t transactions = 0;
    std::optional<std::int64_t> snd_cwnd; ///< segments
    std::optional<double> rtt_us;
    std::optional<std::int64_t> retransmits;
};
void to_json(Json& j, const Interval& value);
void from_json(const Json& j, Interval& value);

/// Datagrams of one UDP stream, as its receiver tells them apart by their numbers; of transactions,
/// as their client does. `sent` and `lost` are known once both ends have told their counts.
struct Datagrams {
    std::uint64_t sent = 0;
    std::uint64_t received = 0; ///< each once
    std::uint64_t lost = 0;
    std::uint64_t reordered = 0; ///< arrived after one that was sent later
    std::uint64_t duplicates = 0;
    std::optional<double> jitter_us; ///< RFC 3550, section 6.4.1
};
void to_json(Json& j, const Datagrams& value);
void from_json(const Json& j, Datagrams& value);

/// One connection. Counts are of the measured time (without warm-up) unless they say total.
struct StreamResult {
    bool sends = false; ///< this end is the one that sends the data or the requests
    std::uint64_t bytes_sent = 0;
    std::uint64_t bytes_received = 0;
    std::uint64_t total_bytes_sent = 0;
    std::uint64_t total_bytes_received = 0;
    std::uint64_t send_calls = 0;
    std::uint64_t recv_calls = 0;
    std::uint64_t transactions = 0;
    double elapsed_s = 0;                       ///< this connection's own measured time
    std::optional<std::int64_t> sndbuf_initial; ///< getsockopt, so twice the request on Linux
    std::optional<std::int64_t> rcvbuf_initial;
    std::optional<std::int64_t> sndbuf_final;
    std::optional<std::int64_t> rcvbuf_final;
    std::optional<std::int64_t> rcvlowat;          ///< SO_RCVLOWAT in force at the end
    std::optional<std::int64_t> mss;               ///< TCP_MAXSEG read back at the end
    std::optional<std::string> congestion_control; ///< in force
    std::map<std::string, std::int64_t> tcp_info;  ///< fields of struct tcp_info without "tcpi_"
    std::optional<Datagrams> datagrams;            ///< UDP
    int local_port = 0;
};
void to_json(Json& j, const StreamResult& value);
void from_json(const Json& j, StreamResult& value);

/// CPU time of the whole host in seconds over the measured time, summed over its CPUs
/// (/proc/stat), and of the agent itself (getrusage of the worker).
struct CpuUse {
    double user_s = 0;
    double nice_s = 0;
    double system_s = 0;
    double irq_s = 0;
    double softirq_s = 0;
    double steal_s = 0;
    double idle_s = 0;    ///< with iowait
    double elapsed_s = 0; ///< wall time between the two readings
    int cpus = 0;
    double busiest_cpu_percent = 0;     ///< of the one CPU that was busiest, 0 to 100
    std::vector<double> busy_percent;   ///< of each CPU by number; -1: offline
    std::uint64_t context_switches = 0; ///< of the whole host
    std::uint64_t agent_voluntary_switches = 0;
    std::uint64_t agent_involuntary_switches = 0;
    double agent_user_s = 0;
    double agent_system_s = 0;
};
void to_json(Json& j, const CpuUse& value);
void from_json(const Json& j, CpuUse& value);

/// Response times in nanoseconds, as a Histogram keeps them (histogram.h).
struct Latency {
    std::uint64_t count = 0;
    std::uint64_t min = 0;
    std::uint64_t max = 0;
    double mean = 0;
    std::vector<std::array<std::uint64_t, 2>> buckets; ///< index and count, of those not empty
};
void to_json(Json& j, const Latency& value);
void from_json(const Json& j, Latency& value);

struct TrafficResult {
    double elapsed_s = 0; ///< measured time on this side, from the first byte after warm-up
    std::vector<StreamResult> streams;
    std::vector<Interval> intervals;
    std::optional<CpuUse> cpu;
    std::optional<Latency> latency; ///< of the end that asks, *_rr and *_crr
    /// Receive calls by size: [i] counts those of 2^i to 2^(i+1)-1 bytes.
    std::vector<std::uint64_t> receive_sizes;
    int strangers = 0; ///< connections dropped because they had no valid token
};
void to_json(Json& j, const TrafficResult& value);
void from_json(const Json& j, TrafficResult& value);

} // namespace knobscope::protocol
