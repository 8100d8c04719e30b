// SPDX-License-Identifier: GPL-3.0-or-later
#include "agents/agent/kernel/knobs.h"
#include "core/model/knobcatalogue.h"

#include <QRegularExpression>
#include <QSet>
#include <QTest>

using namespace knobscope;

namespace {

bool isFamily(const std::string& name) {
    return name.ends_with(':');
}

/// A well-formed name of an open family.
QString exampleOf(const QString& prefix) {
    for (const KnobFamily& family : knobCatalogue().families) {
        if (family.prefix == prefix)
            return family.example;
    }
    return {};
}

} // namespace

/// What the catalogue says of host knobs against what the agent does with them.
class TestKnobCatalogue : public QObject {
    Q_OBJECT

private slots:
    void agentsKnobsAreInTheCatalogue_data();
    void agentsKnobsAreInTheCatalogue();
    void catalogueKnobsAreTheAgents_data();
    void catalogueKnobsAreTheAgents();
    void everyEntrySaysWhatToKnow_data();
    void everyEntrySaysWhatToKnow();
    void titlesAreShort();
};

void TestKnobCatalogue::agentsKnobsAreInTheCatalogue_data() {
    QTest::addColumn<QString>("name");
    for (const std::string& name : agent::knobNames())
        QTest::newRow(name.c_str()) << QString::fromStdString(name);
}

void TestKnobCatalogue::agentsKnobsAreInTheCatalogue() {
    QFETCH(QString, name);
    const bool family = isFamily(name.toStdString());
    const QString knob = family ? exampleOf(name) : name;
    QVERIFY2(!knob.isEmpty(), "no family in the catalogue, or no example of it");
    const auto entry = findKnob(knob);
    QVERIFY(entry);
    QCOMPARE(entry->info.name, knob);
    QVERIFY(entry->info.scope == KnobScope::Host);
    QCOMPARE(entry->rank, agent::knobRank(knob.toStdString()));
    QCOMPARE(entry->hostWide, !agent::knobNeedsInterface(knob.toStdString()));
    // A knob whose name is fixed has words of its own.
    const QStringList known = knownKnobNames();
    QVERIFY(family || known.contains(name));
}

void TestKnobCatalogue::catalogueKnobsAreTheAgents_data() {
    QTest::addColumn<QString>("name");
    for (const KnobEntry& entry : knobCatalogue().knobs) {
        if (entry.info.scope == KnobScope::Host)
            QTest::newRow(qPrintable(entry.info.name)) << entry.info.name;
    }
    for (const KnobFamily& family : knobCatalogue().families) {
        if (family.isOpen())
            QTest::newRow(qPrintable(family.prefix)) << family.example;
    }
}

void TestKnobCatalogue::catalogueKnobsAreTheAgents() {
    QFETCH(QString, name);
    const std::string knob = name.toStdString();
    const auto names = agent::knobNames();
    const std::string prefix = knob.substr(0, knob.find(':') + 1);
    const auto has = [&](const std::string& wanted) {
        return std::find(names.begin(), names.end(), wanted) != names.end();
    };
    QVERIFY(has(knob) || has(prefix));
    QVERIFY(agent::knobRank(knob) > 0);
}

void TestKnobCatalogue::everyEntrySaysWhatToKnow_data() {
    QTest::addColumn<QString>("name");
    for (const KnobEntry& entry : knobCatalogue().knobs) {
        if (entry.info.scope == KnobScope::Host)
            QTest::newRow(qPrintable(entry.info.name)) << entry.info.name;
    }
    for (const KnobFamily& family : knobCatalogue().families) {
        if (family.isOpen())
            QTest::newRow(qPrintable(family.prefix)) << family.example;
    }
}

void TestKnobCatalogue::everyEntrySaysWhatToKnow() {
    QFETCH(QString, name);
    const KnobEntry entry = findKnob(name).value();
    QVERIFY(!entry.info.title.isEmpty());
    QVERIFY(entry.info.help.endsWith(QLatin1Char('.')));
    QVERIFY(!entry.mechanism.isEmpty());
    QVERIFY(entry.trap.isEmpty() || entry.trap.endsWith(QLatin1Char('.')));
    QVERIFY(!entry.info.help.contains(QLatin1Char('\n')));
    if (entry.kind == ValueKind::Number || entry.kind == ValueKind::Size)
        QVERIFY(entry.minimum < entry.maximum);
    QVERIFY(entry.kind != ValueKind::Word || !entry.words.isEmpty());
    // A value with a form is described by it.
    QCOMPARE(entry.pattern.isEmpty(), entry.form.isEmpty());
    QVERIFY(QRegularExpression(entry.pattern).isValid());
}

void TestKnobCatalogue::titlesAreShort() {
    QSet<QString> seen;
    for (const KnobEntry& entry : knobCatalogue().knobs) {
        if (entry.info.scope != KnobScope::Host)
            continue;
        QVERIFY2(entry.info.title.size() <= 32, qPrintable(entry.info.title));
        QVERIFY2(!seen.contains(entry.info.title), qPrintable(entry.info.title));
        seen.insert(entry.info.title);
    }
    QCOMPARE(shortKnobName(QStringLiteral("coalesce:rx-usecs")), QStringLiteral("rx-usecs"));
    QCOMPARE(shortKnobName(QStringLiteral("ring:rx")), QStringLiteral("ring rx"));
    QCOMPARE(shortKnobName(QStringLiteral("private:legacy-rx")), QStringLiteral("legacy-rx"));
    QCOMPARE(shortKnobName(QStringLiteral("irq:28")), QStringLiteral("IRQ 28"));
    QCOMPARE(shortKnobName(QStringLiteral("sysfs:class/net/eth0/mtu")), QStringLiteral("mtu"));
}

QTEST_APPLESS_MAIN(TestKnobCatalogue)
#include "tst_knobcatalogue.moc"
