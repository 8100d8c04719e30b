// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Small kernel files, and taking their text apart. Any thread.
namespace knobscope::agent {

/// The whole file, or nothing when it cannot be read (errno says why) or is longer than
/// `max_bytes`. Never blocks on a FIFO.
[[nodiscard]] std::optional<std::string> readText(const std::string& path,
                                                  std::size_t max_bytes = std::size_t{8} << 20);
/// The first line without white space around it; nothing when that is empty.
[[nodiscard]] std::optional<std::string> readLine(const std::string& path);

/// Writes the text and a line break in one call, as the kernel's files want it. 0, or the errno;
/// EMSGSIZE when the kernel took only a part.
[[nodiscard]] int writeLine(const std::string& path, std::string_view text);
/// Names in a folder, sorted as numbers where they end in such ("rx-2" before "rx-10").
[[nodiscard]] std::vector<std::string> namesIn(const std::string& folder);

[[nodiscard]] std::string_view trimmed(std::string_view text);
/// White space within folded to one blank, none around.
[[nodiscard]] std::string folded(std::string_view text);
[[nodiscard]] std::vector<std::string_view> words(std::string_view text);
/// Takes the next line off `rest`; false at the end.
[[nodiscard]] bool nextLine(std::string_view& rest, std::string_view& line);
/// The whole text as an unsigned number without sign; nothing for anything else or too large.
[[nodiscard]] std::optional<std::uint64_t> toNumber(std::string_view text, int base = 10);

} // namespace knobscope::agent
