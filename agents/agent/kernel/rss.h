// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// How an interface spreads received flows over its queues. Any thread.
namespace knobscope::agent {

/// The queue of each entry.
using RssTable = std::vector<std::uint32_t>;

/// "equal 4" where the entries go round the first queues in order, "weight 3 1" where each queue
/// has its share in one piece, else all entries.
[[nodiscard]] std::string rssTableText(const RssTable& table);
/// A table of `size` entries from "equal 4", "weight 3 1" or a list of them; absent for other text.
[[nodiscard]] std::optional<RssTable> parseRssTable(std::string_view text, std::size_t size);

/// "6d:5a:..." and back; absent for what is no such text.
[[nodiscard]] std::string rssKeyText(std::string_view key);
[[nodiscard]] std::optional<std::string> parseRssKey(std::string_view text);

} // namespace knobscope::agent
