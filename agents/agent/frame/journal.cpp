// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/frame/journal.h"

#include "agents/agent/error.h"
#include "agents/agent/frame/rpc.h"
#include "agents/agent/kernel/knobs.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

namespace knobscope::agent {

namespace errorcode = protocol::errorcode;
using protocol::KnobTarget;

namespace {

constexpr const char* kSuffix = ".journal";
constexpr std::size_t kRewriteBytes = 256 * 1024;
constexpr std::size_t kLargestFile = 16 * 1024 * 1024;

/// Absent when it cannot be read as a whole.
std::optional<std::string> readAll(int fd) {
    std::string text;
    std::array<char, 16384> buffer;
    ssize_t n = 0;
    while ((n = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(text.size()))) > 0) {
        text.append(buffer.data(), static_cast<std::size_t>(n));
        if (text.size() > kLargestFile)
            return std::nullopt;
    }
    return n < 0 ? std::nullopt : std::optional(text);
}

bool writeAll(int fd, const std::string& text) {
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += static_cast<std::size_t>(n);
    }
    return ::fsync(fd) == 0;
}

std::string headerLine(const JournalContent& content) {
    return toLine({{"journal", JournalContent::kFormat},
                   {"run", content.run},
                   {"group", content.group},
                   {"pid", content.pid},
                   {"started", content.started},
                   {"boot", content.host.boot},
                   {"netns", content.host.netns},
                   {"cookie", content.host.cookie}}) +
           '\n';
}

Json setRecord(const TouchedKnob& knob) {
    Json record{{"set", knob.knob.name},
                {"interface", knob.knob.interface},
                {"original", knob.original},
                {"previous", knob.previous},
                {"value", knob.value}};
    // Without them nobody could put it back.
    if (knob.knob.commands)
        record["commands"] = *knob.knob.commands;
    if (knob.companion)
        record["companion"] = true;
    return record;
}

Json gotRecord(const KnobTarget& knob, const std::string& accepted) {
    return {{"got", knob.name}, {"interface", knob.interface}, {"value", accepted}};
}

bool readHeader(const Json& line, JournalContent& content) {
    content.format = line.at("journal").get<int>();
    if (content.format != JournalContent::kFormat)
        return true;
    content.run = line.value("run", std::string());
    content.group = line.value("group", content.run);
    content.pid = line.value("pid", std::int64_t{0});
    content.started = line.value("started", std::int64_t{0});
    content.host.boot = line.at("boot").get<std::string>();
    content.host.netns = line.at("netns").get<std::uint64_t>();
    if (line.contains("cookie"))
        content.host.cookie = line["cookie"].get<std::optional<std::uint64_t>>();
    return true;
}

void readRecord(const Json& line, std::vector<TouchedKnob>& knobs) {
    const char* kind = line.contains("set") ? "set" : line.contains("got") ? "got" : "back";
    const KnobTarget target{line.at(kind).get<std::string>(), line.value("interface", "")};
    const auto known = std::find_if(knobs.begin(), knobs.end(),
                                    [&](const TouchedKnob& knob) { return knob.is(target); });
    if (line.contains("set")) {
        TouchedKnob knob{target,
                         line.at("original").get<std::string>(),
                         line.at("previous").get<std::string>(),
                         line.at("value").get<std::string>(),
                         std::nullopt,
                         line.value("companion", false)};
        if (line.contains("commands"))
            knob.knob.commands = line["commands"].get<protocol::KnobCommands>();
        if (known == knobs.end())
            knobs.push_back(std::move(knob));
        else
            *known = std::move(knob);
    } else if (known == knobs.end()) {
        return;
    } else if (line.contains("got")) {
        known->accepted = line.at("value").get<std::string>();
    } else {
        knobs.erase(known);
    }
}

} // namespace

HostIdentity HostIdentity::here() {
    HostIdentity host;
    const UniqueFd boot(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
    std::array<char, 64> text{};
    const ssize_t n = boot ? ::read(boot.get(), text.data(), text.size()) : -1;
    struct stat info {};
    if (n < 36 || ::stat("/proc/self/ns/net", &info) != 0)
        throw AgentError(errorcode::kKnob, "cannot tell this boot and network namespace from "
                                           "others: /proc is not there");
    host.boot.assign(text.data(), 36);
    host.netns = info.st_ino;
    const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    std::uint64_t cookie = 0;
    socklen_t length = sizeof cookie;
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &length) == 0)
        host.cookie = cookie;
    return host;
}

bool HostIdentity::sameNetwork(const HostIdentity& other) const {
    return boot == other.boot && netns == other.netns &&
           (!cookie || !other.cookie || cookie == other.cookie);
}

bool TouchedKnob::isOurs(const std::string& found) const {
    if (accepted)
        return sameKnobValue(knob.name, found, *accepted);
    // The agent died between its note and the reading back: both are its own.
    return sameKnobValue(knob.name, found, value) || sameKnobValue(knob.name, found, previous);
}

std::string JournalContent::owner() const {
    const std::time_t time = started;
    std::tm parts{};
    std::array<char, 64> text{};
    ::gmtime_r(&time, &parts);
    std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
    return "run \"" + run + "\" (agent " + std::to_string(pid) + ", since " + text.data() + ")";
}

