// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/qdiscwire.h"

#include "agents/agent/kernel/knobfamily.h"
#include "agents/agent/kernel/qdiscoptions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <type_traits>

namespace knobscope::agent {

namespace {

using Form = QdiscForm;
using Unit = QdiscUnit;

// Options of a kind stand together, in the order in which they are shown.
constexpr std::array kOptions{
    QdiscOption{"pfifo", "limit", Unit::Count, 0, Form::Struct},
    QdiscOption{"bfifo", "limit", Unit::Bytes, 0, Form::Struct},
    QdiscOption{"fq", "limit", Unit::Count, TCA_FQ_PLIMIT},
    QdiscOption{"fq", "flow_limit", Unit::Count, TCA_FQ_FLOW_PLIMIT},
    QdiscOption{"fq", "buckets", Unit::Count, TCA_FQ_BUCKETS_LOG, Form::Log},
    QdiscOption{"fq", "orphan_mask", Unit::Count, TCA_FQ_ORPHAN_MASK},
    QdiscOption{"fq", "quantum", Unit::Bytes, TCA_FQ_QUANTUM},
    QdiscOption{"fq", "initial_quantum", Unit::Bytes, TCA_FQ_INITIAL_QUANTUM},
    QdiscOption{"fq", "pacing", Unit::Flag, TCA_FQ_RATE_ENABLE, Form::Plain, "nopacing"},
    QdiscOption{"fq", "maxrate", Unit::Rate, TCA_FQ_FLOW_MAX_RATE, Form::Rate},
    QdiscOption{"fq", "low_rate_threshold", Unit::Rate, TCA_FQ_LOW_RATE_THRESHOLD, Form::Rate},
    QdiscOption{"fq", "refill_delay", Unit::Time, TCA_FQ_FLOW_REFILL_DELAY, Form::Micro},
    QdiscOption{"fq", "ce_threshold", Unit::Time, TCA_FQ_CE_THRESHOLD, Form::Micro},
    QdiscOption{"fq", "timer_slack", Unit::Time, TCA_FQ_TIMER_SLACK, Form::Nano},
    QdiscOption{"fq", "horizon", Unit::Time, TCA_FQ_HORIZON, Form::Micro},
    QdiscOption{"fq", "horizon_drop", Unit::Flag, TCA_FQ_HORIZON_DROP, Form::Byte, "horizon_cap"},
    QdiscOption{"fq_codel", "limit", Unit::Count, TCA_FQ_CODEL_LIMIT},
    QdiscOption{"fq_codel", "flows", Unit::Count, TCA_FQ_CODEL_FLOWS},
    QdiscOption{"fq_codel", "quantum", Unit::Bytes, TCA_FQ_CODEL_QUANTUM},
    QdiscOption{"fq_codel", "target", Unit::Time, TCA_FQ_CODEL_TARGET, Form::Codel},
    QdiscOption{"fq_codel", "ce_threshold", Unit::Time, TCA_FQ_CODEL_CE_THRESHOLD, Form::Codel},
    QdiscOption{"fq_codel", "interval", Unit::Time, TCA_FQ_CODEL_INTERVAL, Form::Codel},
    QdiscOption{"fq_codel", "memory_limit", Unit::Bytes, TCA_FQ_CODEL_MEMORY_LIMIT},
    QdiscOption{"fq_codel", "drop_batch", Unit::Count, TCA_FQ_CODEL_DROP_BATCH_SIZE},
    QdiscOption{"fq_codel", "ecn", Unit::Flag, TCA_FQ_CODEL_ECN, Form::Plain, "noecn"},
    QdiscOption{"codel", "limit", Unit::Count, TCA_CODEL_LIMIT},
    QdiscOption{"codel", "target", Unit::Time, TCA_CODEL_TARGET, Form::Codel},
    QdiscOption{"codel", "ce_threshold", Unit::Time, TCA_CODEL_CE_THRESHOLD, Form::Codel},
    QdiscOption{"codel", "interval", Unit::Time, TCA_CODEL_INTERVAL, Form::Codel},
    QdiscOption{"codel", "ecn", Unit::Flag, TCA_CODEL_ECN, Form::Plain, "noecn"},
    QdiscOption{"pie", "limit", Unit::Count, TCA_PIE_LIMIT},
    QdiscOption{"pie", "target", Unit::Time, TCA_PIE_TARGET, Form::Micro},
    QdiscOption{"pie", "tupdate", Unit::Time, TCA_PIE_TUPDATE, Form::Micro},
    QdiscOption{"pie", "alpha", Unit::Count, TCA_PIE_ALPHA},
    QdiscOption{"pie", "beta", Unit::Count, TCA_PIE_BETA},
    QdiscOption{"pie", "ecn", Unit::Flag, TCA_PIE_ECN, Form::Plain, "noecn"},
    QdiscOption{"pie", "bytemode", Unit::Flag, TCA_PIE_BYTEMODE, Form::Plain, "nobytemode"},
    QdiscOption{"sfq", "limit", Unit::Count, 0, Form::Struct},
    QdiscOption{"sfq", "quantum", Unit::Bytes, 0, Form::Struct},
    QdiscOption{"sfq", "divisor", Unit::Count, 0, Form::Struct},
    QdiscOption{"sfq", "flows", Unit::Count, 0, Form::Struct},
    QdiscOption{"sfq", "perturb", Unit::Count, 0, Form::Struct},
    QdiscOption{"tbf", "rate", Unit::Rate, 0, Form::Struct},
    QdiscOption{"tbf", "burst", Unit::Bytes, 0, Form::Struct},
    QdiscOption{"tbf", "limit", Unit::Bytes, 0, Form::Struct},
    QdiscOption{"tbf", "latency", Unit::Time, 0, Form::Struct},
    QdiscOption{"netem", "limit", Unit::Count, 0, Form::Struct},
    QdiscOption{"netem", "delay", Unit::Time, 0, Form::Struct},
    QdiscOption{"netem", "jitter", Unit::Time, 0, Form::Struct},
    QdiscOption{"netem", "loss", Unit::Percent, 0, Form::Struct},
};
constexpr std::array<std::string_view, 12> kKinds{"pfifo",    "bfifo", "pfifo_fast", "fq",
                                                  "fq_codel", "codel", "pie",        "sfq",
                                                  "tbf",      "netem", "noqueue",    "mq"};

constexpr double kTickNs = 64; ///< of the packet scheduler, since Linux 2.6.31
constexpr std::uint32_t kNoRate = 0xffffffff;
constexpr std::uint64_t kNetemLimit = 1000; ///< tc's own default

/// Options as 32-bit numbers, cut to what fits.
std::uint32_t get(const Qdisc& qdisc, std::string_view name, std::uint64_t otherwise = 0) {
    const auto found = qdisc.options.find(name);
    const std::uint64_t value = found == qdisc.options.end() ? otherwise : found->second;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, 0xffffffff));
}

