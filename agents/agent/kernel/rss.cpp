// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/rss.h"

#include "agents/agent/kernel/ethtool.h"
#include "agents/agent/kernel/ethtoolnetlink.h"
#include "agents/agent/kernel/knobfamily.h"
#include "agents/agent/kernel/textfile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <numeric>

namespace knobscope::agent {

namespace {

// Younger than the headers that this is built with. Kernels without the command say EOPNOTSUPP.
constexpr int kMsgRssSet = 48;
constexpr int kRssHfunc = 3;
constexpr int kRssIndir = 4;
constexpr int kRssHkey = 5;

/// No device has so many; a larger answer is not believed.
constexpr std::uint32_t kMostEntries = 65536;

struct Rss {
    RssTable table;
    std::string key;   ///< bytes
    unsigned hash = 0; ///< bit of the hash function that is in use
};

std::string_view bytesOf(const RssTable& table) {
    return {reinterpret_cast<const char*>(table.data()), table.size() * sizeof table.front()};
}

Rss readState(const KnobCall& call) {
    const EthtoolIoctl ethtool(call.interface());
    ethtool_rxfh sizes{};
    sizes.cmd = ETHTOOL_GRSSH;
    int result = ethtool.call(&sizes);
    if (result >= 0 && (sizes.indir_size > kMostEntries || sizes.key_size > kMostEntries))
        result = -EBADMSG;
    Rss rss;
    if (result >= 0) {
        const std::size_t table_bytes = sizes.indir_size * sizeof rss.table.front();
        EthtoolTailed<ethtool_rxfh> request(table_bytes + sizes.key_size);
        request->cmd = ETHTOOL_GRSSH;
        request->indir_size = sizes.indir_size;
        request->key_size = sizes.key_size;
        result = ethtool.call(request.data());
        rss.table.resize(sizes.indir_size);
        std::memcpy(rss.table.data(), request.tail(), table_bytes);
        rss.key.assign(request.tail() + table_bytes, sizes.key_size);
        rss.hash = request->hfunc;
    }
    if (result == -EOPNOTSUPP)
        failUnsupported(call, std::strerror(-result));
    if (result < 0)
        failKnob(errnoText("cannot read " + call.what(), -result));
    return rss;
}

/// What is to be changed; an empty field stays as it is.
struct RssChange {
    std::optional<RssTable> table; ///< empty: the device's default
    std::string key;
    unsigned hash = 0;
};

/// 0, or the errno.
int changeByIoctl(const KnobCall& call, const RssChange& change) {
    const std::size_t table_bytes = change.table ? bytesOf(*change.table).size() : 0;
    EthtoolTailed<ethtool_rxfh> request(table_bytes + change.key.size());
    request->cmd = ETHTOOL_SRSSH;
    request->indir_size =
        change.table ? static_cast<std::uint32_t>(change.table->size()) : ETH_RXFH_INDIR_NO_CHANGE;
    request->key_size = static_cast<std::uint32_t>(change.key.size());
    request->hfunc = static_cast<std::uint8_t>(change.hash);
    if (table_bytes > 0)
        std::memcpy(request.tail(), change.table->data(), table_bytes);
    std::memcpy(request.tail() + table_bytes, change.key.data(), change.key.size());
    const int result = EthtoolIoctl(call.interface()).call(request.data());
    return result < 0 ? -result : 0;
}

void change(const KnobCall& call, const std::string& value, const RssChange& change) {
    std::string words;
    try {
        if (!change.table || !change.table->empty()) {
            EthtoolNetlink netlink(call.interface());
            NetlinkBody body = netlink.request(kMsgRssSet);
            if (change.table)
                body.put(kRssIndir, bytesOf(*change.table));
            if (!change.key.empty())
                body.put(kRssHkey, change.key);
            if (change.hash != 0)
                body.putU32(kRssHfunc, change.hash);
            (void)netlink.ask(body);
            return;
        }
    } catch (const NetlinkError& error) {
        words = error.what();
        if (!lacksNetlink(error))
            failKnob("the kernel refuses '" + value + "' for " + call.what() + ": " + words);
    }
    const int error = changeByIoctl(call, change);
    if (error == EOPNOTSUPP)
        failUnsupported(call, words.empty() ? std::strerror(error) : words);
    if (error != 0)
        failKnob(errnoText("the kernel refuses '" + value + "' for " + call.what(), error));
}

std::vector<std::string> hashNames(const KnobCall& call) {
    return EthtoolIoctl(call.interface()).strings(ETH_SS_RSS_HASH_FUNCS);
}

RssTable wantedTable(const KnobCall& call, const std::string& value) {
    if (trimmed(value) == "default")
        return {};
    const std::size_t size = readState(call).table.size();
    if (size == 0)
        failUnsupported(call, "the device has no such table");
    auto table = parseRssTable(value, size);
    if (!table)
        failKnob(call.name() + " takes equal N, weight N N..., default or all " +
                 std::to_string(size) + " entries of the table, not '" + value.substr(0, 60) + "'");
    return std::move(*table);
}

std::string wantedKey(const KnobCall& call, const std::string& value) {
    const std::size_t size = readState(call).key.size();
    const auto key = parseRssKey(value);
    if (size == 0)
        failUnsupported(call, "the device has no such key");
    if (!key || key->size() != size)
        failKnob(call.name() + " takes " + std::to_string(size) +
                 " bytes in hexadecimal with colons between, not '" + value.substr(0, 200) + "'");
    return *key;
}

unsigned wantedHash(const KnobCall& call, const std::string& value) {
    const auto names = hashNames(call);
    std::string known;
    for (std::size_t i = 0; i < names.size() && i < 8; ++i) {
        if (names[i] == trimmed(value))
            return 1U << i;
        known += (known.empty() ? "" : ", ") + names[i];
    }
    failKnob(call.name() + " takes one of " + known + ", not '" + value + "'");
}

/// The weights are the numbers of entries, so that their sum is the size of the table. Empty where
/// "weight" cannot say it.
std::string weightText(const RssTable& table) {
    if (!std::is_sorted(table.begin(), table.end()) || table.empty())
        return {};
    std::vector<std::uint32_t> entries(table.back() + 1);
    for (const std::uint32_t queue : table)
        ++entries[queue];
    std::string text = "weight";
    for (const std::uint32_t count : entries)
        text += " " + std::to_string(count);
    return text;
}

/// Of a table that has been read: the number of its entries, or the sum of its weights. 0: unknown.
std::size_t tableSize(const std::string& text) {
    std::vector<std::string_view> given = words(text);
    const bool weights = !given.empty() && given.front() == "weight";
    if (weights)
        given.erase(given.begin());
    std::size_t size = 0;
    for (const std::string_view word : given) {
        const auto number = toNumber(word);
        if (!number || *number >= kMostEntries)
            return 0; // "equal 4"
        size += weights ? static_cast<std::size_t>(*number) : 1;
    }
    return std::min<std::size_t>(size, kMostEntries);
}

} // namespace

std::string rssTableText(const RssTable& table) {
    std::uint32_t queues = 0;
    while (queues < table.size() && table[queues] == queues)
        ++queues;
    bool round = queues > 0;
    for (std::size_t i = 0; i < table.size(); ++i)
        round = round && table[i] == i % queues;
    if (round)
        return "equal " + std::to_string(queues);
    if (std::string shares = weightText(table); !shares.empty())
        return shares;
    std::string text;
    for (const std::uint32_t queue : table)
        text += (text.empty() ? "" : " ") + std::to_string(queue);
    return text;
}

std::optional<RssTable> parseRssTable(std::string_view text, std::size_t size) {
    std::vector<std::string_view> given = words(text);
    const std::string_view kind = given.empty() ? std::string_view{} : given.front();
    const bool named = kind == "equal" || kind == "weight";
    if (named)
        given.erase(given.begin());
    RssTable numbers;
    for (const std::string_view word : given) {
        const auto number = toNumber(word);
        if (!number || *number >= kMostEntries)
            return std::nullopt;
        numbers.push_back(static_cast<std::uint32_t>(*number));
    }
    if (!named)
        return size > 0 && numbers.size() == size ? std::optional(numbers) : std::nullopt;
    RssTable table(size);
    if (kind == "equal") {
        if (numbers.size() != 1 || numbers.front() == 0)
            return std::nullopt;
        for (std::size_t i = 0; i < size; ++i)
            table[i] = static_cast<std::uint32_t>(i) % numbers.front();
        return table;
    }
    const std::uint64_t sum = std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
    if (sum == 0)
        return std::nullopt;
    // Each queue has the entries up to its share of the sum of weights, in order.
    std::uint32_t queue = 0;
    std::uint64_t until = numbers.front();
    for (std::size_t i = 0; i < size; ++i) {
        while (i * sum >= size * until)
            until += numbers[++queue];
        table[i] = queue;
    }
    return table;
}

std::string rssKeyText(std::string_view key) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (const char c : key) {
        const auto byte = static_cast<unsigned char>(c);
        if (!text.empty())
            text += ':';
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

std::optional<std::string> parseRssKey(std::string_view text) {
    text = trimmed(text);
    std::string key;
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find(':'));
        const auto byte = toNumber(part, 16);
        if (!byte || part.size() != 2)
            return std::nullopt;
        key += static_cast<char>(*byte);
        text.remove_prefix(std::min(part.size() + 1, text.size()));
    }
    return key.empty() ? std::nullopt : std::optional(key);
}

