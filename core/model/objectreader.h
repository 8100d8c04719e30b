// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "agents/protocol/json.h"
#include "core/result.h"

#include <QStringList>

namespace knobscope {

/// Takes values of known keys and types out of a JSON object. The first error stays, with its
/// path, and what is read after it is empty: so a form is read in one go and error() asked once.
class ObjectReader {
public:
    /// `path` is empty for the document itself.
    ObjectReader(const Json& json, QString path);

    /// Every key of the object must be one of these.
    void allow(const QStringList& keys);
    [[nodiscard]] bool has(const char* key) const;
    [[nodiscard]] QString pathOf(const QString& key) const;
    [[nodiscard]] const QString& path() const { return m_path; }

    /// Each: an error when missing and required, or of another type.
    QString string(const char* key, bool required);
    double number(const char* key, double fallback);
    int wholeNumber(const char* key, int fallback);
    quint64 unsignedNumber(const char* key, quint64 fallback);
    bool boolean(const char* key, bool fallback);
    /// An object below; an empty one when missing.
    const Json& object(const char* key, bool required);
    /// An array below; an empty one when missing.
    const Json& array(const char* key, bool required);

    void fail(const QString& path, const QString& what);
    /// Takes over the error of a part.
    void take(const ObjectReader& part);
    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }

private:
    const Json* find(const char* key, bool required);
    const Json& container(const char* key, bool required, bool object);

    Json m_json;
    QString m_path;
    std::optional<Error> m_error;
};

/// "a string", "a number"... for messages.
[[nodiscard]] QString jsonTypeName(const Json& json);

} // namespace knobscope