template<typename Struct>
std::string_view bytesOf(const Struct& value) {
    static_assert(std::is_trivially_copyable_v<Struct>);
    return {reinterpret_cast<const char*>(&value), sizeof value};
}

template<typename Struct>
bool takeStruct(std::string_view bytes, Struct& value) {
    if (bytes.size() < sizeof value)
        return false;
    std::memcpy(&value, bytes.data(), sizeof value);
    return true;
}

void putTbf(NetlinkBody& body, const Qdisc& qdisc) {
    const double rate = static_cast<double>(qdisc.options.at("rate")) / 8;
    const auto bytes_per_second = static_cast<std::uint64_t>(rate);
    tc_tbf_qopt options{};
    options.rate.linklayer = TC_LINKLAYER_ETHERNET; // so that no table of times is needed
    options.rate.rate =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes_per_second, kNoRate));
    options.limit = get(qdisc, "limit");
    options.buffer = static_cast<std::uint32_t>(
        std::min(get(qdisc, "burst") / rate * 1e9 / kTickNs, 4294967295.0));
    const std::size_t nest = body.beginNest(TCA_OPTIONS);
    body.put(TCA_TBF_PARMS, bytesOf(options));
    body.putU32(TCA_TBF_BURST, get(qdisc, "burst"));
    if (bytes_per_second >= kNoRate)
        body.putU64(TCA_TBF_RATE64, bytes_per_second);
    body.endNest(nest);
}

void takeTbf(std::string_view bytes, Qdisc& qdisc) {
    const NetlinkAttributes attributes(bytes);
    tc_tbf_qopt options{};
    if (!takeStruct(attributes.find(TCA_TBF_PARMS).value_or(std::string_view{}), options))
        return;
    if (options.peakrate.rate != 0)
        failKnob("its root qdisc is tbf with a peak rate, which could not be put back");
    const std::uint64_t rate = attributes.number(TCA_TBF_RATE64).value_or(options.rate.rate);
    qdisc.options["rate"] = rate * 8;
    qdisc.options["burst"] = static_cast<std::uint64_t>(
        std::llround(options.buffer * kTickNs * static_cast<double>(rate) / 1e9));
    qdisc.options["limit"] = options.limit;
}

