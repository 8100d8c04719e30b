// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/objectreader.h"

#include "core/model/suggest.h"

#include <cmath>
#include <limits>

namespace knobscope {

namespace {

const Json& emptyObject() {
    static const Json empty = Json::object();
    return empty;
}

const Json& emptyArray() {
    static const Json empty = Json::array();
    return empty;
}

} // namespace

QString jsonTypeName(const Json& json) {
    switch (json.type()) {
    case Json::value_t::null:
        return QStringLiteral("null");
    case Json::value_t::object:
        return QStringLiteral("an object");
    case Json::value_t::array:
        return QStringLiteral("an array");
    case Json::value_t::string:
        return QStringLiteral("a string");
    case Json::value_t::boolean:
        return QStringLiteral("true or false");
    default:
        return QStringLiteral("a number");
    }
}

ObjectReader::ObjectReader(const Json& json, QString path)
    : m_json(json.is_object() ? json : Json::object()), m_path(std::move(path)) {
    if (!json.is_object())
        fail(m_path, QStringLiteral("must be an object, but is %1.").arg(jsonTypeName(json)));
}

void ObjectReader::allow(const QStringList& keys) {
    for (const auto& item : m_json.items()) {
        const QString key = QString::fromStdString(item.key());
        if (!keys.contains(key)) {
            fail(pathOf(key.left(60)),
                 QStringLiteral("unknown key.%1 Known here: %2.")
                     .arg(didYouMean(key, keys), keys.join(QStringLiteral(", "))));
            return;
        }
    }
}

bool ObjectReader::has(const char* key) const {
    return m_json.contains(key);
}

QString ObjectReader::pathOf(const QString& key) const {
    return m_path.isEmpty() ? key : m_path + QLatin1Char('.') + key;
}

const Json* ObjectReader::find(const char* key, bool required) {
    const auto it = m_json.find(key);
    if (it != m_json.end())
        return &*it;
    if (required)
        fail(pathOf(QLatin1String(key)), QStringLiteral("missing."));
    return nullptr;
}

QString ObjectReader::string(const char* key, bool required) {
    const Json* value = find(key, required);
    if (value && value->is_string())
        return QString::fromStdString(value->get_ref<const std::string&>());
    if (value)
        fail(pathOf(QLatin1String(key)),
             QStringLiteral("must be a string, but is %1.").arg(jsonTypeName(*value)));
    return {};
}

double ObjectReader::number(const char* key, double fallback) {
    const Json* value = find(key, false);
    if (!value)
        return fallback;
    if (value->is_number())
        return value->get<double>();
    fail(pathOf(QLatin1String(key)),
         QStringLiteral("must be a number, but is %1.").arg(jsonTypeName(*value)));
    return fallback;
}

int ObjectReader::wholeNumber(const char* key, int fallback) {
    const Json* value = find(key, false);
    if (!value)
        return fallback;
    if (!value->is_number()) {
        fail(pathOf(QLatin1String(key)),
             QStringLiteral("must be a whole number, but is %1.").arg(jsonTypeName(*value)));
        return fallback;
    }
    const double number = value->get<double>();
    if (number == std::floor(number) && std::abs(number) <= std::numeric_limits<int>::max())
        return static_cast<int>(number);
    fail(pathOf(QLatin1String(key)),
         QStringLiteral("must be a whole number, but is %1.").arg(number));
    return fallback;
}

quint64 ObjectReader::unsignedNumber(const char* key, quint64 fallback) {
    const Json* value = find(key, false);
    if (!value)
        return fallback;
    if (value->is_number_unsigned())
        return value->get<quint64>();
    fail(pathOf(QLatin1String(key)),
         QStringLiteral("must be a whole number from 0 to 2^64 - 1, but is %1.")
             .arg(value->is_number() ? QString::number(value->get<double>())
                                     : jsonTypeName(*value)));
    return fallback;
}

bool ObjectReader::boolean(const char* key, bool fallback) {
    const Json* value = find(key, false);
    if (!value)
        return fallback;
    if (value->is_boolean())
        return value->get<bool>();
    fail(pathOf(QLatin1String(key)),
         QStringLiteral("must be true or false, but is %1.").arg(jsonTypeName(*value)));
    return fallback;
}

const Json& ObjectReader::container(const char* key, bool required, bool object) {
    const Json* value = find(key, required);
    if (value && (object ? value->is_object() : value->is_array()))
        return *value;
    if (value)
        fail(pathOf(QLatin1String(key)),
             QStringLiteral("must be %1, but is %2.")
                 .arg(object ? QStringLiteral("an object") : QStringLiteral("an array"),
                      jsonTypeName(*value)));
    return object ? emptyObject() : emptyArray();
}

const Json& ObjectReader::object(const char* key, bool required) {
    return container(key, required, true);
}

const Json& ObjectReader::array(const char* key, bool required) {
    return container(key, required, false);
}

void ObjectReader::fail(const QString& path, const QString& what) {
    if (!m_error)
        m_error =
            Error{Error::Code::BadInput, (path.isEmpty() ? QStringLiteral("the document") : path) +
                                             QStringLiteral(": ") + what};
}

void ObjectReader::take(const ObjectReader& part) {
    if (!m_error)
        m_error = part.m_error;
}

} // namespace knobscope
