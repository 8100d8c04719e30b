// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/model/knobcatalogue.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>

#include <algorithm>

namespace knobscope {

namespace {

QStringList stringList(const QJsonValue& value) {
    QStringList list;
    for (const QJsonValue& item : value.toArray())
        list << item.toString();
    return list;
}

ValueKind kindFromName(const QString& name) {
    static const QMap<QString, ValueKind> kinds{
        {QStringLiteral("size"), ValueKind::Size},
        {QStringLiteral("number"), ValueKind::Number},
        {QStringLiteral("switch"), ValueKind::Switch},
        {QStringLiteral("word"), ValueKind::Word},
        {QStringLiteral("name"), ValueKind::Name},
        {QStringLiteral("ports"), ValueKind::Ports},
        {QStringLiteral("text"), ValueKind::Text},
    };
    return kinds.value(name, ValueKind::Text);
}

/// "sysctl:net.ipv4.tcp_rmem" → "tcp_rmem"; the common beginnings say nothing to a reader.
QString titleOf(const QString& name) {
    QString title = name.section(QLatin1Char(':'), 1);
    for (const char* prefix : {"net.ipv4.", "net.ipv6.", "net.core.", "net."}) {
        if (title.startsWith(QLatin1String(prefix)))
            return title.mid(static_cast<qsizetype>(qstrlen(prefix)));
    }
    return title;
}

/// What `object` leaves out stays as in `base`.
KnobEntry entryFrom(const QJsonObject& object, const KnobEntry& base) {
    KnobEntry entry = base;
    KnobInfo& info = entry.info;
    info.name = object[QLatin1String("name")].toString(info.name);
    info.scope =
        object[QLatin1String("scope")] == QLatin1String("host") ? KnobScope::Host : KnobScope::Test;
    info.title = object[QLatin1String("title")].toString(titleOf(info.name));
    info.unit = object[QLatin1String("unit")].toString(info.unit);
    info.help = object[QLatin1String("help")].toString(info.help);
    info.bothSidesOnly = object[QLatin1String("both")].toBool();
    info.sizes = object[QLatin1String("sizes")].toBool();
    if (object.contains(QLatin1String("takes")))
        entry.kind = kindFromName(object[QLatin1String("takes")].toString());
    entry.minimum = object[QLatin1String("min")].toInteger();
    entry.maximum = object[QLatin1String("max")].toInteger();
    entry.words = stringList(object[QLatin1String("words")]);
    entry.tests = stringList(object[QLatin1String("tests")]);
    entry.aliases = stringList(object[QLatin1String("aliases")]);
    entry.covers = object[QLatin1String("covers")].toString();
    return entry;
}

KnobCatalogue loadCatalogue() {
    QFile file(QStringLiteral(":/knobscope/knobs.json"));
    if (!file.open(QIODevice::ReadOnly))
        qFatal("The knob catalogue is not compiled in.");
    QJsonParseError error;
    const QJsonObject root = QJsonDocument::fromJson(file.readAll(), &error).object();
    if (error.error != QJsonParseError::NoError)
        qFatal("The knob catalogue is broken: %s", qPrintable(error.errorString()));

    KnobCatalogue catalogue;
    for (const QJsonValue& value : root[QLatin1String("families")].toArray()) {
        const QJsonObject object = value.toObject();
        catalogue.families << KnobFamily{object[QLatin1String("prefix")].toString(),
                                         entryFrom(object, {})};
    }
    for (const QJsonValue& value : root[QLatin1String("knobs")].toArray()) {
        const QJsonObject object = value.toObject();
        KnobEntry base;
        for (const KnobFamily& family : catalogue.families) {
            if (object[QLatin1String("name")].toString().startsWith(family.prefix))
                base = family.entry;
        }
        catalogue.knobs << entryFrom(object, base);
    }
    return catalogue;
}

/// Names below /proc/sys and feature names. Never a path that leaves its folder.
bool wellFormedMember(const QString& prefix, const QString& member) {
    static const QRegularExpression sysctl(
        QStringLiteral("\\A[A-Za-z0-9_-]+([./][A-Za-z0-9_@:-]+)+\\z"));
    static const QRegularExpression feature(QStringLiteral("\\A[a-z0-9]+([-_][a-z0-9]+)*\\z"));
    if (member.size() > 128)
        return false;
    return (prefix == QLatin1String("sysctl:") ? sysctl : feature).match(member).hasMatch();
}

} // namespace

const KnobCatalogue& knobCatalogue() {
    static const KnobCatalogue catalogue = loadCatalogue();
    return catalogue;
}

QString canonicalKnobName(const QString& name) {
    const QString prefix = QStringLiteral("sysctl:");
    if (name.startsWith(prefix)) {
        QString member = name.mid(prefix.size());
        // As sysctl(8): the first separator tells which of the two it is, and the other one then
        // stands for itself ("net/ipv4/conf/eth0.1/mtu" is "net.ipv4.conf.eth0/1.mtu").
        const auto isSeparator = [](QChar c) {
            return c == QLatin1Char('.') || c == QLatin1Char('/');
        };
        const auto first = std::find_if(member.cbegin(), member.cend(), isSeparator);
        if (first == member.cend() || *first == QLatin1Char('.'))
            return name;
        for (QChar& c : member) {
            if (isSeparator(c))
                c = c == QLatin1Char('.') ? QLatin1Char('/') : QLatin1Char('.');
        }
        return prefix + member;
    }
    for (const KnobEntry& entry : knobCatalogue().knobs) {
        if (entry.aliases.contains(name))
            return entry.info.name;
    }
    return name;
}

bool sameSetting(const QString& knob, const QString& other) {
    if (knob == other)
        return true;
    const auto covers = [](const QString& group, const QString& member) {
        const auto entry = findKnob(group);
        return entry && !entry->covers.isEmpty() &&
               QRegularExpression(QRegularExpression::wildcardToRegularExpression(entry->covers))
                   .match(member)
                   .hasMatch();
    };
    return covers(knob, other) || covers(other, knob);
}

std::optional<KnobEntry> findKnob(const QString& wanted) {
    const QString name = canonicalKnobName(wanted);
    const KnobCatalogue& catalogue = knobCatalogue();
    for (const KnobEntry& entry : catalogue.knobs) {
        if (entry.info.name == name)
            return entry;
    }
    for (const KnobFamily& family : catalogue.families) {
        if (!name.startsWith(family.prefix) ||
            !wellFormedMember(family.prefix, name.mid(family.prefix.size())))
            continue;
        KnobEntry entry = family.entry;
        entry.info.name = name;
        entry.info.title = titleOf(name);
        return entry;
    }
    return std::nullopt;
}

bool fitsTest(const KnobEntry& knob, const QString& testKind) {
    return knob.tests.isEmpty() || knob.tests.contains(testKind);
}

QString shortKnobName(const QString& name) {
    const auto knob = findKnob(name);
    if (!knob || knob->info.scope == KnobScope::Test)
        return name;
    return knob->info.title;
}

} // namespace knobscope