void putNetem(NetlinkBody& body, const Qdisc& qdisc) {
    const auto time = [&](std::string_view name) {
        const auto found = qdisc.options.find(name);
        return found == qdisc.options.end() ? std::uint64_t{0} : found->second;
    };
    tc_netem_qopt options{};
    options.limit = get(qdisc, "limit", kNetemLimit);
    options.latency = static_cast<std::uint32_t>(static_cast<double>(time("delay")) / kTickNs);
    options.jitter = static_cast<std::uint32_t>(static_cast<double>(time("jitter")) / kTickNs);
    options.loss =
        static_cast<std::uint32_t>(std::llround(get(qdisc, "loss") / 1e6 * 4294967295.0));
    const std::size_t nest = body.beginNest(TCA_OPTIONS);
    body.append(bytesOf(options));
    body.putU64(TCA_NETEM_LATENCY64, time("delay"));
    body.putU64(TCA_NETEM_JITTER64, time("jitter"));
    body.endNest(nest);
}

void takeNetem(std::string_view bytes, Qdisc& qdisc) {
    tc_netem_qopt options{};
    if (!takeStruct(bytes, options))
        return;
    const NetlinkAttributes attributes(bytes.substr(sizeof options));
    bool more = options.gap != 0 || options.duplicate != 0;
    for (const auto& [type, value] : attributes.all()) {
        if (type != TCA_NETEM_LATENCY64 && type != TCA_NETEM_JITTER64 && type != TCA_NETEM_ECN)
            more = more || value.find_first_not_of('\0') != std::string_view::npos;
    }
    if (more)
        failKnob("its root qdisc is netem with options that could not be put back");
    const auto time = [&](const char* name, int attribute, std::uint32_t ticks) {
        const std::uint64_t ns =
            attributes.number(attribute).value_or(static_cast<std::uint64_t>(ticks * kTickNs));
        if (ns != 0)
            qdisc.options[name] = ns;
    };
    qdisc.options["limit"] = options.limit;
    time("delay", TCA_NETEM_LATENCY64, options.latency);
    time("jitter", TCA_NETEM_JITTER64, options.jitter);
    if (qdisc.options.contains("jitter")) // is written behind a delay
        (void)qdisc.options.emplace("delay", 0);
    if (options.loss != 0)
        qdisc.options["loss"] =
            static_cast<std::uint64_t>(std::llround(options.loss / 4294967295.0 * 1e6));
}

void putSfq(NetlinkBody& body, const Qdisc& qdisc) {
    tc_sfq_qopt options{};
    options.quantum = get(qdisc, "quantum");
    options.perturb_period = static_cast<int>(get(qdisc, "perturb"));
    options.limit = get(qdisc, "limit");
    options.divisor = get(qdisc, "divisor");
    options.flows = get(qdisc, "flows");
    body.put(TCA_OPTIONS, bytesOf(options));
}

void takeSfq(std::string_view bytes, Qdisc& qdisc) {
    tc_sfq_qopt options{};
    if (!takeStruct(bytes, options))
        return;
    qdisc.options = {{"quantum", options.quantum},
                     {"limit", options.limit},
                     {"divisor", options.divisor},
                     {"flows", options.flows},
                     {"perturb", static_cast<std::uint64_t>(std::max(options.perturb_period, 0))}};
}

std::uint32_t encoded(const QdiscOption& option, std::uint64_t value) {
    constexpr std::uint64_t kMost = 0xffffffff;
    switch (option.form) {
    case Form::Log: {
        std::uint32_t log = 0;
        while (log < 31 && (std::uint64_t{1} << log) < value)
            ++log;
        return log;
    }
    case Form::Rate:
        return static_cast<std::uint32_t>(std::min(value / 8, kMost - 1));
    case Form::Micro:
        return static_cast<std::uint32_t>(std::min(value / 1000, kMost));
    case Form::Codel:
        // The kernel rounds down when it is told and when it tells: one more makes up for it.
        return static_cast<std::uint32_t>(std::min(value / 1000 + (value != 0 ? 1 : 0), kMost));
    default:
        return static_cast<std::uint32_t>(std::min(value, kMost));
    }
}

