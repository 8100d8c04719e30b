// SPDX-License-Identifier: GPL-3.0-or-later
// qdisc:root through rtnetlink.
#include "agents/agent/kernel/knobfamily.h"
#include "agents/agent/kernel/netlink.h"
#include "agents/agent/kernel/qdiscoptions.h"
#include "agents/agent/kernel/rtlink.h"
#include "agents/agent/kernel/textfile.h"

#include <cerrno>
#include <cstring>
#include <linux/netlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace knobscope::agent {

namespace {

/// Handles from here on are those that the kernel has chosen by itself.
constexpr unsigned kFirstAutomatic = 0x8000;
constexpr unsigned kLastAutomatic = 0xfffe;

/// The root qdisc, and its handle even where the kernel has chosen that.
struct Root {
    Qdisc qdisc;
    unsigned handle = 0;
};

struct Found {
    tcmsg header{};
    std::string attributes;
    [[nodiscard]] unsigned handle() const { return header.tcm_handle >> 16; }
};

/// All qdiscs of the interface but those for received packets.
std::vector<Found> qdiscsOf(int index) {
    tcmsg header{};
    header.tcm_family = AF_UNSPEC;
    header.tcm_ifindex = index;
    std::vector<Found> all;
    for (const std::string& answer :
         NetlinkSocket(NETLINK_ROUTE).ask(RTM_GETQDISC, NLM_F_DUMP, NetlinkBody(header))) {
        Found found;
        if (answer.size() < sizeof found.header)
            continue;
        std::memcpy(&found.header, answer.data(), sizeof found.header);
        found.attributes = answer.substr(sizeof found.header);
        // Old kernels tell those of all interfaces.
        if (found.header.tcm_ifindex == index && found.header.tcm_parent != TC_H_INGRESS)
            all.push_back(std::move(found));
    }
    return all;
}

Root currentQdisc(const KnobCall& call) {
    const LinkInfo link = readLink(call.interface());
    Root root;
    root.qdisc.is_default = true;
    root.qdisc.kind = link.qdisc.value_or("");
    try {
        bool children = false;
        for (const Found& found : qdiscsOf(link.index)) {
            if (found.header.tcm_parent != TC_H_ROOT) {
                children = children || found.handle() != 0;
            } else if (found.handle() != 0) {
                root = {qdiscFrom(NetlinkAttributes(found.attributes)), found.handle()};
                if (found.handle() < kFirstAutomatic)
                    root.qdisc.handle = static_cast<std::uint16_t>(found.handle());
            }
        }
        if (children)
            failKnob("its root qdisc has others below it, which could not be put back");
    } catch (const AgentError& error) {
        failKnob("cannot take care of " + call.what() + ": " + error.what());
    }
    return root;
}

/// With the handle of the one that is there, or with none where the kind is the same, the kernel
/// would only change that one: options that are not named would stay as they are.
unsigned newHandle(const Root& now, const Qdisc& wanted) {
    if (wanted.handle != 0 || wanted.kind != now.qdisc.kind)
        return wanted.handle;
    return now.handle >= kFirstAutomatic && now.handle < kLastAutomatic ? now.handle + 1
                                                                        : kFirstAutomatic;
}

[[noreturn]] void failRefused(const KnobCall& call, const std::string& value,
                              const std::string& kind, const NetlinkError& error) {
    if (error.error() == ENOENT && !kind.empty())
        failKnob("this kernel has no qdisc " + kind + ": " + error.what());
    failKnob("the kernel refuses '" + value + "' for " + call.what() + ": " + error.what());
}

} // namespace

std::string readQdisc(const KnobCall& call) {
    return qdiscText(currentQdisc(call).qdisc);
}

void writeQdisc(const KnobCall& call, const std::string& value) {
    const Qdisc wanted = parseQdisc(value);
    const Root now = currentQdisc(call);
    // The default has no handle by which it could be set: what is in its place is taken away.
    if (wanted.is_default && now.qdisc.is_default)
        return;
    tcmsg header{};
    header.tcm_family = AF_UNSPEC;
    header.tcm_ifindex = readLink(call.interface()).index;
    header.tcm_parent = TC_H_ROOT;
    try {
        NetlinkSocket socket(NETLINK_ROUTE);
        if (wanted.is_default || (wanted.handle != 0 && wanted.handle == now.handle))
            (void)socket.ask(RTM_DELQDISC, 0, NetlinkBody(header));
        if (wanted.is_default)
            return;
        header.tcm_handle = newHandle(now, wanted) << 16;
        NetlinkBody body(header);
        putQdisc(body, wanted);
        (void)socket.ask(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, body);
    } catch (const NetlinkError& error) {
        failRefused(call, value, wanted.kind, error);
    }
}

bool sameQdisc(const std::string& a, const std::string& b) {
    try {
        const Qdisc one = parseQdisc(a);
        const Qdisc other = parseQdisc(b);
        if (one.is_default || other.is_default)
            return one.is_default == other.is_default;
        return one.kind == other.kind && one.handle == other.handle && hasOptions(one, other) &&
               hasOptions(other, one);
    } catch (const AgentError&) {
        return folded(a) == folded(b);
    }
}

bool meetsQdisc(const std::string& asked, const std::string& has) {
    try {
        const Qdisc want = parseQdisc(asked);
        const Qdisc got = parseQdisc(has);
        if (want.is_default || got.is_default)
            return want.is_default == got.is_default;
        return want.kind == got.kind && (want.handle == 0 || want.handle == got.handle) &&
               hasOptions(got, want);
    } catch (const AgentError&) {
        return sameQdisc(asked, has);
    }
}

} // namespace knobscope::agent
