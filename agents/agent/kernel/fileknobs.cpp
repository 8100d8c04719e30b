// SPDX-License-Identifier: GPL-3.0-or-later
// Knobs that are files below /sys: napi:, module:, sysfs:.
#include "agents/agent/kernel/features.h"
#include "agents/agent/kernel/knobfamily.h"
#include "agents/agent/kernel/textfile.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <net/if.h>
#include <sys/stat.h>

namespace knobscope::agent {

namespace {

constexpr std::size_t kMaxValueBytes = 4095;

std::string napiFile(const KnobCall& call) {
    const bool plain = call.member == "threaded" || call.member == "gro_flush_timeout";
    return interfaceFolder(call) + (plain ? "/" : "/napi_") + call.member;
}

/// The text of a file that has one value. Of a choice such as "[always] madvise never" it is the
/// word that is chosen, which is what can be written back.
std::string readValue(const std::string& path) {
    const auto text = readText(path, kMaxValueBytes);
    if (!text)
        failKnob(errnoText("cannot read " + path, errno));
    const std::string_view value = trimmed(*text);
    const auto all = words(value);
    const auto chosen = [](std::string_view word) {
        return word.size() > 2 && word.front() == '[' && word.back() == ']';
    };
    if (value.find('\n') == std::string_view::npos && all.size() > 1 &&
        std::count_if(all.begin(), all.end(), chosen) == 1) {
        const std::string_view word = *std::find_if(all.begin(), all.end(), chosen);
        return std::string(word.substr(1, word.size() - 2));
    }
    return std::string(value);
}

void writeValue(const std::string& path, const std::string& value) {
    if (value.size() > kMaxValueBytes)
        failKnob("a value of " + std::to_string(value.size()) + " bytes is too long for " + path);
    const int error = writeLine(path, value);
    if (error == EMSGSIZE)
        failKnob("the kernel took only a part of '" + value + "' for " + path);
    if (error == EACCES || error == EPERM || error == EROFS)
        failKnob(errnoText(path + " cannot be written here (it may need root)", error));
    if (error != 0)
        failKnob(errnoText("the kernel refuses '" + value + "' for " + path, error));
}

std::string moduleFile(const KnobCall& call) {
    const auto slash = call.member.find('/');
    std::string module = call.member.substr(0, slash);
    const std::string parameter =
        slash == std::string::npos ? std::string() : call.member.substr(slash + 1);
    if (module.empty() || parameter.empty() || parameter.find('/') != std::string::npos ||
        module.front() == '.' || parameter.front() == '.')
        failKnob("'" + call.name() +
                 "' is no parameter of a module; write it like "
                 "module:tcp_cubic/hystart");
    std::replace(module.begin(), module.end(), '-', '_'); // as modprobe does
    const std::string folder = call.host.sys + "/module/" + module;
    struct stat info {};
    if (::stat(folder.c_str(), &info) != 0)
        failKnob("no module " + module + " on this host (it is not loaded, or has no parameters)");
    std::string file = folder + "/parameters/" + parameter;
    if (::stat(file.c_str(), &info) != 0)
        failKnob("module " + module + " has no parameter " + parameter + " that the kernel shows");
    return file;
}

struct RealPath {
    std::unique_ptr<char, void (*)(void*)> text;
    explicit RealPath(const std::string& path)
        : text(::realpath(path.c_str(), nullptr), std::free) {}
    [[nodiscard]] std::string_view view() const {
        return text ? std::string_view(text.get()) : std::string_view();
    }
};

/// /sys shows the interfaces of the network namespace that it was mounted in. A file of another
/// one's must not be taken for this one's.
void refuseOtherNetwork(const std::string& path) {
    constexpr std::string_view kFolder = "/net/";
    for (auto at = path.find(kFolder); at != std::string::npos; at = path.find(kFolder, at + 1)) {
        const auto start = at + kFolder.size();
        const std::string name = path.substr(start, path.find('/', start) - start);
        const auto index = readLine(path.substr(0, start) + name + "/ifindex");
        if (index && *index != std::to_string(::if_nametoindex(name.c_str())))
            failKnob(path + " belongs to another network namespace than this agent's");
    }
}

std::string sysfsFile(const KnobCall& call) {
    std::string path = call.member;
    if (path.starts_with("/sys/"))
        path.erase(0, 5);
    if (path.starts_with('/') || ("/" + path + "/").find("/../") != std::string::npos)
        failKnob("'" + call.name() +
                 "' is no file below /sys; write it like "
                 "sysfs:class/net/eth0/tx_queue_len");
    const RealPath root(call.host.sys);
    const RealPath real(call.host.sys + "/" + path);
    if (!real.text)
        failKnob(errnoText("cannot find /sys/" + path, errno));
    if (!real.view().starts_with(std::string(root.view()) + "/"))
        failKnob("/sys/" + path + " leads out of /sys, to " + std::string(real.view()));
    struct stat info {};
    if (::stat(real.text.get(), &info) != 0 || !S_ISREG(info.st_mode))
        failKnob("/sys/" + path + " is a folder, not a file with a value");
    refuseOtherNetwork(std::string(real.view()));
    return std::string(real.view());
}

} // namespace

std::string readNapiKnob(const KnobCall& call) {
    const auto line = readLine(napiFile(call));
    if (!line)
        failUnsupported(call, std::strerror(errno));
    if (call.member == "threaded" && (*line == "0" || *line == "1"))
        return switchText(*line == "1");
    return *line;
}

void writeNapiKnob(const KnobCall& call, const std::string& value) {
    std::string text;
    if (call.member == "threaded")
        text = switchValue(call, value) ? "1" : "0";
    else
        text = std::to_string(wholeNumber(call, value, INT64_MAX));
    const std::string file = napiFile(call);
    const int error = writeLine(file, text);
    if (error == EOPNOTSUPP)
        failUnsupported(call, std::strerror(error));
    if (error != 0)
        failKnob(errnoText("the kernel refuses '" + value + "' for " + file, error));
}

std::string readModuleParameter(const KnobCall& call) {
    return readValue(moduleFile(call));
}

void writeModuleParameter(const KnobCall& call, const std::string& value) {
    const std::string file = moduleFile(call);
    struct stat info {};
    if (::stat(file.c_str(), &info) == 0 && (info.st_mode & S_IWUSR) == 0)
        failKnob(call.name() + " cannot be changed while the module is loaded (" + file +
                 " is read-only; set it where the module is loaded, such as in /etc/modprobe.d)");
    writeValue(file, value);
}

bool sameModuleParameter(const std::string& a, const std::string& b) {
    const auto truth = [](const std::string& text) -> std::string {
        if (text == "Y" || text == "y")
            return "1";
        if (text == "N" || text == "n")
            return "0";
        return text;
    };
    return sameWords(truth(folded(a)), truth(folded(b)));
}

std::string readSysfsFile(const KnobCall& call) {
    return readValue(sysfsFile(call));
}

void writeSysfsFile(const KnobCall& call, const std::string& value) {
    writeValue(sysfsFile(call), value);
}

bool sameText(const std::string& a, const std::string& b) {
    return trimmed(a) == trimmed(b);
}

} // namespace knobscope::agent
