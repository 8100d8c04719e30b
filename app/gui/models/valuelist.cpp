// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/models/valuelist.h"

#include <QCoreApplication>

#include <algorithm>

namespace knobscope {
namespace {

constexpr QLatin1Char kQuote('"');
constexpr QLatin1Char kComma(',');

bool hasCommaOutsideQuotes(const QString& text) {
    bool quoted = false;
    for (const QChar c : text) {
        if (c == kQuote)
            quoted = !quoted;
        else if (c == kComma && !quoted)
            return true;
    }
    return false;
}

} // namespace

Result<QList<KnobValue>> parseValueList(const QString& text) {
    const bool commas = hasCommaOutsideQuotes(text);
    QList<KnobValue> values;
    QString current;
    bool quoted = false;
    const auto take = [&] {
        if (const QString value = current.simplified(); !value.isEmpty())
            values.append(KnobValue(value));
        current.clear();
    };
    for (const QChar c : text) {
        if (c == kQuote) {
            quoted = !quoted;
            if (!commas)
                take();
        } else if (!quoted && (commas ? c == kComma : c.isSpace())) {
            take();
        } else {
            current.append(c);
        }
    }
    if (quoted)
        return fail(Error::Code::BadInput,
                    QCoreApplication::translate("ValueList", "a quote (\") is not closed"));
    take();
    return values;
}

QString formatValueList(const QList<KnobValue>& values) {
    const bool blanks = std::any_of(values.begin(), values.end(), [](const KnobValue& value) {
        return value.text.contains(QLatin1Char(' ')) || value.text.contains(kComma);
    });
    QStringList texts;
    for (const KnobValue& value : values)
        texts.append(blanks ? kQuote + value.text + kQuote : value.text);
    return texts.join(QLatin1Char(' '));
}

} // namespace knobscope