std::optional<JournalContent> parseJournal(const std::string& text) {
    JournalContent content;
    bool header = false;
    std::size_t start = 0;
    for (std::size_t end = 0; (end = text.find('\n', start)) != std::string::npos;
         start = end + 1) {
        const Json line =
            Json::parse(text.begin() + static_cast<std::ptrdiff_t>(start),
                        text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
        if (!line.is_object())
            continue;
        try {
            if (!header)
                header = readHeader(line, content);
            else if (content.format == JournalContent::kFormat)
                readRecord(line, content.knobs);
        } catch (const Json::exception&) {
            continue; // as if not written
        }
    }
    return header ? std::optional(std::move(content)) : std::nullopt;
}

Journal::Journal(UniqueFd fd, std::string name, std::string folder, JournalContent content)
    : m_fd(std::move(fd)), m_name(std::move(name)), m_folder(std::move(folder)),
      m_content(std::move(content)) {}

Journal::Journal(const JournalDir& dir, JournalContent content)
    : m_folder(dir.path()), m_content(std::move(content)) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    m_name = std::to_string(m_content.pid) + '-' + std::to_string(now.tv_sec) + '-' +
             std::to_string(now.tv_nsec) + kSuffix;
    rewrite(dir);
}

void Journal::rewrite(const JournalDir& dir) {
    std::string text = headerLine(m_content);
    for (const TouchedKnob& knob : m_content.knobs) {
        text += toLine(setRecord(knob)) + '\n';
        if (knob.accepted)
            text += toLine(gotRecord(knob.knob, *knob.accepted)) + '\n';
    }
    const std::string fresh = m_name + ".new";
    ::unlinkat(dir.fd(), fresh.c_str(), 0);
    UniqueFd fd(::openat(dir.fd(), fresh.c_str(),
                         O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd || ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 || !writeAll(fd.get(), text) ||
        ::renameat(dir.fd(), fresh.c_str(), dir.fd(), m_name.c_str()) != 0) {
        const int error = errno;
        ::unlinkat(dir.fd(), fresh.c_str(), 0);
        throw AgentError(errorcode::kKnob,
                         errnoText("cannot write the journal in " + m_folder, error));
    }
    ::fsync(dir.fd());
    m_fd = std::move(fd);
    m_bytes = text.size();
}

std::vector<Journal::Found> Journal::findAll(const JournalDir& dir, const std::string& except) {
    std::vector<Found> all;
    for (const std::string& name : dir.files()) {
        if (name == except)
            continue;
        UniqueFd fd(::openat(dir.fd(), name.c_str(),
                             O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
        struct stat info {};
        if (!fd || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
            info.st_uid != ::geteuid())
            continue;
        Found found;
        found.name = name;
        found.living = ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0;
        if (name.ends_with(".new")) {
            // Left by an agent that died while it wrote; the file it was to replace is there.
            if (!found.living)
                ::unlinkat(dir.fd(), name.c_str(), 0);
            continue;
        }
        if (!name.ends_with(kSuffix))
            continue;
        const auto text = readAll(fd.get());
        if (!text)
            continue;
        if (text->empty() && !found.living) {
            ::unlinkat(dir.fd(), name.c_str(), 0);
            continue;
        }
        found.content = parseJournal(*text);
        if (!found.living) {
            found.journal.reset(new Journal(std::move(fd), name, dir.path(),
                                            found.content.value_or(JournalContent{})));
            found.journal->m_bytes = text->size();
            // What follows must not join a torn last line.
            if (!text->empty() && text->back() != '\n')
                found.journal->append(nullptr);
        }
        all.push_back(std::move(found));
    }
    return all;
}

TouchedKnob* Journal::findOwn(const KnobTarget& knob) {
    const auto found = std::find_if(m_content.knobs.begin(), m_content.knobs.end(),
                                    [&](const TouchedKnob& touched) { return touched.is(knob); });
    return found == m_content.knobs.end() ? nullptr : &*found;
}

const TouchedKnob* Journal::find(const KnobTarget& knob) const {
    return const_cast<Journal*>(this)->findOwn(knob);
}

void Journal::append(const Json& record) {
    const std::string text = (record.is_null() ? std::string() : toLine(record)) + '\n';
    if (!writeAll(m_fd.get(), text)) {
        const int error = errno;
        if (::ftruncate(m_fd.get(), static_cast<off_t>(m_bytes)) != 0) {
            // A torn line is skipped when the journal is read.
        }
        throw AgentError(errorcode::kKnob,
                         errnoText("cannot write the journal in " + m_folder, error));
    }
    m_bytes += text.size();
}

void Journal::aboutToSet(const TouchedKnob& knob, const JournalDir* dir) {
    if (dir && m_bytes > kRewriteBytes)
        rewrite(*dir);
    TouchedKnob* known = findOwn(knob.knob);
    TouchedKnob next = knob;
    if (known)
        next.original = known->original;
    append(setRecord(next));
    if (known)
        *known = std::move(next);
    else
        m_content.knobs.push_back(std::move(next));
}

void Journal::wasSet(const KnobTarget& knob, const std::string& accepted) {
    TouchedKnob* known = findOwn(knob);
    if (!known || known->accepted == accepted)
        return;
    known->accepted = accepted;
    append(gotRecord(knob, accepted));
}

void Journal::putBack(const KnobTarget& knob) {
    std::erase_if(m_content.knobs, [&](const TouchedKnob& touched) { return touched.is(knob); });
    append({{"back", knob.name}, {"interface", knob.interface}});
}

void Journal::remove(const JournalDir* dir) {
    if (dir)
        ::unlinkat(dir->fd(), m_name.c_str(), 0);
    else
        ::unlink((m_folder + '/' + m_name).c_str());
}

} // namespace knobscope::agent
