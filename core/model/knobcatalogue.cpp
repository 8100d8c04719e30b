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
/// `pattern` has %1 for the member's name; empty: the name alone.
QString titleOf(const QString& name, const QString& pattern) {
    const QString title = name.section(QLatin1Char(':'), 1);
    if (name.startsWith(QLatin1String("sysfs:")))
        return title.section(QLatin1Char('/'), -1);
    for (const char* prefix : {"net.ipv4.", "net.ipv6.", "net.core.", "net."}) {
        if (title.startsWith(QLatin1String(prefix)))
            return title.mid(static_cast<qsizetype>(qstrlen(prefix)));
    }
    return pattern.isEmpty() ? title : pattern.arg(title);
}

/// What `object` leaves out stays as in `base`; its title is made from `title`.
KnobEntry entryFrom(const QJsonObject& object, const KnobEntry& base, const QString& title) {
    KnobEntry entry = base;
    KnobInfo& info = entry.info;
    info.name = object[QLatin1String("name")].toString(info.name);
    info.scope =
        object[QLatin1String("scope")] == QLatin1String("host") ? KnobScope::Host : KnobScope::Test;
    info.title = object[QLatin1String("title")].toString(titleOf(info.name, title));
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
    entry.pattern = object[QLatin1String("pattern")].toString();
    entry.form = object[QLatin1String("form")].toString();
    entry.mechanism = object[QLatin1String("mechanism")].toString(entry.mechanism);
    entry.trap = object[QLatin1String("trap")].toString(entry.trap);
    entry.rank = object[QLatin1String("rank")].toInt(entry.rank);
    entry.hostWide = object[QLatin1String("wide")].toBool(entry.hostWide);
    return entry;
}

KnobFamily familyFrom(const QJsonObject& object) {
    KnobFamily family;
    family.prefix = object[QLatin1String("prefix")].toString();
    family.names = object[QLatin1String("names")].toString();
    family.member = object[QLatin1String("member")].toString();
    family.example = object[QLatin1String("example")].toString();
    family.title = object[QLatin1String("title")].toString();
    family.entry = entryFrom(object, {}, {});
    return family;
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
    for (const QJsonValue& value : root[QLatin1String("families")].toArray())
        catalogue.families << familyFrom(value.toObject());
    for (const QJsonValue& value : root[QLatin1String("knobs")].toArray()) {
        const QJsonObject object = value.toObject();
        KnobFamily base;
        for (const KnobFamily& family : catalogue.families) {
            if (object[QLatin1String("name")].toString().startsWith(family.prefix))
                base = family;
        }
        catalogue.knobs << entryFrom(object, base.entry, base.title);
    }
    return catalogue;
}

/// Whether a name belongs to an open family. Never a path that leaves its folder.
bool wellFormedMember(const KnobFamily& family, const QString& member) {
    constexpr qsizetype kLongest = 128;
    constexpr qsizetype kLongestPath = 512;
    const bool path = family.prefix == QLatin1String("sysfs:");
    if (!family.isOpen() || member.size() > (path ? kLongestPath : kLongest))
        return false;
    const QStringList parts = member.split(QLatin1Char('/'));
    if (parts.contains(QLatin1String("..")) || parts.contains(QLatin1String(".")))
        return false;
    return QRegularExpression(QRegularExpression::anchoredPattern(family.names))
        .match(member)
        .hasMatch();
}

/// As sysctl(8): the first separator tells which of the two it is, and the other one then stands
/// for itself ("net/ipv4/conf/eth0.1/mtu" is "net.ipv4.conf.eth0/1.mtu").
QString canonicalSysctl(QString member) {
    const auto isSeparator = [](QChar c) { return c == QLatin1Char('.') || c == QLatin1Char('/'); };
    const auto first = std::find_if(member.cbegin(), member.cend(), isSeparator);
    if (first == member.cend() || *first == QLatin1Char('.'))
        return member;
    for (QChar& c : member) {
        if (isSeparator(c))
            c = c == QLatin1Char('.') ? QLatin1Char('/') : QLatin1Char('.');
    }
    return member;
}

} // namespace

const KnobCatalogue& knobCatalogue() {
    static const KnobCatalogue catalogue = loadCatalogue();
    return catalogue;
}

QString canonicalKnobName(const QString& name) {
    const QString prefix = name.section(QLatin1Char(':'), 0, 0) + QLatin1Char(':');
    const QString member = name.mid(prefix.size());
    if (prefix == QLatin1String("sysctl:"))
        return prefix + canonicalSysctl(member);
    if (prefix == QLatin1String("sysfs:") && member.startsWith(QLatin1String("/sys/")))
        return prefix + member.mid(5);
    if (prefix == QLatin1String("module:")) // as modprobe: both stand for the same module
        return prefix +
               member.section(QLatin1Char('/'), 0, 0).replace(QLatin1Char('-'), QLatin1Char('_')) +
               member.mid(member.section(QLatin1Char('/'), 0, 0).size());
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
            !wellFormedMember(family, name.mid(family.prefix.size())))
            continue;
        KnobEntry entry = family.entry;
        entry.info.name = name;
        entry.info.title = titleOf(name, family.title);
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
