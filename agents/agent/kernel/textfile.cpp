// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/textfile.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <unistd.h>

namespace knobscope::agent {

namespace {
constexpr std::string_view kBlanks = " \t\n\r\v\f";
}

std::optional<std::string> readText(const std::string& path, std::size_t max_bytes) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return std::nullopt;
    std::string text;
    char buffer[16384];
    for (;;) {
        const ssize_t got = ::read(fd, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || text.size() + static_cast<std::size_t>(got) > max_bytes) {
            const int error = got < 0 ? errno : EFBIG;
            ::close(fd);
            if (got == 0)
                return text;
            errno = error;
            return std::nullopt;
        }
        text.append(buffer, static_cast<std::size_t>(got));
    }
}

std::optional<std::string> readLine(const std::string& path) {
    const auto text = readText(path, std::size_t{1} << 20);
    if (!text)
        return std::nullopt;
    const std::string_view line = trimmed(std::string_view(*text).substr(0, text->find('\n')));
    if (line.empty())
        return std::nullopt;
    return std::string(line);
}

int writeLine(const std::string& path, std::string_view text) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno;
    const std::string line = std::string(text) + '\n';
    ssize_t written = 0;
    do {
        written = ::write(fd, line.data(), line.size());
    } while (written < 0 && errno == EINTR);
    const int error = written < 0 ? errno : 0;
    ::close(fd);
    if (error == 0 && static_cast<std::size_t>(written) != line.size())
        return EMSGSIZE;
    return error;
}

std::vector<std::string> namesIn(const std::string& folder) {
    std::vector<std::string> names;
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(folder.c_str()), ::closedir);
    while (const dirent* entry = dir ? ::readdir(dir.get()) : nullptr) {
        if (entry->d_name[0] != '.')
            names.emplace_back(entry->d_name);
    }
    const auto number = [](const std::string& name) {
        const auto digits = name.find_last_not_of("0123456789") + 1; // 0 for digits alone
        return std::pair(name.substr(0, digits), toNumber(std::string_view(name).substr(digits)));
    };
    std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
        return std::pair(number(a), a) < std::pair(number(b), b);
    });
    return names;
}

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string folded(std::string_view text) {
    std::string result;
    for (const std::string_view word : words(text)) {
        if (!result.empty())
            result += ' ';
        result += word;
    }
    return result;
}

std::vector<std::string_view> words(std::string_view text) {
    std::vector<std::string_view> result;
    std::size_t start = 0;
    while ((start = text.find_first_not_of(kBlanks, start)) != std::string_view::npos) {
        const std::size_t end = std::min(text.find_first_of(kBlanks, start), text.size());
        result.push_back(text.substr(start, end - start));
        start = end;
    }
    return result;
}

bool nextLine(std::string_view& rest, std::string_view& line) {
    if (rest.empty())
        return false;
    const auto end = rest.find('\n');
    line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    return true;
}

std::optional<std::uint64_t> toNumber(std::string_view text, int base) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value, base);
    if (text.empty() || error != std::errc() || stopped != end)
        return std::nullopt;
    return value;
}

} // namespace knobscope::agent
