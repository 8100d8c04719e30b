// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include <optional>

/// std::optional on the wire: an absent value is null. Unknown is never 0.
namespace nlohmann {
template<typename T>
struct adl_serializer<std::optional<T>> {
    static void to_json(json& j, const std::optional<T>& value) {
        if (value)
            j = *value;
        else
            j = nullptr;
    }
    static void from_json(const json& j, std::optional<T>& value) {
        if (j.is_null())
            value = std::nullopt;
        else
            value = j.get<T>();
    }
};
} // namespace nlohmann

namespace knobscope {
using Json = nlohmann::json;
}
