// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/error.h"
#include "agents/agent/kernel/knobhost.h"
#include "agents/protocol/protocol.h"

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Host knobs by family: one row says how all knobs of a kind are read, set, compared and ordered.
namespace knobscope::agent {

/// A knob on its way to its family.
struct KnobCall {
    KnobHost& host;
    const protocol::KnobTarget& target;
    std::string member; ///< the name after the colon

    [[nodiscard]] const std::string& name() const { return target.name; }
    [[nodiscard]] const std::string& interface() const { return target.interface; }
    /// "ring:rx of eth0", for messages.
    [[nodiscard]] std::string what() const;
};

/// What setting a knob does to the link of its interface.
enum class LinkEffect {
    None,
    Reset,       ///< the device may start anew; the link is down for a moment
    Negotiation, ///< the ends talk to each other again; the link may go down a little later
};

/// How the knobs of a row work. Functions throw AgentError(kKnob) with the kernel's words; those
/// that are left out do what their comment says.
struct KnobFamily {
    std::string_view prefix;
    std::string_view members; ///< with blanks between; empty: names that only the host knows
    int rank = 0;             ///< lower is set first, and put back last unless undo_rank says more
    int undo_rank = 0;        ///< lower is put back last; 0: as rank
    bool interface = false;   ///< the knob belongs to an interface
    LinkEffect link = LinkEffect::None;
    std::string_view resets = {}; ///< knobs of the interface that setting this one may change
    std::string (*read)(const KnobCall&) = nullptr;
    void (*write)(const KnobCall&, const std::string& value) = nullptr;
    /// Puts an original back; left out: write().
    void (*restore)(const KnobCall&, const std::string& original) = nullptr;
    bool restores_more = false; ///< restore() is needed even where the value is the original
    /// Whether two values are the same; left out: word by word, numbers by value.
    bool (*same)(const std::string& a, const std::string& b) = nullptr;
    /// Whether `has`, as read, is what `asked` asks for, which may leave things open; left out:
    /// same().
    bool (*meets)(const std::string& asked, const std::string& has) = nullptr;
    /// Whether a value, as read, can be put back; left out: always.
    bool (*restorable)(const std::string& value) = nullptr;
    /// Who but the agent moves this value on the host by itself; empty: nobody. Left out: nobody.
    std::string (*mover)(const KnobCall&) = nullptr;
};

/// All rows, in no order.
[[nodiscard]] std::span<const KnobFamily> knobFamilies();

/// The host, or the interface, has no such knob.
class KnobUnsupported : public AgentError {
public:
    explicit KnobUnsupported(const std::string& text)
        : AgentError(protocol::errorcode::kKnob, text) {}
};
/// Throws KnobUnsupported. "ring:rx of eth0 is not supported by this interface (driver veth):
/// WORDS".
[[noreturn]] void failUnsupported(const KnobCall& call, const std::string& words);
/// The folder of the interface below /sys/class/net. Throws when /sys shows the interfaces of
/// another network namespace.
[[nodiscard]] std::string interfaceFolder(const KnobCall& call);
/// A whole number from 0 to `maximum`; throws.
[[nodiscard]] std::uint64_t wholeNumber(const KnobCall& call, const std::string& value,
                                        std::uint64_t maximum = 0xffffffff);
/// "on" or "off" as bool; throws.
[[nodiscard]] bool switchValue(const KnobCall& call, const std::string& value);
[[nodiscard]] inline std::string switchText(bool on) {
    return on ? "on" : "off";
}
/// Word by word, numbers by value: what rows without same() do.
[[nodiscard]] bool sameWords(const std::string& a, const std::string& b);
[[nodiscard]] bool sameSwitch(const std::string& a, const std::string& b);
/// Those of the names that processes of the host have.
[[nodiscard]] std::set<std::string> runningOf(const KnobHost& host,
                                              std::span<const char* const> names);
[[nodiscard]] bool processRuns(const KnobHost& host, const char* name);

// The families' own functions, by source.

std::string readEthtoolSetting(const KnobCall& call); // ethtoolsettings.cpp
void writeEthtoolSetting(const KnobCall& call, const std::string& value);
std::string coalesceMover(const KnobCall& call);

std::string readFeatureKnob(const KnobCall& call); // deviceflags.cpp
void writeFeatureKnob(const KnobCall& call, const std::string& value);
std::string readPrivateFlag(const KnobCall& call);
void writePrivateFlag(const KnobCall& call, const std::string& value);
std::string readFec(const KnobCall& call);
void writeFec(const KnobCall& call, const std::string& value);

std::string readLinkKnob(const KnobCall& call); // linkknobs.cpp
void writeLinkKnob(const KnobCall& call, const std::string& value);
std::string readLinkSpeed(const KnobCall& call); // linkspeed.cpp
void writeLinkSpeed(const KnobCall& call, const std::string& value);
bool sameLinkSpeed(const std::string& a, const std::string& b);
bool meetsLinkSpeed(const std::string& asked, const std::string& has);
bool isLinkSpeed(const std::string& value);

std::string readRss(const KnobCall& call); // rss.cpp
void writeRss(const KnobCall& call, const std::string& value);
void restoreRss(const KnobCall& call, const std::string& original);
bool sameRss(const std::string& a, const std::string& b);
bool meetsRss(const std::string& asked, const std::string& has);

std::string readQdisc(const KnobCall& call); // qdisc.cpp
void writeQdisc(const KnobCall& call, const std::string& value);
bool sameQdisc(const std::string& a, const std::string& b);
bool meetsQdisc(const std::string& asked, const std::string& has);

std::string readQueueKnob(const KnobCall& call); // queueknobs.cpp
void writeQueueKnob(const KnobCall& call, const std::string& value);
std::string readIrqAffinity(const KnobCall& call);
void writeIrqAffinity(const KnobCall& call, const std::string& value);
/// One value for all files is the same as that value for each; lists of CPUs by what they mean.
bool sameShared(const std::string& a, const std::string& b);
/// Numbers of the interrupts in use of the interface.
std::vector<std::string> interruptsOf(const KnobCall& call);
std::string affinityMover(const KnobCall& call);

std::string readCpuKnob(const KnobCall& call); // cpuknobs.cpp
void writeCpuKnob(const KnobCall& call, const std::string& value);
void restoreCpuKnob(const KnobCall& call, const std::string& original);
std::string governorMover(const KnobCall& call);

std::string readNapiKnob(const KnobCall& call); // fileknobs.cpp
void writeNapiKnob(const KnobCall& call, const std::string& value);
std::string readModuleParameter(const KnobCall& call);
void writeModuleParameter(const KnobCall& call, const std::string& value);
bool sameModuleParameter(const std::string& a, const std::string& b);
std::string readSysfsFile(const KnobCall& call);
void writeSysfsFile(const KnobCall& call, const std::string& value);
bool sameText(const std::string& a, const std::string& b);

std::string readCommandKnob(const KnobCall& call); // commandknob.cpp
void writeCommandKnob(const KnobCall& call, const std::string& value);
void restoreCommandKnob(const KnobCall& call, const std::string& original);

} // namespace knobscope::agent
