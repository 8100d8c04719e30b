// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/frame/journaldir.h"

#include "agents/agent/error.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <thread>

namespace knobscope::agent {

namespace errorcode = protocol::errorcode;

namespace {

std::vector<std::string> candidates() {
    const uid_t uid = ::geteuid();
    std::vector<std::string> paths;
    if (uid == 0)
        paths.emplace_back("/run/knobscope");
    else if (const char* runtime = std::getenv("XDG_RUNTIME_DIR"); runtime && *runtime == '/')
        paths.emplace_back(std::string(runtime) + "/knobscope");
    paths.emplace_back("/tmp/knobscope-" + std::to_string(uid));
    return paths;
}

/// A folder that others can write to could be filled with made-up values to "restore".
void checkFolder(int fd, const std::string& path) {
    struct stat info {};
    if (::fstat(fd, &info) != 0)
        throw AgentError(errorcode::kKnob, errnoText("cannot examine " + path, errno));
    if (info.st_uid != ::geteuid())
        throw AgentError(errorcode::kKnob, path + " belongs to another user; remove it");
    if ((info.st_mode & 0777) != 0700)
        throw AgentError(errorcode::kKnob, path + " must have mode 0700; use chmod or remove it");
}

bool samePlace(int fd, const std::string& path) {
    struct stat open {};
    struct stat named {};
    return ::fstat(fd, &open) == 0 && ::lstat(path.c_str(), &named) == 0 &&
           open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

} // namespace

std::optional<JournalDir> JournalDir::lock(bool create, std::chrono::milliseconds timeout) {
    const auto deadline = std::chrono::steady_clock::now() + timeout;
    std::string trouble;
    for (const std::string& path : candidates()) {
        try {
            if (auto dir = lockOne(path, create, deadline))
                return dir;
        } catch (const AgentError& error) {
            if (error.code() == errorcode::kBusy)
                throw;
            trouble += (trouble.empty() ? "" : "; ") + std::string(error.what());
        }
    }
    if (trouble.empty())
        return std::nullopt;
    throw AgentError(errorcode::kKnob, "no place for the journal of knobs: " + trouble);
}

std::optional<JournalDir> JournalDir::lockOne(const std::string& path, bool create,
                                              std::chrono::steady_clock::time_point deadline) {
    while (true) {
        if (create && ::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
            throw AgentError(errorcode::kKnob, errnoText("cannot make " + path, errno));
        UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (!fd && errno == ENOENT) {
            if (!create)
                return std::nullopt;
            continue; // removed by the last agent just now
        }
        if (!fd)
            throw AgentError(errorcode::kKnob, errnoText("cannot open " + path, errno));
        checkFolder(fd.get(), path);
        while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
            if (std::chrono::steady_clock::now() > deadline)
                throw AgentError(errorcode::kBusy,
                                 "another agent holds " + path + " and does not let go of it");
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        // The former holder may have removed the folder while this one waited for its lock.
        if (samePlace(fd.get(), path))
            return JournalDir(std::move(fd), path);
    }
}

JournalDir::~JournalDir() {
    if (m_fd)
        ::rmdir(m_path.c_str());
}

std::vector<std::string> JournalDir::files() const {
    std::vector<std::string> names;
    const int again = ::openat(m_fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(again >= 0 ? ::fdopendir(again) : nullptr,
                                                  ::closedir);
    if (!dir)
        return names;
    while (const dirent* entry = ::readdir(dir.get())) {
        const std::string name(entry->d_name);
        if (name != "." && name != "..")
            names.push_back(name);
    }
    return names;
}

} // namespace knobscope::agent