std::optional<std::uint64_t> decoded(const QdiscOption& option, std::uint64_t value) {
    switch (option.form) {
    case Form::Log:
        return std::uint64_t{1} << std::min<std::uint64_t>(value, 63);
    case Form::Rate:
        return value == kNoRate ? std::nullopt : std::optional(value * 8);
    case Form::Micro:
    case Form::Codel:
        return value * 1000;
    default:
        return value;
    }
}

void putAttributes(NetlinkBody& body, const Qdisc& qdisc) {
    if (qdisc.options.empty())
        return;
    const std::size_t nest = body.beginNest(TCA_OPTIONS);
    for (const QdiscOption& option : qdiscOptions(qdisc.kind)) {
        const auto found = qdisc.options.find(option.name);
        if (found == qdisc.options.end())
            continue;
        if (option.form == Form::Byte)
            body.putU8(option.attribute, static_cast<std::uint8_t>(found->second));
        else
            body.putU32(option.attribute, encoded(option, found->second));
    }
    body.endNest(nest);
}

} // namespace

std::span<const QdiscOption> qdiscOptions(std::string_view kind) {
    const auto is = [kind](const QdiscOption& option) { return option.kind == kind; };
    const auto first = std::find_if(kOptions.begin(), kOptions.end(), is);
    return {first, std::find_if_not(first, kOptions.end(), is)};
}

bool isQdiscKind(std::string_view kind) {
    return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

std::string qdiscKinds() {
    std::string all;
    for (const std::string_view kind : kKinds)
        all += (all.empty() ? "" : ", ") + std::string(kind);
    return all;
}

std::string_view unitExample(QdiscUnit unit) {
    constexpr std::array<std::string_view, 6> kExamples{
        "a whole number",      "a size such as 256k",  "a rate such as 100mbit",
        "a time such as 50ms", "a share such as 0.1%", "nothing"};
    return kExamples[static_cast<std::size_t>(unit)];
}

std::optional<std::uint64_t> roundingOf(std::string_view kind, std::string_view name) {
    const auto options = qdiscOptions(kind);
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&](const QdiscOption& other) { return other.name == name; });
    if (option == options.end())
        return std::nullopt;
    if (option->unit == Unit::Time)
        return 1000;
    if (option->unit == Unit::Percent)
        return 1;
    if (kind == "tbf" && option->unit == Unit::Bytes)
        return 16;
    return std::nullopt;
}

void putQdisc(NetlinkBody& body, const Qdisc& qdisc) {
    body.putText(TCA_KIND, qdisc.kind);
    if (qdisc.kind == "tbf")
        return putTbf(body, qdisc);
    if (qdisc.kind == "netem")
        return putNetem(body, qdisc);
    if (qdisc.kind == "sfq" && !qdisc.options.empty())
        return putSfq(body, qdisc);
    if (!qdisc.kind.ends_with("fifo"))
        return putAttributes(body, qdisc);
    if (qdisc.options.contains("limit"))
        body.put(TCA_OPTIONS, bytesOf(tc_fifo_qopt{get(qdisc, "limit")}));
}

Qdisc qdiscFrom(const NetlinkAttributes& attributes) {
    Qdisc qdisc;
    qdisc.kind = attributes.text(TCA_KIND).value_or("");
    if (!isQdiscKind(qdisc.kind))
        failKnob("its root qdisc is " + qdisc.kind + ", which could not be put back");
    const std::string_view bytes = attributes.find(TCA_OPTIONS).value_or(std::string_view{});
    tc_fifo_qopt fifo{};
    if (qdisc.kind == "tbf")
        takeTbf(bytes, qdisc);
    else if (qdisc.kind == "netem")
        takeNetem(bytes, qdisc);
    else if (qdisc.kind == "sfq")
        takeSfq(bytes, qdisc);
    else if (qdisc.kind.ends_with("fifo") && takeStruct(bytes, fifo))
        qdisc.options["limit"] = fifo.limit;
    else if (!qdisc.kind.ends_with("fifo")) {
        const NetlinkAttributes options(bytes);
        for (const QdiscOption& option : qdiscOptions(qdisc.kind)) {
            const auto number = options.number(option.attribute);
            if (const auto value = number ? decoded(option, *number) : std::nullopt)
                qdisc.options[std::string(option.name)] = *value;
        }
    }
    return qdisc;
}

} // namespace knobscope::agent
