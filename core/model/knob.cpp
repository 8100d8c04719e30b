// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/knob.h"

#include "core/model/knobcatalogue.h"
#include "core/model/suggest.h"

#include <QRegularExpression>

#include <algorithm>

namespace knobscope {

namespace {

constexpr qsizetype kShown = 60; ///< characters of wrong input that a message repeats

QString shown(const QString& text) {
    return text.size() > kShown ? text.left(kShown) + QStringLiteral("...") : text;
}

/// Names as users write them that belong to families: what they are short of.
Error unknownKnob(const QString& name) {
    const KnobCatalogue& catalogue = knobCatalogue();
    const QStringList known = knownKnobNames();
    QString near = nearestWord(name, known);
    for (const KnobFamily& family : catalogue.families) {
        if (!name.startsWith(family.prefix))
            continue;
        if (family.isOpen())
            return {
                Error::Code::BadInput,
                QStringLiteral("\"%1\" is not a well-formed knob name.").arg(shown(name)),
                (near.isEmpty() ? QString() : QStringLiteral("Did you mean \"%1\"? ").arg(near)) +
                    QStringLiteral("Write it like %1.").arg(family.example)};
        if (near.isEmpty()) {
            const QStringList members = known.filter(
                QRegularExpression(QLatin1Char('^') + QRegularExpression::escape(family.prefix)));
            return {Error::Code::BadInput,
                    QStringLiteral("There is no knob \"%1\".").arg(shown(name)),
                    QStringLiteral("There are %1.").arg(wordList(members))};
        }
    }
    if (near.isEmpty()) {
        // "tcp_rmem" and "net.ipv4.tcp_rmem" lack their beginning.
        for (const QString& candidate : known) {
            if (candidate.endsWith(QLatin1Char('.') + name) ||
                candidate.endsWith(QLatin1Char(':') + name))
                near = candidate;
        }
    }
    if (!near.isEmpty())
        return {
            Error::Code::BadInput,
            QStringLiteral("There is no knob \"%1\". Did you mean \"%2\"?").arg(shown(name), near)};
    QStringList words;
    for (const KnobEntry& entry : catalogue.knobs) {
        if (entry.info.scope == KnobScope::Test)
            words << entry.info.name;
    }
    // The members of a family are told to who has begun with its name.
    for (const KnobFamily& family : catalogue.families) {
        if (family.isOpen())
            words << family.prefix + family.member;
        else if (!words.contains(family.prefix + QLatin1String("...")))
            words << family.prefix + QLatin1String("...");
    }
    return {Error::Code::BadInput, QStringLiteral("There is no knob \"%1\".").arg(shown(name)),
            QStringLiteral("Knobs are %1.").arg(wordList(words))};
}

QString limitText(const KnobEntry& knob, qint64 limit) {
    return knob.kind == ValueKind::Size ? formatQuantity(limit) : QString::number(limit);
}

QString whatItTakes(const KnobEntry& knob) {
    QString base;
    switch (knob.kind) {
    case ValueKind::Size:
    case ValueKind::Number:
        base = QStringLiteral("%1 from %2 to %3")
                   .arg(knob.kind == ValueKind::Size ? QStringLiteral("a size such as 64K,")
                                                     : QStringLiteral("a whole number"),
                        limitText(knob, knob.minimum), limitText(knob, knob.maximum));
        break;
    case ValueKind::Switch:
        base = QStringLiteral("on or off");
        break;
    case ValueKind::Word:
        return wordList(knob.words);
    case ValueKind::Name:
        return QStringLiteral("a name of up to 15 letters, digits, \"_\" or \"-\"");
    case ValueKind::Ports:
        base = QStringLiteral("a range of ports such as 40000-40100");
        break;
    case ValueKind::Text:
        return knob.form.isEmpty() ? QStringLiteral("printable text of up to 1000 characters")
                                   : knob.form;
    }
    return knob.words.isEmpty() ? base : base + QStringLiteral(", or ") + wordList(knob.words);
}

bool takesValue(const KnobEntry& knob, const KnobValue& value) {
    if (knob.words.contains(value.text))
        return true;
    switch (knob.kind) {
    case ValueKind::Size:
    case ValueKind::Number:
        return value.number && *value.number >= knob.minimum && *value.number <= knob.maximum;
    case ValueKind::Switch:
        return value.text == QLatin1String("on") || value.text == QLatin1String("off");
    case ValueKind::Word:
        return false;
    case ValueKind::Name: {
        static const QRegularExpression name(QStringLiteral("\\A[A-Za-z][A-Za-z0-9_-]{0,14}\\z"));
        return name.match(value.text).hasMatch();
    }
    case ValueKind::Ports: {
        static const QRegularExpression range(QStringLiteral("\\A(\\d{1,5})(?:-(\\d{1,5}))?\\z"));
        const auto match = range.match(value.text);
        const int first = match.captured(1).toInt();
        const int last = match.captured(2).isEmpty() ? first : match.captured(2).toInt();
        return match.hasMatch() && first >= 1 && first <= last && last <= 65535;
    }
    case ValueKind::Text:
        return !value.text.isEmpty() && value.text.size() <= 1000 &&
               std::all_of(value.text.begin(), value.text.end(),
                           [](QChar c) { return c.isPrint(); }) &&
               (knob.pattern.isEmpty() ||
                QRegularExpression(QRegularExpression::anchoredPattern(knob.pattern))
                    .match(value.text)
                    .hasMatch());
    }
    return false;
}

} // namespace

QString sideName(Side side) {
    switch (side) {
    case Side::Sender:
        return QStringLiteral("sender");
    case Side::Receiver:
        return QStringLiteral("receiver");
    case Side::Both:
        return QStringLiteral("both");
    case Side::Whole:
        break;
    }
    return {};
}

std::optional<Side> sideFromName(const QString& name) {
    for (const Side side : {Side::Sender, Side::Receiver, Side::Both, Side::Whole}) {
        if (sideName(side) == name)
            return side;
    }
    return std::nullopt;
}

Result<KnobInfo> knobInfo(const QString& name) {
    if (const auto knob = findKnob(name))
        return knob->info;
    return tl::unexpected<Error>(unknownKnob(name));
}

Result<void> checkKnobValue(const KnobInfo& knob, const KnobValue& value) {
    const auto entry = findKnob(knob.name);
    if (!entry)
        return tl::unexpected<Error>(unknownKnob(knob.name));
    if (takesValue(*entry, value))
        return {};
    return fail(Error::Code::BadInput, QStringLiteral("%1 cannot be \"%2\": it takes %3.")
                                           .arg(knob.name, shown(value.text), whatItTakes(*entry)));
}

QStringList knownKnobNames() {
    QStringList names;
    for (const KnobEntry& entry : knobCatalogue().knobs)
        names << entry.info.name;
    return names;
}

} // namespace knobscope