std::string readRss(const KnobCall& call) {
    const Rss rss = readState(call);
    if (call.member == "table" && !rss.table.empty())
        return rssTableText(rss.table);
    if (call.member == "key" && !rss.key.empty())
        return rssKeyText(rss.key);
    if (call.member == "hfunc" && rss.hash != 0) {
        const auto names = hashNames(call);
        for (std::size_t i = 0; i < names.size(); ++i) {
            if (rss.hash >> i & 1)
                return names[i];
        }
    }
    failUnsupported(call, "the device tells none");
}

void writeRss(const KnobCall& call, const std::string& value) {
    RssChange wanted;
    if (call.member == "table")
        wanted.table = wantedTable(call, value);
    else if (call.member == "key")
        wanted.key = wantedKey(call, value);
    else
        wanted.hash = wantedHash(call, value);
    change(call, value, wanted);
}

void restoreRss(const KnobCall& call, const std::string& original) {
    // A table that was the default must be so again: one that is set stands in the way when the
    // number of channels is changed.
    ethtool_rxnfc rings{};
    rings.cmd = ETHTOOL_GRXRINGS;
    if (call.member == "table" && EthtoolIoctl(call.interface()).call(&rings) >= 0 &&
        folded(original) == "equal " + std::to_string(rings.data))
        return change(call, original, {RssTable{}, {}, 0});
    writeRss(call, original);
}

bool sameRss(const std::string& a, const std::string& b) {
    if (const auto key = parseRssKey(a); key && key == parseRssKey(b))
        return true;
    if (sameWords(a, b))
        return true;
    // One of them has been read, and tells how many entries there are.
    const std::size_t size = std::max(tableSize(a), tableSize(b));
    const auto one = parseRssTable(a, size);
    return size > 0 && one && one == parseRssTable(b, size);
}

bool meetsRss(const std::string& asked, const std::string& has) {
    return (trimmed(asked) == "default" && has.starts_with("equal ")) || sameRss(asked, has);
}

} // namespace knobscope::agent
