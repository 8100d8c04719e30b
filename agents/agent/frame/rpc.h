// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/agent/error.h"

#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace knobscope::agent {

/// One JSON-RPC 2.0 request.
struct Request {
    Json id;            ///< to be repeated in the answer
    bool answer = true; ///< false: a notification, which gets no answer
    std::string method;
    Json params; ///< object, array, or null where there are none
};

/// What came of a request.
using Outcome = std::variant<Json, AgentError>;

/// A line that is no request. Carries the id as far as there is one.
class BadRequest : public AgentError {
public:
    BadRequest(int code, const std::string& message, Json id)
        : AgentError(code, message), m_id(std::move(id)) {}
    [[nodiscard]] const Json& id() const { return m_id; }

private:
    Json m_id;
};

/// Reads a line; throws BadRequest. The "jsonrpc" member may be left out, for people's sake.
[[nodiscard]] Request parseRequest(std::string_view line);

/// The messages as lines, without line break. Bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string answerLine(const Json& id, const Outcome& outcome);
[[nodiscard]] std::string requestLine(const Json& id, const std::string& method,
                                      const Json& params);
[[nodiscard]] std::string notificationLine(const std::string& method, const Json& params);
/// One line of JSON; bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string toLine(const Json& message);

namespace detail {
/// The first place where `given` has another type than `shape`: "config.seconds must be a number,
/// not a string". Empty: none found.
[[nodiscard]] std::string wrongType(const Json& given, const Json& shape, const std::string& path);
/// The first number or flag that did not survive the reading: "config.streams: 1.5 does not fit".
[[nodiscard]] std::string lostValue(const Json& given, const Json& kept, const std::string& path);
[[noreturn]] void refuse(const std::string& method, const std::string& why);
[[nodiscard]] std::string plainText(const Json::exception& error);

template<typename T>
struct ElementOf {
    using Type = void;
};
template<typename T>
struct ElementOf<std::vector<T>> {
    using Type = T;
};
} // namespace detail

/// The params as a struct of the protocol, or a vector of such. Fields that are left out take
/// their default; a wrong type, a fraction or a number too large is kInvalidParams naming it.
template<typename T>
[[nodiscard]] T paramsAs(const Request& request) {
    using Element = typename detail::ElementOf<T>::Type;
    constexpr bool list = !std::is_void_v<Element>;
    const Json params =
        !request.params.is_null() ? request.params : (list ? Json::array() : Json::object());
    if (list != params.is_array())
        detail::refuse(request.method, list ? "the params must be an array of objects"
                                            : "the params must be an object");
    Json shape;
    if constexpr (list) {
        shape = Json::array();
        for (std::size_t i = 0; i < params.size(); ++i)
            shape.push_back(Element{});
    } else {
        shape = T{};
    }
    if (const std::string why = detail::wrongType(params, shape, {}); !why.empty())
        detail::refuse(request.method, why);
    try {
        T value = params.get<T>();
        if (const std::string why = detail::lostValue(params, Json(value), {}); !why.empty())
            detail::refuse(request.method, why);
        return value;
    } catch (const Json::exception& error) {
        detail::refuse(request.method, detail::plainText(error));
    }
}

} // namespace knobscope::agent
