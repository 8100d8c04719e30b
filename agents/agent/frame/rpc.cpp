// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/frame/rpc.h"

#include "agents/protocol/nesting.h"

namespace knobscope::agent {

namespace errorcode = protocol::errorcode;

namespace {

/// "number" and the like, as JSON calls it.
std::string kindOf(const Json& value) {
    if (value.is_boolean())
        return "true or false";
    if (value.is_null())
        return "null";
    return (value.is_structured() ? "an " : "a ") + std::string(value.type_name());
}

std::string joined(const std::string& path, const std::string& key) {
    return path.empty() || key.front() == '[' ? path + key : path + '.' + key;
}

/// Goes through the members that both have: the keys of objects, the places of arrays.
template<typename Visit>
std::string firstOf(const Json& given, const Json& other, const std::string& path, Visit visit) {
    if (given.is_object()) {
        for (const auto& [key, value] : given.items()) {
            if (!other.contains(key))
                continue;
            if (std::string why = visit(value, other[key], joined(path, key)); !why.empty())
                return why;
        }
    } else if (given.is_array()) {
        for (std::size_t i = 0; i < std::min(given.size(), other.size()); ++i) {
            const std::string place = joined(path, "[" + std::to_string(i) + "]");
            if (std::string why = visit(given[i], other[i], place); !why.empty())
                return why;
        }
    }
    return {};
}

} // namespace

Request parseRequest(std::string_view line) {
    if (protocol::nestsTooDeep(line))
        throw BadRequest(errorcode::kParse,
                         "the message nests deeper than " + std::to_string(protocol::kMaxDepth) +
                             " levels",
                         nullptr);
    Json message;
    try {
        message = Json::parse(line);
    } catch (const Json::exception& error) {
        throw BadRequest(errorcode::kParse, "not JSON: " + detail::plainText(error), nullptr);
    }
    if (message.is_array())
        throw BadRequest(errorcode::kInvalidRequest,
                         "batch requests are not taken; send one request a line", nullptr);
    if (!message.is_object())
        throw BadRequest(errorcode::kInvalidRequest, "a request must be a JSON object", nullptr);

    Request request;
    request.answer = message.contains("id");
    if (request.answer)
        request.id = message["id"];
    if (!request.id.is_null() && !request.id.is_string() && !request.id.is_number())
        throw BadRequest(errorcode::kInvalidRequest, "the id must be a number or a string",
                         nullptr);
    if (message.contains("jsonrpc") && message["jsonrpc"] != "2.0")
        throw BadRequest(errorcode::kInvalidRequest, "jsonrpc must be \"2.0\"", request.id);
    if (!message.contains("method") || !message["method"].is_string())
        throw BadRequest(errorcode::kInvalidRequest, "a request must name its method as a string",
                         request.id);
    request.method = message["method"].get<std::string>();
    if (message.contains("params"))
        request.params = std::move(message["params"]);
    if (!request.params.is_null() && !request.params.is_structured())
        throw BadRequest(errorcode::kInvalidParams,
                         "the params must be an object or an array, not " + kindOf(request.params),
                         request.id);
    return request;
}

std::string toLine(const Json& message) {
    return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string answerLine(const Json& id, const Outcome& outcome) {
    Json message{{"jsonrpc", "2.0"}, {"id", id}};
    if (const auto* error = std::get_if<AgentError>(&outcome))
        message["error"] = {{"code", error->code()}, {"message", error->what()}};
    else
        message["result"] = std::get<Json>(outcome);
    return toLine(message);
}

std::string requestLine(const Json& id, const std::string& method, const Json& params) {
    return toLine({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}});
}

std::string notificationLine(const std::string& method, const Json& params) {
    return toLine({{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
}

namespace detail {

std::string wrongType(const Json& given, const Json& shape, const std::string& path) {
    // An optional field shows as null in the shape: what it takes is seen when it is read.
    if (shape.is_null())
        return {};
    const bool same = given.type() == shape.type() || (given.is_number() && shape.is_number());
    if (!same)
        return (path.empty() ? "the params" : path) + " must be " + kindOf(shape) + ", not " +
               kindOf(given);
    return firstOf(given, shape, path, [](const Json& a, const Json& b, const std::string& place) {
        return wrongType(a, b, place);
    });
}

std::string lostValue(const Json& given, const Json& kept, const std::string& path) {
    if (given.is_structured())
        return firstOf(given, kept, path,
                       [](const Json& a, const Json& b, const std::string& place) {
                           return lostValue(a, b, place);
                       });
    if (given != kept)
        return path + ": " + toLine(given) + " does not fit; it must be a whole number in range";
    return {};
}

void refuse(const std::string& method, const std::string& why) {
    throw AgentError(errorcode::kInvalidParams, method + ": " + why);
}

std::string plainText(const Json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, ...": the first word is for
    // programmers.
    std::string text = error.what();
    if (const auto end = text.find("] "); text.starts_with('[') && end != std::string::npos)
        text.erase(0, end + 2);
    constexpr std::size_t kLongest = 300;
    if (text.size() > kLongest)
        text = text.substr(0, kLongest) + "...";
    return text;
}

} // namespace detail

} // namespace knobscope::agent
