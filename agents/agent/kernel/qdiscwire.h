// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// The kinds of queueing disciplines that the agent knows, and their options. For qdiscoptions.cpp
/// and qdiscwire.cpp.
namespace knobscope::agent {

enum class QdiscUnit { Count, Bytes, Rate, Time, Percent, Flag };

/// How netlink carries an option.
enum class QdiscForm {
    Plain,  ///< 32 bits: count, bytes
    Log,    ///< 32 bits: logarithm of the count to base 2
    Rate,   ///< 32 bits: bytes a second; all ones: none
    Micro,  ///< 32 bits: microseconds
    Codel,  ///< 32 bits: microseconds, which the kernel keeps in units of 1024 ns
    Nano,   ///< 32 bits: nanoseconds
    Byte,   ///< 8 bits: flag
    Struct, ///< in the struct with which the options begin
};

struct QdiscOption {
    std::string_view kind;
    std::string_view name;
    QdiscUnit unit;
    int attribute = 0;
    QdiscForm form = QdiscForm::Plain;
    std::string_view off_name = {}; ///< of a flag: the word for 0
};

/// "1k" is `factor` of the base unit.
struct UnitWord {
    std::string_view name;
    double factor;
};

[[nodiscard]] std::span<const QdiscOption> qdiscOptions(std::string_view kind);
[[nodiscard]] bool isQdiscKind(std::string_view kind);
[[nodiscard]] std::string qdiscKinds(); ///< with commas between
/// "a time such as 50ms", for messages.
[[nodiscard]] std::string_view unitExample(QdiscUnit unit);
/// By how much, beside a part in 500, the kernel's value may miss the one it was given; absent for
/// options that it keeps exactly.
[[nodiscard]] std::optional<std::uint64_t> roundingOf(std::string_view kind,
                                                      std::string_view option);

} // namespace knobscope::agent
